// Sentences about the methods that OperatorSHAP is compared with, and about what more coalitions buy them. The rules
// are ours, since the paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::claims {

namespace {

/// The classical methods of the paper's figure. It does not say whether its KernelSHAP draws pairs, so both are here.
const std::vector<std::string> classical_methods = {"kernel_shap", "kernel_shap_paired", std::string(regression_msr)};

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string budget_in_words(double budget) {
  return std::isinf(budget) ? std::string("more than was run") : show_count(budget);
}

/// Budgets that the sampling methods of a run need on some grids to be as good as the explainer.
Table budget_table(const Scoreboard& scores, const std::vector<Discretisation>& grids) {
  struct Row {
    std::string at, method;
    BudgetNeeded needed;
  };
  std::vector<Row> rows;
  for (const Discretisation& on : grids) {
    for (const std::string& method : scores.sampling_methods()) {
      if (const BudgetCurve& curve = budget_curve(scores, on, method); !curve.empty())
        rows.push_back({place(on), style_of(method).label, needed(curve)});
    }
  }
  return table_of(
      "budgets",
      "The smallest budget at which the median NRMSE is not above OperatorSHAP's, and the smallest at which "
      "that is certain.",
      rows,
      {{"n", [](auto& row) { return row.at; }},
       {"method", [](auto& row) { return row.method; }},
       {"smallest run", [](auto& row) { return show_count(row.needed.smallest_run); }, true},
       {"as good from", [](auto& row) { return budget_in_words(row.needed.budget); }, true},
       {"certain from", [](auto& row) { return budget_in_words(row.needed.certain); }, true}});
}

Judgement with(Judgement judgement, Table table) {
  if (!table.rows.empty()) judgement.tables.push_back(std::move(table));
  return judgement;
}

Judgement classical_methods_win_at_few_players(const Scoreboard& scores) {
  const auto few = Discretisation::line(static_cast<int>(paper_constant("few_players")));
  std::vector<BudgetCurve> curves;
  double least = 0;
  std::string winner;
  for (const std::string& method : scores.sampling_methods()) {
    const BudgetCurve& curve = budget_curve(scores, few, method);
    if (curve.empty()) continue;
    curves.push_back(curve);
    const double budget = needed(curve).budget;
    if (winner.empty() || budget < least) {
      winner = style_of(method).label;
      least = budget;
    }
  }
  if (curves.empty()) {
    return not_testable(fmt::format("{} was not run with OperatorSHAP and budgets of a sampling method.", place(few)));
  }
  Measurement budget = exactly(place(few), least, paper_constant("least_budget"), Side::at_most, {winner});
  budget.interval_at = [curves](double tail) {
    statistics::Interval least = {.low = infinity, .high = infinity};
    for (const BudgetCurve& curve : curves) {
      const BudgetNeeded of_curve = needed(curve, tail);
      least.low = std::min(least.low, of_curve.possible);
      least.high = std::min(least.high, of_curve.certain);
    }
    return least;
  };
  return with(
      all_of({budget}, {.quantity = "The smallest budget that is as good as OperatorSHAP", .figures = {"method"}}),
      budget_table(scores, {few}));
}

Judgement classical_methods_need_more_at_many_players(const Scoreboard& scores) {
  const auto few = Discretisation::line(static_cast<int>(paper_constant("few_players")));
  Measurements found;
  std::vector<Discretisation> judged = {few};
  for (const Discretisation& on : scores.discretisations_with_curves()) {
    if (on.players < paper_constant("many_players")) continue;
    judged.push_back(on);
    for (const std::string& method : classical_methods) {
      const BudgetCurve &few_curve = budget_curve(scores, few, method), &many_curve = budget_curve(scores, on, method);
      if (few_curve.empty() || many_curve.empty()) continue;
      const BudgetNeeded at_few = needed(few_curve), at_many = needed(many_curve);
      if (std::isinf(at_few.certain)) continue;
      const double reached = std::isinf(at_many.budget) ? at_many.largest_run : at_many.budget;
      found.push_back(exactly(fmt::format("{}, {}", place(on), style_of(method).label), reached / at_few.budget, 10,
                              Side::at_least, {budget_in_words(at_few.budget), budget_in_words(at_many.budget)}));
      found.back().interval_at = [few_curve, many_curve](double tail) {
        const BudgetNeeded at_few = needed(few_curve, tail), at_many = needed(many_curve, tail);
        return statistics::Interval{.low = at_many.more_than / at_few.certain,
                                    .high = ratio(at_many.certain, at_few.more_than)};
      };
    }
  }
  if (found.empty()) {
    return not_testable(
        "There are no budget curves at n = 16 and at n >= 512 of methods that are as good as OperatorSHAP at n = 16.");
  }
  return with(all_of(found, {.quantity = "The budget needed over that at n = 16",
                             .figures = {"budget at n = 16", "budget here"}}),
              budget_table(scores, judged));
}

Judgement more_budget_improves_regression_msr(const Scoreboard& scores) {
  Measurements found;
  for (const Discretisation& on : scores.discretisations_with_curves()) {
    const std::vector<Cell> curve = scores.curve(on, regression_msr);
    if (curve.empty()) continue;
    std::vector<const Cell*> cells;
    std::vector<double> budgets;
    for (const Cell& cell : curve) {
      cells.push_back(&cell);
      budgets.push_back(static_cast<double>(*cell.budget));
    }
    const auto power = [&budgets](std::span<const double> medians) { return log_slope(budgets, medians); };
    auto slope = measure(place(on), PairedScores::of(cells, "nrmse"), power, 0, Side::at_most);
    if (!slope) continue;
    slope->figures = {fmt::format("{} at {}", slope->figures.front(), show_count(budgets.front())),
                      fmt::format("{} at {}", slope->figures.back(), show_count(budgets.back()))};
    found.push_back(*slope);
  }
  if (found.empty()) return not_testable("RegressionMSR was not run at three budgets on enough inputs.");
  return all_of(found, {.quantity = "The power of the budget in RegressionMSR's median NRMSE",
                        .figures = {"NRMSE, smallest budget", "NRMSE, largest budget"}});
}

Judgement regression_msr_better_than_kernel_shap(const Scoreboard& scores) {
  Measurements found;
  std::string smaller;
  for (const Discretisation& on : scores.discretisations()) {
    const Cell *regression = scores.cell(on, regression_msr), *kernel = scores.cell(on, kernel_shap);
    if (regression == nullptr || kernel == nullptr) continue;
    const auto wins = better_input_by_input(place(on), *regression, *kernel);
    if (!wins) continue;
    if (on.players >= paper_constant("many_players")) {
      found.push_back(*wins);
    } else {
      smaller += fmt::format("{}{} at {}", smaller.empty() ? "" : ", ", show(wins->value), on.label());
    }
  }
  if (found.empty()) {
    return not_testable(smaller.empty() ? fmt::format("{} and {} were not both run.", regression_msr, kernel_shap)
                                        : "They were not run at n >= 512. The ratio is " + smaller + ".");
  }
  return all_of(found,
                {.quantity = "RegressionMSR's NRMSE over KernelSHAP's, in the median over the inputs,",
                 .figures = {"RegressionMSR", "KernelSHAP"},
                 .equal = 1},
                smaller.empty() ? "" : "At smaller n it is " + smaller + ".");
}

}  // namespace

std::vector<Claim> of_classical_methods() {
  return {
      {.id = "classical_methods_win_at_few_players",
       .title = "classical methods win early at few players",
       .rule = "at n = 16 some method that sees only coalition values has a median NRMSE not above OperatorSHAP's with "
               "at most 1024 of the 65 536 coalitions",
       .judge = classical_methods_win_at_few_players,
       .excluded = unless_on_lines},
      {.id = "classical_methods_need_more_at_many_players",
       .title = "classical methods need far more at many players",
       .rule = "at every n >= 512 with budget curves each classical method of the paper's figure needs at least 10 "
               "times the budget of n = 16 to be as good as OperatorSHAP; a method that is as good at its smallest "
               "budget may need less, and one that never is needs more than its largest",
       .judge = classical_methods_need_more_at_many_players,
       .excluded = unless_on_lines},
      {.id = "more_budget_improves_regression_msr",
       .title = "more budget improves RegressionMSR",
       .rule = "at every n with three budgets or more, the slope of log median NRMSE against log budget is at most 0",
       .judge = more_budget_improves_regression_msr},
      {.id = "regression_msr_wins_at_32_players",
       .title = "RegressionMSR is ahead at n = 32",
       .rule = "the median NRMSE of RegressionMSR is not above OperatorSHAP's at n = 32",
       .judge = of_medians({.methods = {regression_msr, explainer},
                            .number = ratio_of_two,
                            .bound = 1,
                            .only = {Discretisation::line(32)},
                            .wording = {.quantity = "RegressionMSR's median NRMSE over OperatorSHAP's",
                                        .figures = {"RegressionMSR", "OperatorSHAP"}},
                            .otherwise = was_not_run(regression_msr)}),
       .excluded = unless_burgers},
      {.id = "regression_msr_loses_from_64_players",
       .title = "OperatorSHAP is ahead of RegressionMSR from n = 64 on",
       .rule = "the median NRMSE of OperatorSHAP is not above RegressionMSR's at every n >= 64 of the run",
       .judge = of_medians({.methods = {explainer, regression_msr},
                            .number = ratio_of_two,
                            .bound = 1,
                            .from = 64,
                            .wording = {.quantity = "OperatorSHAP's median NRMSE over RegressionMSR's",
                                        .figures = {"OperatorSHAP", "RegressionMSR"}},
                            .otherwise = was_not_run(regression_msr)}),
       .excluded = unless_burgers},
      {.id = "regression_msr_better_than_kernel_shap",
       .title = "RegressionMSR beats KernelSHAP at many players",
       .rule = "the median NRMSE is not above KernelSHAP's at the budget of the tables at every n >= 512 of the run; "
               "512 and 1024 are the higher player numbers of the paper's figures",
       .judge = regression_msr_better_than_kernel_shap},
      {.id = "integrated_gradients_negative_r2",
       .title = "integrated gradients' R² is negative",
       .rule = "the median R² of integrated gradients is at most 0 at every n >= 32 of the run",
       .judge = of_medians({.methods = {integrated_gradients},
                            .metrics = {"r2"},
                            .bound = 0,
                            .from = 32,
                            .wording = {.quantity = "The median R² of integrated gradients"},
                            .otherwise = "integrated_gradients was not run at n >= 32."}),
       .excluded = unless_burgers},
      {.id = "integrated_gradients_are_complete",
       .title = "integrated gradients are complete",
       .rule = "at every n the median gap |Σ IG - (v(N) - v(∅))|, relative to the gain, is at most 0.001: the order of "
               "what a midpoint rule with 50 steps leaves",
       .judge = of_medians({.methods = {integrated_gradients},
                            .metrics = {"efficiency_gap"},
                            .bound = 1e-3,
                            .wording = {.quantity = "The median gap of integrated gradients"},
                            .otherwise = was_not_run(integrated_gradients)})},
  };
}

}  // namespace opshap::reporting::claims
