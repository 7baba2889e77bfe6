// Sentences of the paper about the limit of many players, about one operator on all grids, and about what is exact. The
// rules are ours, since the paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reporting/claims_measurement.hpp"
#include "reporting/paper.hpp"
#include "reporting/scoreboard.hpp"

namespace opshap::reporting::claims {

namespace {

/// The number of points on the finest line of the run; 0 without a line.
int finest_line(const Scoreboard& scores) {
  int finest = 0;
  for (const Discretisation& on : scores.discretisations()) finest = on.is_line() ? on.players : finest;
  return finest;
}

/// Distances of n·ψ_n from the density of the finest reference, at the two n of the paper's figure.
std::optional<PairedScores> distances_to_density(const Scoreboard& scores, int few, int many) {
  const int finest = finest_line(scores);
  if (finest < 2 * many) return std::nullopt;
  std::map<std::int64_t, double> many_errors;
  for (const runs::AttributionRow* row : scores.references(Discretisation::line(many)))
    many_errors[row->sample] = row->reference_error.value.value_or(0);
  std::vector<PairedScores::Series> series(2);
  for (const runs::AttributionRow* row : scores.references(Discretisation::line(few))) {
    const auto at_few = distance_of_references(scores, row->sample, few, finest),
               at_many = distance_of_references(scores, row->sample, many, finest);
    if (!at_few || !at_many) continue;
    series[0].scores.push_back(*at_few);
    series[0].reference_errors.push_back(row->reference_error.value.value_or(0));
    series[1].scores.push_back(*at_many);
    series[1].reference_errors.push_back(many_errors.at(row->sample));
  }
  return PairedScores(std::move(series));
}

Judgement shapley_values_settle(const Scoreboard& scores) {
  const auto few = static_cast<int>(paper_constant("density_few_players")),
             many = static_cast<int>(paper_constant("density_many_players"));
  const auto distances = distances_to_density(scores, few, many);
  if (!distances || distances->inputs() < least_inputs) {
    const std::string what = fmt::format("The references at n = {}, at n = {} and at a finer n are not ", few, many);
    return scores.keeps_references() ? not_testable(what + "there.") : not_kept(what + "kept.");
  }
  const auto approach = measure(
      "", *distances, [](std::span<const double> medians) { return ratio(medians[1], medians[0]); }, 1, Side::at_most);
  return all_of({*approach},
                {.quantity = fmt::format("The distance at n = {} over that at n = {}", many, few),
                 .figures = {fmt::format("n = {}", few), fmt::format("n = {}", many)}},
                fmt::format("The density is the reference at n = {}.", finest_line(scores)));
}

Judgement same_backbone_on_all_grids(const Scoreboard& scores) {
  const std::vector<int> few = {128}, many = {1024};
  std::string words;
  std::vector<PairedScores::Series> series(2);
  for (const runs::OperatorRow& row : scores.run().results.operators) {
    const std::vector<double> errors = row.defined_errors();
    if (row.pde != scores.run().pde || errors.empty()) continue;
    words += fmt::format("{}{} at {}", words.empty() ? "" : ", ", show(statistics::quantile(errors, 0.5)),
                         runs::shape_in_words(row.shape));
    if (row.shape != few && row.shape != many) continue;
    series[row.shape == few ? 0 : 1].scores = errors;
  }
  if (series[0].scores.empty() || series[0].scores.size() != series[1].scores.size())
    return not_testable("The backbone's errors at n = 128 and n = 1024 are not stored.");
  const auto either_way = [](std::span<const double> medians) {
    return std::max(ratio(medians[0], medians[1]), ratio(medians[1], medians[0]));
  };
  const auto factor = measure("", PairedScores(std::move(series)), either_way, 1.25, Side::at_most);
  if (!factor) return not_testable("The backbone's errors are known for too few inputs.");
  return all_of({*factor},
                {.quantity = "The factor between the backbone's median errors at n = 128 and n = 1024",
                 .figures = {"n = 128", "n = 1024"}},
                "Median errors: " + words + ".");
}

Judgement normalisation_is_exact(const Scoreboard& scores) {
  double largest = 0;
  int count = 0;
  for (const runs::AttributionRow& row : scores.run().results.attributions) {
    if (row.method != explainer || !row.scores["efficiency_gap"].value) continue;
    largest = std::max(largest, *row.scores["efficiency_gap"].value);
    ++count;
  }
  if (count == 0) return not_run(explainer);
  return all_of({exactly("", largest, 1e-12, Side::at_most)},
                {.quantity = fmt::format("The largest gap of {} attributions", count)});
}

Judgement exact_reference_at_16_players(const Scoreboard& scores) {
  int exact = 0, rows = 0;
  for (const runs::AttributionRow& row : scores.run().results.attributions) {
    if (row.players > paper_constant("exact_players")) continue;
    ++rows;
    exact += row.reference == "exact" && row.reference_error.value == 0.0;
  }
  if (rows == 0) return not_testable("n <= 16 was not run.");
  return all_of({exactly("", exact, rows, Side::at_least)},
                {.quantity = fmt::format("The number of exact references of {} attributions", rows)});
}

}  // namespace

std::vector<Claim> of_limits() {
  return {
      {.id = "shapley_values_settle",
       .title = "Shapley values settle on a density",
       .rule = "the median distance of n·ψ_n from one fixed density, the reference at the largest n, is not larger at "
               "n = 128 than at n = 32; both are summed over the same cells of a periodic 1D grid. It does not say "
               "which density",
       .judge = shapley_values_settle,
       .excluded = unless_periodic_line},
      {.id = "shapley_values_approach_density",
       .title = "Shapley values approach the Aumann–Shapley density",
       .rule = "over the four largest n, three at least, the distance of the Shapley values from the Aumann–Shapley "
               "density falls at least like n^(-1/4): that density is what integrated gradients compute (the paper's "
               "theorem), and the distance is their median NRMSE net of the reference's error",
       .judge = power_of_net_error(integrated_gradients, Side::at_most, -0.25)},
      {.id = "same_backbone_on_all_grids",
       .title = "one backbone serves all grids",
       .rule = "the backbone's median error at n = 1024 and at n = 128 differ by a factor of at most 1.25",
       .judge = same_backbone_on_all_grids},
      {.id = "normalisation_is_exact",
       .title = "normalisation is exact",
       .rule = "efficiency gap of at most 1e-12 on every input (rounding of 1024 additions in double precision)",
       .judge = normalisation_is_exact,
       .check = true},
      {.id = "exact_reference_at_16_players",
       .title = "the reference at n <= 16 is exact",
       .rule = "every attribution at n <= 16 was scored against the exact Shapley values",
       .judge = exact_reference_at_16_players,
       .check = true},
  };
}

}  // namespace opshap::reporting::claims
