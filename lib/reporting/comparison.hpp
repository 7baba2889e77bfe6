#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/paper.hpp"
#include "reporting/scoreboard.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

/// Rows (PDE, n) of a table of results where one method is nearer to the reference than another by more than the
/// tolerance of the NRMSE, and explains the coalitions worse by more than that of R². Both cannot hold of medians of
/// methods whose values add up to v(N) − v(∅), short of what the spread over the inputs allows.
struct Contradictions {
  struct Row {
    std::string pde;
    int players = 0;
    std::pair<double, double> nrmse, r2;  ///< medians of the one and of the other
    int tex_line = 0;
  };
  std::vector<Row> cells;
  int pairs = 0;  ///< rows that have both methods
};
Contradictions contradictions(const std::vector<PaperCell>& cells, std::string_view method, std::string_view other);

/// A cell of the paper beside the one of a run.
struct Comparison {
  Discretisation on;  ///< without a shape where the run has no grid with the paper's players
  std::string method, metric;
  std::optional<statistics::Quartiles> paper;  ///< none: the paper has no such row (n = 16, blocks)
  std::optional<statistics::Quartiles> ours;   ///< none: not run, or undefined on all inputs
  /// "match": the medians differ by at most the metric's tolerance. "overlap": the interquartile ranges meet.
  /// "differs". "not run". "not in the paper". "not comparable: <first departure>": the run's sizes or recipe are not
  /// the paper's; then neither agreement nor difference means anything.
  std::string verdict;
};

/// "match", "overlap" or "differs" for two cells of comparable runs.
std::string compare(const statistics::Quartiles& paper, const statistics::Quartiles& ours, double tolerance);

/// For every grid of the run and every n of the paper's table for its PDE, the paper's three metrics and three methods.
/// A grid of the run is beside the paper's n when each of its points is a player.
std::vector<Comparison> compare_with_paper(const Scoreboard& scores);

}  // namespace opshap::reporting
