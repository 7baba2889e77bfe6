#include "reporting/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "metrics/registry.hpp"

namespace opshap::reporting {

namespace {

std::string verdict_of(const Comparison& cell, const runs::Run& run) {
  if (!cell.ours) return "not run";
  if (!cell.paper) return "not in the paper";
  if (!run.comparable_with_paper) {
    return "not comparable: " + (run.departures.empty() ? "the run says so without a reason" : run.departures.front());
  }
  return compare(*cell.paper, *cell.ours, metrics::find(cell.metric).tolerance);
}

}  // namespace

std::string compare(const statistics::Quartiles& paper, const statistics::Quartiles& ours, double tolerance) {
  // The paper prints three decimals: a difference of half the last one is none.
  if (std::abs(paper.median - ours.median) <= tolerance + 0.0005) return "match";
  return paper.q25 <= ours.q75 && ours.q25 <= paper.q75 ? "overlap" : "differs";
}

Contradictions contradictions(const std::vector<PaperCell>& cells, std::string_view method, std::string_view other) {
  Contradictions found;
  for (const PaperCell& cell : cells) {
    if (cell.method != method || cell.metric != "nrmse") continue;
    const auto beside = [&](std::string_view whose, std::string_view metric) {
      return find(cells, cell.pde, cell.players, whose, metric);
    };
    const PaperCell *theirs = beside(other, "nrmse"), *our_r2 = beside(method, "r2"), *their_r2 = beside(other, "r2");
    if (theirs == nullptr || our_r2 == nullptr || their_r2 == nullptr) continue;
    const std::pair nrmse = {cell.quartiles.median, theirs->quartiles.median},
                    r2 = {our_r2->quartiles.median, their_r2->quartiles.median};
    ++found.pairs;
    if (nrmse.first + metrics::find("nrmse").tolerance >= nrmse.second ||
        r2.first + metrics::find("r2").tolerance >= r2.second)
      continue;
    found.cells.push_back(
        {.pde = cell.pde, .players = cell.players, .nrmse = nrmse, .r2 = r2, .tex_line = cell.tex_line});
  }
  return found;
}

std::vector<Comparison> compare_with_paper(const Scoreboard& scores) {
  const std::string& pde = scores.run().pde;
  std::set<Discretisation> grids(scores.discretisations().begin(), scores.discretisations().end());
  const auto is_papers = [](const Discretisation& on) { return on.shape.empty() || on.every_point_plays(); };
  for (const PaperCell& cell : paper_quality()) {
    const auto same = [&](const Discretisation& on) { return on.players == cell.players && is_papers(on); };
    if (cell.pde == pde && std::none_of(grids.begin(), grids.end(), same))
      grids.insert({.players = cell.players, .shape = {}});
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
