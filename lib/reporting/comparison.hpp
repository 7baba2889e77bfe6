#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/paper.hpp"
#include "reporting/scoreboard.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

/// A cell of the paper beside the one of a run.
struct Comparison {
  Discretisation on;  ///< without a shape where the run has no grid with the paper's players
  std::string method, metric;
  std::optional<statistics::Quartiles> paper;  ///< none: the paper has no such row (n = 16, blocks)
  std::optional<statistics::Quartiles> ours;   ///< none: not run, or undefined on all inputs
  /// What compare() says, or "not run", "not in the paper", or "not comparable: <first departure>": the run's sizes or
  /// recipe are not the paper's; then neither agreement nor difference means anything.
  std::string verdict;
};

/// Standard error of a median, from its quartiles: of a normal sample it is 1.2533 standard deviations over √count, and
/// the quartiles are 1.349 standard deviations apart.
double error_of_median(const statistics::Quartiles& quartiles);

/// Two cells of comparable runs. "match": the medians differ by at most the metric's tolerance. "within errors": by at
/// most 1.96 standard errors of the difference. Else "better" or "worse", of ours.
std::string compare(const statistics::Quartiles& paper, const statistics::Quartiles& ours,
                    const metrics::Metric& metric);

/// For every grid of the run and every n of the paper's table for its PDE, the paper's three metrics and three methods.
/// A grid of the run is beside the paper's n when each of its points is a player.
std::vector<Comparison> compare_with_paper(const Scoreboard& scores);

}  // namespace opshap::reporting
