// What this suite says beside the paper's sentences: promises of the methods, how trained explainers stand beside what
// needs no training, and whether the comparison itself can be trusted.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"
#include "reporting/scoreboard.hpp"

namespace opshap::reporting::claims {

namespace {

/// Relative changes of the reference from a line of n points to one of 2n, for every n of the run where both are
/// stored.
std::vector<std::pair<int, std::map<std::int64_t, double>>> changes_of_reference(const Scoreboard& scores) {
  std::vector<std::pair<int, std::map<std::int64_t, double>>> changes;
  for (const Discretisation& on : scores.discretisations()) {
    if (!on.is_line()) continue;
    std::map<std::int64_t, double> change;
    for (const runs::AttributionRow* row : scores.references(on)) {
      if (const auto distance = distance_of_references(scores, row->sample, on.players, 2 * on.players))
        change[row->sample] = *distance;
    }
    if (!change.empty()) changes.emplace_back(on.players, std::move(change));
  }
  return changes;
}

/// The cell of the smallest budget of at least 4n, of a method that has it on the most inputs.
const Cell* cell_of_four_times(const Scoreboard& scores, const Discretisation& on, std::string_view method) {
  const Cell* best = nullptr;
  for (const Cell& cell : scores.cells()) {
    if (cell.on != on || cell.method != method || !cell.budget || *cell.budget < 4 * on.players) continue;
    if (cell.rows.size() < least_inputs) continue;
    if (best == nullptr || *cell.budget < *best->budget) best = &cell;
  }
  return best;
}

/// Of the errors of a method net of the reference's, those that the reference can tell from zero.
struct NetCurve {
  std::vector<const Cell*> cells;
  std::vector<double> players, floors;
};

NetCurve net_curve(const Scoreboard& scores, std::string_view method) {
  NetCurve curve;
  for (const Cell* cell : refinement(scores, method)) {
    const auto net = cell->net_nrmse();
    if (!net || net->interval.low <= 0) continue;
    curve.cells.push_back(cell);
    curve.players.push_back(cell->on.players);
    curve.floors.push_back(net->floor / 10);
  }
  return curve;
}

constexpr std::string_view beats_rule =
    "the NRMSE over that of each trained explainer of the run, input by input, has a median of at most 1 at every n";

Judgement efficiency_at_rounding_level(const Scoreboard& scores) {
  const runs::AttributionRow* worst = nullptr;
  int count = 0;
  for (const runs::AttributionRow& row : scores.run().results.attributions) {
    if (row.access == "gradient" || !row.scores["efficiency_gap"].value) continue;
    ++count;
    if (worst == nullptr || *row.scores["efficiency_gap"].value > *worst->scores["efficiency_gap"].value) worst = &row;
  }
  if (worst == nullptr) return not_testable("No method with a defined efficiency gap was run.");
  const Discretisation on{.players = worst->players, .shape = worst->shape};
  return all_of({exactly(fmt::format("{}, {}", place(on), style_of(worst->method).label),
                         *worst->scores["efficiency_gap"].value, 1e-9, Side::at_most)},
                {.quantity = fmt::format("The largest gap of {} attributions", count)});
}

Judgement mean_field_error_falls(const Scoreboard& scores) {
  const NetCurve curve = net_curve(scores, "mean_field");
  if (curve.cells.size() < 3) {
    return not_testable(fmt::format(
        "The references tell the mean field's error from zero at {} n, and three are needed.", curve.cells.size()));
  }
  const auto from_the_rate = [&curve](std::span<const double> medians) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < medians.size(); ++i) errors.push_back(std::max(medians[i], curve.floors[i]));
    return std::abs(log_slope(curve.players, errors) + 1);
  };
  const auto distance = measure(fmt::format("{} to {}", place(curve.cells.front()->on), curve.cells.back()->on.label()),
                                PairedScores::net(curve.cells), from_the_rate, 0.5, Side::at_most);
  if (!distance) return not_testable("The mean field has too few inputs.");
  std::string words;
  for (std::size_t i = 0; i < curve.players.size(); ++i)
    words += fmt::format("{}{} at {}", words.empty() ? "" : ", ", distance->figures[i], curve.cells[i]->on.label());
  return all_of({*distance}, {.quantity = "The distance of the power of n from -1"}, "Net NRMSE: " + words + ".");
}

Judgement reference_better_known_than_explainer(const Scoreboard& scores) {
  Measurements found;
  int silent = 0;
  for (const Discretisation& on : scores.discretisations()) {
    const Cell* cell = scores.cell(on, explainer);
    if (cell == nullptr) continue;
    PairedScores::Series errors, references;
    for (const runs::AttributionRow* row : cell->rows) {
      if (!row->scores["nrmse"].value || !row->reference_error.value) continue;
      silent += row->reference != "exact" && *row->reference_error.value == 0;
      references.scores.push_back(*row->reference_error.value);
      errors.scores.push_back(*row->scores["nrmse"].value);
    }
    const auto known = measure(place(on), PairedScores({references, errors}), ratio_of_two, 0.2, Side::at_most);
    if (known) found.push_back(*known);
  }
  if (found.empty()) return not_testable("operator_shap was not run on enough inputs.");
  found.push_back(exactly("", silent, 0, Side::at_most));
  found.back().quantity = "The number of sampled references without an error";
  return all_of(found, {.quantity = "The reference's median error over OperatorSHAP's median NRMSE",
                        .figures = {"reference", "OperatorSHAP"}});
}

Judgement permutation_error_rate(const Scoreboard& scores) {
  for (const Discretisation& on : scores.discretisations_with_curves()) {
    const std::vector<Cell> curve = scores.curve(on, "permutation");
    std::vector<const Cell*> cells;
    std::vector<double> budgets;
    for (const Cell& cell : curve) {
      if (cell.quartiles("nrmse")->median <= 0) continue;
      cells.push_back(&cell);
      budgets.push_back(static_cast<double>(*cell.budget));
    }
    if (cells.size() < 3) continue;
    const auto from_the_rate = [&budgets](auto medians) { return std::abs(log_slope(budgets, medians) + 0.5); };
    const auto distance = measure(place(on), PairedScores::of(cells, "nrmse"), from_the_rate, 0.15, Side::at_most);
    if (!distance) continue;
    return all_of({*distance}, {.quantity = "The distance of the power of the budget from -1/2"},
                  fmt::format("It rests on {} budgets.", budgets.size()));
  }
  return not_testable("permutation was not run at three budgets on enough inputs.");
}

Judgement pairing_matters(const Scoreboard& scores) {
  Measurements found;
  std::string refused;
  for (const Discretisation& on : scores.discretisations()) {
    const Cell* paired = cell_of_four_times(scores, on, "kernel_shap_paired");
    const Cell* plain = paired == nullptr ? nullptr : scores.cell(on, kernel_shap, *paired->budget);
    if (plain == nullptr) continue;
    const PairedScores errors = PairedScores::of({paired, plain}, "nrmse");
    const std::string at = fmt::format("{}, budget {}", place(on), show_count(static_cast<double>(*paired->budget)));
    if (2 * errors.inputs() < paired->rows.size()) {
      refused += fmt::format("{} is left out: {} of {} inputs are defined.", at, errors.inputs(), paired->rows.size());
      continue;
    }
    const auto better = better_input_by_input(at, *paired, *plain);
    if (better) found.push_back(*better);
  }
  if (found.empty()) return not_testable("KernelSHAP with and without pairs was not run at 4n evaluations. " + refused);
  return all_of(found,
                {.quantity = "The NRMSE with pairs over that without, in the median over the inputs,",
                 .figures = {"paired", "plain"}},
                refused);
}

Judgement reference_settles_with_resolution(const Scoreboard& scores) {
  const auto changes = changes_of_reference(scores);
  if (changes.size() < 2) {
    return scores.keeps_references()
               ? not_testable("There are no references at three resolutions, each twice the one before.")
               : not_kept("The references of this run are not kept.");
  }
  const auto& [few, at_few] = changes.front();
  const auto& [many, at_many] = changes.back();
  std::vector<PairedScores::Series> series(2);
  for (const auto& [sample, change] : at_few) {
    if (!at_many.contains(sample)) continue;
    series[0].scores.push_back(at_many.at(sample));
    series[1].scores.push_back(change);
  }
  const auto settled = measure("", PairedScores(std::move(series)), ratio_of_two, 1, Side::at_most);
  if (!settled) return not_testable("The references of too few inputs are stored.");
  return all_of({*settled}, {.quantity = fmt::format("The change from n = {} over that from n = {}", many, few),
                             .figures = {fmt::format("from n = {}", many), fmt::format("from n = {}", few)}});
}

}  // namespace

std::vector<Claim> of_opshap() {
  return {
      {.id = "efficiency_at_rounding_level",
       .title = "values add up to rounding",
       .source = "opshap",
       .statement = "Every method without quadrature gives values that add up to v(N) - v(∅).",
       .where = "Efficiency axiom; integrated gradients and the mean field have a quadrature error instead",
       .rule = "efficiency gap of at most 1e-9 on every attribution that is not made of gradients (1e7 roundings in "
               "double precision)",
       .judge = efficiency_at_rounding_level,
       .check = true},
      {.id = "explainer_beats_uniform",
       .title = "the explainer beats the uniform attribution",
       .source = "opshap",
       .statement = "OperatorSHAP is closer to the reference than the attribution that knows nothing but v(N) - v(∅).",
       .where = "What any trained explainer reaches: the gain shared out by volume",
       .rule = "the median NRMSE is not above that of the uniform attribution at every n",
       .judge = of_medians({.methods = {explainer, "uniform"},
                            .number = ratio_of_two,
                            .bound = 1,
                            .wording = {.quantity = "OperatorSHAP's median NRMSE over that of the uniform attribution",
                                        .figures = {"OperatorSHAP", "uniform"},
                                        .equal = 1},
                            .otherwise = "operator_shap and uniform were not both run on enough inputs."}),
       .check = true},
      {.id = "explainers_beat_the_constant",
       .title = "every explainer beats the mean of the other inputs",
       .source = "opshap",
       .statement = "Every trained explainer is closer to the reference than the mean of the other inputs' references, "
                    "which does not look at the input.",
       .where = "The null that an NRMSE lacks; it is made where the references are kept",
       .rule = "the NRMSE over that of the constant, input by input, has a median of at most 1 at every n",
       .judge = beside_explainers({.other = constant_method,
                                   .better = Better::explainer,
                                   .first = {"The explainer", "explainer"},
                                   .second = {"the constant", "constant"},
                                   .needs_references = true,
                                   .otherwise = "The references of too few inputs are there."})},
      {.id = "mean_field_beats_explainers",
       .title = "the untrained mean field beats every explainer",
       .source = "opshap",
       .statement = "The mean field, which needs no training, is closer to the reference than every trained explainer.",
       .where = "Reverse passes of the backbone alone; it needs a closure, which an FNO and a LocalNO have",
       .rule = beats_rule,
       .judge =
           beside_explainers({.other = "mean_field",
                              .first = {"Mean field", "Mean field"},
                              .otherwise = "mean_field and a trained explainer were not both run on enough inputs."})},
      {.id = "integrated_gradients_beat_explainers",
       .title = "untrained integrated gradients beat every explainer",
       .source = "opshap",
       .statement =
           "Integrated gradients, which need no training, are closer to the reference than every trained explainer.",
       .where = "50 reverse passes of the backbone",
       .rule = beats_rule,
       .judge = beside_explainers(
           {.other = integrated_gradients,
            .first = {"Integrated gradients", "Integrated gradients"},
            .otherwise = "integrated_gradients and a trained explainer were not both run on enough inputs."})},
      {.id = "integrated_gradients_error_stays",
       .title = "integrated gradients' error stays with n",
       .source = "opshap",
       .statement = "The error of integrated gradients does not vanish with n: their limit is not the limit of this "
                    "game's Shapley values.",
       .where =
           "Hard masks reach a nonlinear operator only weakly; gradients on the diagonal evaluate it at the weak limit",
       .rule = "over the four largest n, three at least, the median NRMSE net of the reference's error falls more "
               "slowly than n^(-1/4); at the last n the NRMSE is above twice the reference's error, below which "
               "everything levels off",
       .judge = power_of_net_error(integrated_gradients, Side::at_least, -0.25)},
      {.id = "mean_field_error_falls",
       .title = "the mean field's error falls with n",
       .source = "opshap",
       .statement = "The error of the mean field falls like 1/n, as far as the references can tell.",
       .where = "It follows the fluctuations of randomly masked inputs, so what it leaves out is of order 1/n",
       .rule = "over all n, three or more, where the NRMSE net of the reference's error is told from zero, its power "
               "of n is between -1.5 and -0.5; in a resample an error counts as a tenth of the reference's at least",
       .judge = mean_field_error_falls},
      {.id = "antithetic_pair_beats_explainer",
       .title = "one antithetic pair beats every explainer at many players",
       .source = "opshap",
       .statement = "One pair of opposite orderings, 2n evaluations, is closer to the reference than every trained "
                    "explainer at many players; it is not in the paper.",
       .where = "Antithetic permutation sampling; what the sentence about classical methods leaves out",
       .rule = "the NRMSE at a budget of 2n over that of each trained explainer of the run, input by input, has a "
               "median of at most 1 at every n >= 512",
       .judge = beside_explainers({.other = "permutation_antithetic",
                                   .from = static_cast<int>(paper_constant("many_players")),
                                   .budget_a_player = 2,
                                   .first = {"One pair", "One pair"},
                                   .otherwise = "One antithetic pair was not run at n >= 512."})},
      {.id = "reference_better_known_than_explainer",
       .title = "the reference is better known than what it judges",
       .source = "opshap",
       .statement = "The reference is known better than what it judges.",
       .where = "A difference below the reference's own error means nothing",
       .rule = "at every n the median standard error of the reference is at most a fifth of OperatorSHAP's median "
               "NRMSE; a sampled reference states one",
       .judge = reference_better_known_than_explainer},
      {.id = "permutation_error_rate",
       .title = "sampling errors fall like one over the root of the budget",
       .source = "opshap",
       .statement = "The error of permutation sampling falls with the square root of the budget.",
       .where = "Monte Carlo rate of independent orderings (Castro, Gómez, Tejada 2009)",
       .rule = "the power of the budget in the median NRMSE differs from -1/2 by at most 0.15, at the smallest n with "
               "a curve",
       .judge = permutation_error_rate},
      {.id = "pairing_matters",
       .title = "pairing makes KernelSHAP better",
       .source = "opshap",
       .statement = "KernelSHAP with complementary pairs is better than without at the same budget; the paper does not "
                    "say which one it ran.",
       .where = "Covert and Lee (2021); shapiq's KernelSHAP does not pair by default, its RegressionMSR does",
       .rule = "at the smallest budget of at least 4n that was run, the NRMSE over that without pairs, input by input "
               "where both are defined, has a median of at most 1; such inputs are at least half of all",
       .judge = pairing_matters},
      {.id = "reference_settles_with_resolution",
       .title = "reference densities settle with n",
       .source = "opshap",
       .statement = "The reference attribution itself settles as the grid is refined.",
       .where = "Needed before any explainer can be the same at all resolutions; independent of the explainer",
       .rule = "the median change of the reference from n to 2n, summed back to n cells, is not larger at the largest "
               "n than at the smallest; periodic 1D grids",
       .judge = reference_settles_with_resolution,
       .excluded = unless_periodic_line},
  };
}

}  // namespace opshap::reporting::claims
