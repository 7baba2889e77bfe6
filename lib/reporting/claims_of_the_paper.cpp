// Sentences of the paper about the quality of attributions. The rules are ours, since the paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/resolution.hpp"
#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/comparison.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"
#include "reporting/reference_grids.hpp"

namespace opshap::reporting::claims {

namespace {

const std::vector<std::string_view> quality_metrics = {"r2", "pearson", "nrmse"};

/// Of all cells (n, metric) that both have: "better in 3, better or comparable in 16 of 21".
std::string cells_in_words(const Scoreboard& scores, std::string_view other) {
  int better = 0, comparable = 0, cells = 0;
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string_view name : quality_metrics) {
      const metrics::Metric& metric = metrics::find(name);
      const Cell *our_cell = scores.cell(on, explainer), *their_cell = scores.cell(on, other);
      if (our_cell == nullptr || their_cell == nullptr) continue;
      const auto ours = our_cell->quartiles(name), theirs = their_cell->quartiles(name);
      if (!ours || !theirs) continue;
      const double gain = (ours->median - theirs->median) * (metric.better == metrics::Better::lower ? -1 : 1);
      ++cells;
      better += gain > 0;
      comparable += gain >= -metric.tolerance;
    }
  }
  return fmt::format(
      "Over R², Pearson and NRMSE its median is better in {} of {} cells, and better or within the metric's tolerance "
      "in {}.",
      better, cells, comparable);
}

/// Comparable at every n, and superior at half of them or more.
Judgement quality_against(const Scoreboard& scores, std::string_view other) {
  const double tolerance = metrics::find("nrmse").tolerance;
  Measurements found;
  std::vector<const Cell*> cells;
  for (const Discretisation& on : scores.discretisations()) {
    if (on.players <= paper_constant("exact_players")) continue;
    const auto excess = measure_at(
        scores, on, {explainer, other}, "nrmse",
        [](std::span<const double> medians) { return medians[0] - medians[1]; }, tolerance, Side::at_most);
    if (!excess) continue;
    found.push_back(*excess);
    cells.insert(cells.end(), {scores.cell(on, explainer), scores.cell(on, other)});
  }
  if (found.empty())
    return not_run(scores.cell(scores.discretisations().front(), explainer) == nullptr ? explainer : other);
  const auto superior = measure(
      "", PairedScores::of(cells, "nrmse"),
      [](std::span<const double> medians) {
        double lower = 0;
        for (std::size_t i = 0; i < medians.size(); i += 2) lower += medians[i] < medians[i + 1];
        return 2 * lower / static_cast<double>(medians.size());
      },
      0.5, Side::at_least);
  const std::string label = style_of(other).label;
  if (superior) {
    found.push_back(*superior);
    found.back().figures.clear();
    found.back().quantity = fmt::format("The share of n where OperatorSHAP's median NRMSE is below that of {}", label);
  }
  return all_of(found,
                {.quantity = fmt::format("OperatorSHAP's median NRMSE less that of {}", label),
                 .figures = {"OperatorSHAP", label},
                 .equal = 0},
                cells_in_words(scores, other));
}

constexpr std::string_view quality_rule =
    "the median NRMSE is at most 0.05 above the other's at every n > 16 (comparable), and lower at half of these n or "
    "more (often superior); the paper's table begins above 16; R² and Pearson are counted beside it, over all n";

/// The explainer's cell at a resolution; nullptr when not run.
const Cell* explained(const Scoreboard& scores, const Resolution& resolution) {
  for (const Discretisation& on : scores.discretisations()) {
    if (Resolution(on.shape) == resolution) return scores.cell(on, explainer);
  }
  return nullptr;
}

/// The explainer's cell on a grid that no training input had, and those on the trained grids around it. Empty when the
/// grid was trained on.
std::vector<const Cell*> unseen_and_seen(const Scoreboard& scores, const Discretisation& on) {
  const std::vector<Resolution>& trained = scores.run().resolutions;
  const auto above = std::lower_bound(trained.begin(), trained.end(), Resolution(on.shape));
  if (above != trained.end() && *above == Resolution(on.shape)) return {};
  std::vector<const Cell*> cells = {scores.cell(on, explainer)};
  if (above != trained.begin()) cells.push_back(explained(scores, *std::prev(above)));
  if (above != trained.end()) cells.push_back(explained(scores, *above));
  return cells;
}

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

}  // namespace

Claim quality_against_integrated_gradients() {
  return of_the_paper("quality_against_integrated_gradients", quality_rule,
                      [](const Scoreboard& scores) { return quality_against(scores, integrated_gradients); });
}

Claim quality_against_regression_msr() {
  return of_the_paper("quality_against_regression_msr", quality_rule,
                      [](const Scoreboard& scores) { return quality_against(scores, regression_msr); });
}

Claim consistent_across_resolutions() {
  return of_the_paper(
      "consistent_across_resolutions",
      "the median Pearson correlation with the reference is at most 0.02 (the metric's tolerance) below that of the "
      "paper's table, at every n that both have, two or more",
      [](const Scoreboard& scores) {
        Measurements found;
        for (const Discretisation& on : scores.discretisations()) {
          const PaperCell* paper = find(paper_quality(), scores.run().pde, on.players, explainer, "pearson");
          if (paper == nullptr || !on.every_point_plays()) continue;
          auto here = measure_at(scores, on, {explainer}, "pearson", first_of,
                                 paper->quartiles.median - metrics::find("pearson").tolerance, Side::at_least);
          if (!here) continue;
          here->figures = {show(paper->quartiles.median)};
          found.push_back(*here);
        }
        if (found.size() < 2) {
          return not_testable(fmt::format(
              "OperatorSHAP has a correlation at {} n of the paper's table, and two are needed.", found.size()));
        }
        return all_of(found, {.quantity = "OperatorSHAP's median Pearson correlation", .figures = {"the paper's"}});
      },
      unless_in_the_papers_table);
}

Claim transfers_to_unseen_resolutions() {
  return of_the_paper(
      "transfers_to_unseen_resolutions",
      "at every n that no training input had, the median NRMSE is at most 1.25 times the larger of those at the two "
      "trained n around it; a run without n beyond the trained ones says nothing about these",
      [](const Scoreboard& scores) {
        Measurements found;
        for (const Discretisation& on : scores.discretisations()) {
          const std::vector<const Cell*> cells = unseen_and_seen(scores, on);
          if (cells.size() < 2 || std::find(cells.begin(), cells.end(), nullptr) != cells.end()) continue;
          const auto excess = measure(
              place(on), PairedScores::of(cells, "nrmse"),
              [](std::span<const double> medians) {
                return ratio(medians[0], *std::max_element(medians.begin() + 1, medians.end()));
              },
              1.25, Side::at_most);
          if (excess) found.push_back(*excess);
        }
        if (found.empty()) {
          return not_testable(
              "OperatorSHAP was evaluated only at the n that it was trained on. Key unseen of [evaluation] in a "
              "profile adds others.");
        }
        return all_of(found, {.quantity = "OperatorSHAP's median NRMSE over that at the trained n around it",
                              .figures = {"here", "below", "above"}});
      });
}

Claim one_model_for_all_resolutions() {
  return of_the_paper(
      "one_model_for_all_resolutions",
      "one explainer was trained, and its median NRMSE is below that of the better one of the two attributions that do "
      "not look at the input, uniform and constant, at each of the seven n",
      [](const Scoreboard& scores) {
        const auto& training = scores.run().results.training;
        // A further explainer is another recipe, not another model for some of the n.
        const auto trainings = std::count_if(training.begin(), training.end(), [](const runs::TrainingRow& row) {
          return row.stage == "explainer" && !row.explainer;
        });
        if (trainings == 0) return not_testable("There is no row of the explainer's training.");
        Measurements found = {exactly("", static_cast<double>(trainings), 1, Side::at_most)};
        found.back().quantity = "The number of explainers trained";
        const auto most = static_cast<int>(paper_constant("most_players"));
        for (auto players = static_cast<int>(paper_constant("few_players")); players <= most; players *= 2) {
          const auto on = Discretisation::line(players);
          std::vector<std::string_view> methods = {explainer, "uniform"};
          if (scores.cell(on, "constant") != nullptr) methods.push_back("constant");
          const auto better = measure_at(
              scores, on, methods, "nrmse",
              [](std::span<const double> medians) {
                return ratio(medians[0], *std::min_element(medians.begin() + 1, medians.end()));
              },
              1, Side::at_most);
          if (!better) return not_testable(place(on) + " was not run.");
          found.push_back(*better);
        }
        return all_of(found,
                      {.quantity = "OperatorSHAP's median NRMSE over that of the better attribution that does not "
                                   "look at the input",
                       .figures = {"OperatorSHAP", "uniform", "constant"}});
      },
      unless_on_lines);
}

Claim best_in_r2_and_pearson_from_64_players() {
  return of_the_paper(
      "best_in_r2_and_pearson_from_64_players",
      "at every n >= 64 OperatorSHAP's median R² and median Pearson correlation are not below those of integrated "
      "gradients and of RegressionMSR",
      [](const Scoreboard& scores) {
        Measurements found;
        for (const Discretisation& on : scores.discretisations()) {
          if (on.players < 64) continue;
          for (const std::string_view metric : {"r2", "pearson"}) {
            const auto lead = measure_at(
                scores, on, {explainer, integrated_gradients, regression_msr}, metric,
                [](std::span<const double> medians) { return medians[0] - std::max(medians[1], medians[2]); }, 0,
                Side::at_least);
            if (!lead) continue;
            found.push_back(*lead);
            found.back().at += fmt::format(", {}", metrics::find(metric).symbol);
          }
        }
        if (found.empty()) return not_testable("The three methods were not all run at n >= 64.");
        return all_of(found, {.quantity = "OperatorSHAP's median less the best of the other two",
                              .figures = {"OperatorSHAP", "IG", "RegressionMSR"},
                              .equal = 0});
      },
      unless_burgers);
}

Claim error_grows_while_r2_stays() {
  return of_the_paper(
      "error_grows_while_r2_stays",
      "from n = 32 to n = 1024 the median NRMSE does not fall, and the median R² changes by at most the metric's "
      "tolerance",
      [](const Scoreboard& scores) {
        const auto most = static_cast<int>(paper_constant("most_players"));
        const Cell *few = scores.cell(Discretisation::line(32), explainer),
                   *many = scores.cell(Discretisation::line(most), explainer);
        if (few == nullptr || many == nullptr)
          return not_testable(fmt::format("OperatorSHAP was not run at n = 32 and n = {}.", most));
        const std::vector<const Cell*> cells = {many, few};
        const auto growth = measure("NRMSE, ratio", PairedScores::of(cells, "nrmse"), ratio_of_two, 1, Side::at_least);
        const auto change = measure(
            "R², change", PairedScores::of(cells, "r2"),
            [](std::span<const double> medians) { return std::abs(medians[0] - medians[1]); },
            metrics::find("r2").tolerance, Side::at_most);
        if (!growth || !change) return not_testable("OperatorSHAP has too few inputs at n = 32 and n = 1024.");
        return all_of(
            {*growth, *change},
            {.quantity = "What changes from n = 32 to n = 1024", .figures = {"n = 1024", "n = 32"}, .at = "metric"});
      },
      unless_burgers);
}

Claim shapley_values_settle() {
  return of_the_paper(
      "shapley_values_settle",
      "the median distance of n·ψ_n from one fixed density, the reference at the largest n, is not larger at n = 128 "
      "than at n = 32; both are summed over the same cells of a periodic 1D grid. It does not say which density",
      [](const Scoreboard& scores) {
        const auto few = static_cast<int>(paper_constant("density_few_players")),
                   many = static_cast<int>(paper_constant("density_many_players"));
        const auto distances = distances_to_density(scores, few, many);
        if (!distances || distances->inputs() < least_inputs) {
          const std::string what =
              fmt::format("The references at n = {}, at n = {} and at a finer n are not ", few, many);
          return scores.keeps_references() ? not_testable(what + "there.") : not_kept(what + "kept.");
        }
        const auto approach = measure(
            "", *distances, [](std::span<const double> medians) { return ratio(medians[1], medians[0]); }, 1,
            Side::at_most);
        return all_of({*approach},
                      {.quantity = fmt::format("The distance at n = {} over that at n = {}", many, few),
                       .figures = {fmt::format("n = {}", few), fmt::format("n = {}", many)}},
                      fmt::format("The density is the reference at n = {}.", finest_line(scores)));
      },
      unless_periodic_line);
}

Claim shapley_values_approach_density() {
  return of_the_paper(
      "shapley_values_approach_density",
      "over the four largest n, three at least, the distance of the Shapley values from the Aumann–Shapley density "
      "falls at least like n^(-1/4): that density is what integrated gradients compute (the paper's theorem), and the "
      "distance is their median NRMSE net of the reference's error",
      [](const Scoreboard& scores) {
        const auto slope = slope_of_net_error(scores, integrated_gradients, -0.25, Side::at_most);
        if (!slope.measurement) return not_testable(slope.why_not);
        return all_of({*slope.measurement}, slope.wording);
      });
}

Claim integrated_gradients_are_complete() {
  return of_the_paper(
      "integrated_gradients_are_complete",
      "at every n the median gap |Σ IG - (v(N) - v(∅))|, relative to the gain, is at most 0.001: the order of what a "
      "midpoint rule with 50 steps leaves",
      [](const Scoreboard& scores) {
        const Measurements found =
            measure_from(0, scores, {integrated_gradients}, "efficiency_gap", first_of, 1e-3, Side::at_most);
        if (found.empty()) return not_run(integrated_gradients);
        return all_of(found, {.quantity = "The median gap of integrated gradients"});
      });
}

Claim same_backbone_on_all_grids() {
  return of_the_paper(
      "same_backbone_on_all_grids",
      "the backbone's median error at n = 1024 and at n = 128 differ by a factor of at most 1.25",
      [](const Scoreboard& scores) {
        const std::vector<int> few = {128}, many = {1024};
        std::string words;
        std::vector<PairedScores::Series> series(2);
        for (const runs::OperatorRow& row : scores.run().results.operators) {
          const std::vector<double> errors = row.defined_errors();
          if (row.pde != scores.run().pde || errors.empty()) continue;
          words += fmt::format("{}{} at {}", words.empty() ? "" : ", ", show(statistics::quantile(errors, 0.5)),
                               runs::shape_in_words(row.shape));
          if (row.shape != few && row.shape != many) continue;
          series[row.shape == few ? 0 : 1] = {errors, std::vector<double>(errors.size(), 0.0)};
        }
        if (series[0].scores.empty() || series[0].scores.size() != series[1].scores.size())
          return not_testable("The backbone's errors at n = 128 and n = 1024 are not stored.");
        const auto factor = measure(
            "", PairedScores(std::move(series)),
            [](std::span<const double> medians) {
              return std::max(ratio(medians[0], medians[1]), ratio(medians[1], medians[0]));
            },
            1.25, Side::at_most);
        if (!factor) return not_testable("The backbone's errors are known for too few inputs.");
        return all_of({*factor},
                      {.quantity = "The factor between the backbone's median errors at n = 128 and n = 1024",
                       .figures = {"n = 128", "n = 1024"}},
                      "Median errors: " + words + ".");
      });
}

Claim normalisation_is_exact() {
  Claim claim =
      of_the_paper("normalisation_is_exact",
                   "efficiency gap of at most 1e-12 on every input (rounding of 1024 additions in double precision)",
                   [](const Scoreboard& scores) {
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
                   });
  claim.check = true;
  return claim;
}

Claim exact_reference_at_16_players() {
  Claim claim = of_the_paper(
      "exact_reference_at_16_players", "every attribution at n <= 16 was scored against the exact Shapley values",
      [](const Scoreboard& scores) {
        int exact = 0, rows = 0;
        for (const runs::AttributionRow& row : scores.run().results.attributions) {
          if (row.players > paper_constant("exact_players")) continue;
          ++rows;
          exact += row.reference == "exact" && row.reference_error.value == 0.0;
        }
        if (rows == 0) return not_testable("n <= 16 was not run.");
        return all_of({exactly("", exact, rows, Side::at_least)},
                      {.quantity = fmt::format("The number of exact references of {} attributions", rows)});
      });
  claim.check = true;
  return claim;
}

}  // namespace opshap::reporting::claims
