#include "reporting/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace opshap::reporting {

namespace {

std::string verdict_of(const Comparison& cell, const runs::Run& run) {
  if (!cell.ours) return "not run";
  if (!cell.paper) return "not in the paper";
  if (!run.comparable_with_paper) {
    return "not comparable: " + (run.departures.empty() ? "the run says so without a reason" : run.departures.front());
  }
  return compare(*cell.paper, *cell.ours, metrics::find(cell.metric));
}

}  // namespace

double error_of_median(const statistics::Quartiles& quartiles) {
  return 1.2533 / 1.349 * (quartiles.q75 - quartiles.q25) / std::sqrt(static_cast<double>(quartiles.count));
}

std::string compare(const statistics::Quartiles& paper, const statistics::Quartiles& ours,
                    const metrics::Metric& metric) {
  // The paper prints three decimals: a difference of half the last one is none.
  constexpr double rounding = 0.0005;
  const double difference = ours.median - paper.median;
  if (std::abs(difference) <= metric.tolerance + rounding) return "match";
  if (std::abs(difference) <= 1.96 * std::hypot(error_of_median(paper), error_of_median(ours)) + rounding)
    return "within errors";
  return (difference < 0) == (metric.better == metrics::Better::lower) ? "better" : "worse";
}

std::vector<Comparison> compare_with_paper(const Scoreboard& scores) {
  const std::string& pde = scores.run().pde;
  std::set<Discretisation> grids(scores.discretisations().begin(), scores.discretisations().end());
  const auto is_papers = [](const Discretisation& on) {
    return on.shape.empty() || on.every_point_plays() || on.on_own_mesh();
  };
  for (const PaperCell& cell : paper_quality()) {
    const auto same = [&](const Discretisation& on) { return on.players == cell.players && is_papers(on); };
    if (cell.pde == pde && std::ranges::none_of(grids, same)) grids.insert({.players = cell.players, .shape = {}});
  }
  std::vector<Comparison> comparisons;
  for (const Discretisation& on : grids) {
    for (const std::string& metric : paper_metrics()) {
      for (const std::string& method : paper_methods()) {
        Comparison cell{.on = on, .method = method, .metric = metric};
        const PaperCell* paper = is_papers(on) ? find(paper_quality(), pde, on.players, method, metric) : nullptr;
        if (paper != nullptr) cell.paper = paper->quartiles;
        if (const Cell* ours = scores.cell(on, method)) cell.ours = ours->quartiles(metric);
        if (!cell.paper && !cell.ours) continue;  // an n of neither, as those that only the explainer was scored at
        cell.verdict = verdict_of(cell, scores.run());
        comparisons.push_back(std::move(cell));
      }
    }
  }
  return comparisons;
}

}  // namespace opshap::reporting
