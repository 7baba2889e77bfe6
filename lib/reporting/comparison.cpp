#include "reporting/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "metrics/registry.hpp"
#include "reporting/embedded.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<PaperCell> parse_paper_quality() {
  std::istringstream lines{std::string(embedded::paper_quality)};
  std::string line;
  std::getline(lines, line);
  require<DataError>(line == "version,1", "paper_quality.csv: version=", line,
                     " (expected version,1). Build the program from one source tree.");
  std::getline(lines, line);
  std::vector<PaperCell> cells;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    const std::vector<std::string> parts = split(line);
    require<DataError>(parts.size() == 8, "paper_quality.csv: line=", line,
                       " (has not 8 columns). Restore reference_data/paper_quality.csv.");
    cells.push_back({.pde = parts[0],
                     .players = std::atoi(parts[1].c_str()),
                     .method = parts[2],
                     .metric = parts[3],
                     .quartiles = {.q25 = std::strtod(parts[5].c_str(), nullptr),
                                   .median = std::strtod(parts[4].c_str(), nullptr),
                                   .q75 = std::strtod(parts[6].c_str(), nullptr),
                                   .count = static_cast<std::size_t>(paper_constant(
                                       paper_domain(parts[0]) == "mesh" ? "mesh_test_inputs" : "test_inputs"))},
                     .tex_line = std::atoi(parts[7].c_str())});
  }
  return cells;
}

std::string verdict_of(const Comparison& cell, const runs::Run& run) {
  if (!cell.ours) return "not run";
  if (!cell.paper) return "not in the paper";
  if (!run.comparable_with_paper) {
    return "not comparable: " + (run.departures.empty() ? "the run says so without a reason" : run.departures.front());
  }
  return compare(*cell.paper, *cell.ours, metrics::find(cell.metric).tolerance);
}

}  // namespace

const std::vector<PaperCell>& paper_quality() {
  static const std::vector<PaperCell> cells = parse_paper_quality();
  return cells;
}

std::string compare(const statistics::Quartiles& paper, const statistics::Quartiles& ours, double tolerance) {
  // The paper prints three decimals: a difference of half the last one is none.
  if (std::abs(paper.median - ours.median) <= tolerance + 0.0005) return "match";
  return paper.q25 <= ours.q75 && ours.q25 <= paper.q75 ? "overlap" : "differs";
}

Contradictions contradictions(const std::vector<PaperCell>& cells, std::string_view method, std::string_view other) {
  Contradictions found;
  const auto median = [&cells](const PaperCell& at, std::string_view of_method, std::string_view metric) {
    const auto cell = std::find_if(cells.begin(), cells.end(), [&](const PaperCell& candidate) {
      return candidate.pde == at.pde && candidate.players == at.players && candidate.method == of_method &&
             candidate.metric == metric;
    });
    return cell == cells.end() ? std::nan("") : cell->quartiles.median;
  };
  for (const PaperCell& cell : cells) {
    if (cell.method != method || cell.metric != "nrmse") continue;
    const double their_error = median(cell, other, "nrmse"), our_r2 = median(cell, method, "r2"),
                 their_r2 = median(cell, other, "r2");
    if (std::isnan(their_error) || std::isnan(our_r2) || std::isnan(their_r2)) continue;
    ++found.pairs;
    if (cell.quartiles.median + metrics::find("nrmse").tolerance >= their_error ||
        our_r2 + metrics::find("r2").tolerance >= their_r2)
      continue;
    found.cells.push_back({.pde = cell.pde,
                           .players = cell.players,
                           .nrmse = {cell.quartiles.median, their_error},
                           .r2 = {our_r2, their_r2},
                           .tex_line = cell.tex_line});
  }
  return found;
}

std::vector<Comparison> compare_with_paper(const Scoreboard& scores) {
  std::set<int> players(scores.resolutions().begin(), scores.resolutions().end());
  for (const PaperCell& cell : paper_quality()) {
    if (cell.pde == scores.run().pde) players.insert(cell.players);
  }
  std::vector<Comparison> comparisons;
  for (const int n : players) {
    for (const char* metric : {"r2", "pearson", "nrmse"}) {
      for (const char* method : {"operator_shap", "integrated_gradients", "regression_msr_shapiq_1_6"}) {
        Comparison cell{.players = n,
                        .method = method,
                        .metric = metric,
                        .paper = std::nullopt,
                        .ours = std::nullopt,
                        .verdict = {}};
        const auto paper =
            std::find_if(paper_quality().begin(), paper_quality().end(), [&](const PaperCell& candidate) {
              return candidate.pde == scores.run().pde && candidate.players == n && candidate.method == method &&
                     candidate.metric == metric;
            });
        if (paper != paper_quality().end()) cell.paper = paper->quartiles;
        if (const Cell* ours = scores.cell(n, method)) cell.ours = ours->quartiles(metric);
        cell.verdict = verdict_of(cell, scores.run());
        comparisons.push_back(std::move(cell));
      }
    }
  }
  return comparisons;
}

}  // namespace opshap::reporting
