#include "reporting/amortisation.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "reporting/claims_measurement.hpp"
#include "reporting/paper.hpp"
#include "runs/results.hpp"

namespace opshap::reporting {

namespace {

/// A cell of a curve or of a method of gradients as an alternative to the explainer.
TunedMethod tuned(const Cell& cell, const Amortisation& pays) {
  TunedMethod method{.method = cell.method,
                     .budget = cell.budget,
                     .evaluations = forward_equivalents(cell).value(),  // not asked of a cell that refused all
                     .nrmse = cell.quartiles("nrmse")->median,
                     .reached = false,
                     .break_even = std::nullopt};
  method.reached = method.nrmse <= pays.explainer_nrmse;
  const double saved = method.evaluations - pays.explainer_evaluations;
  if (saved > 0 && method.reached) method.break_even = static_cast<double>(pays.training_evaluations) / saved;
  return method;
}

/// The first cell of a curve that is as good as the explainer, else the last one.
const Cell& cheapest_as_good(const std::vector<Cell>& curve, double nrmse) {
  const auto first = std::find_if(curve.begin(), curve.end(),
                                  [nrmse](const Cell& cell) { return cell.quartiles("nrmse")->median <= nrmse; });
  return first == curve.end() ? curve.back() : *first;
}

/// The training of an explainer's column: "operator_shap:wide" is the one named "wide".
const runs::TrainingRow* training_of(const Scoreboard& scores, std::string_view explainer) {
  const std::size_t colon = explainer.find(':');
  const std::string_view name = colon == std::string_view::npos ? "" : explainer.substr(colon + 1);
  const runs::TrainingRow* first = nullptr;
  for (const runs::TrainingRow& row : scores.run().results.training) {
    if (row.stage != "explainer" || row.pde != scores.run().pde) continue;
    if (first == nullptr) first = &row;
    if (row.explainer.value_or("") == name) return &row;
  }
  return name.empty() ? first : nullptr;  // the only explainer has no name in its column
}

/// A method's budget curve, else what was run of it.
std::vector<Cell> budgets_of(const Scoreboard& scores, const Discretisation& on, const std::string& method) {
  std::vector<Cell> curve = scores.curve(on, method);
  return curve.empty() ? scores.curve(on, method, 1) : curve;
}

std::optional<Amortisation> amortisation_on(const Scoreboard& scores, const Discretisation& on) {
  const Cell* explainer = scores.cell(on, claims::explainer);
  const runs::TrainingRow* trained = explainer == nullptr ? nullptr : training_of(scores, explainer->method);
  const auto evaluations = explainer == nullptr ? std::nullopt : explainer->distinct();
  if (trained == nullptr || !evaluations || !explainer->quartiles("nrmse")) return std::nullopt;
  Amortisation pays{.on = on,
                    .explainer = explainer->method,
                    .training_evaluations = trained->operator_evaluations,
                    .explainer_evaluations = *evaluations,
                    .explainer_nrmse = explainer->quartiles("nrmse")->median,
                    .samples = explainer->samples(),
                    .methods = {},
                    .of_gradients = {},
                    .further_explainers = {}};
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = budgets_of(scores, on, method);
    if (curve.empty()) continue;
    pays.samples = curve.front().samples();
    const auto error = explainer->restricted_to(pays.samples).quartiles("nrmse");
    if (!error) return std::nullopt;
    pays.explainer_nrmse = error->median;
    pays.methods.push_back(tuned(cheapest_as_good(curve, error->median), pays));
  }
  const auto on_the_same_inputs = [&](const std::string& method) -> std::optional<Cell> {
    const Cell* cell = scores.cell(on, method);
    if (cell == nullptr) return std::nullopt;
    Cell same = cell->restricted_to(pays.samples);
    if (!same.quartiles("nrmse") || !same.distinct()) return std::nullopt;
    return same;
  };
  for (const std::string& method : scores.methods_with_access("gradient"))
    if (const auto cell = on_the_same_inputs(method)) pays.of_gradients.push_back(tuned(*cell, pays));
  for (const std::string& method : scores.methods_with_access("amortised")) {
    const auto cell = method == explainer->method ? std::nullopt : on_the_same_inputs(method);
    const runs::TrainingRow* training = training_of(scores, method);
    if (!cell || training == nullptr) continue;
    pays.further_explainers.push_back({.method = method,
                                       .training_evaluations = training->operator_evaluations,
                                       .evaluations = *cell->distinct(),
                                       .nrmse = cell->quartiles("nrmse")->median});
  }
  return pays;
}

}  // namespace

std::optional<double> forward_equivalents(const Cell& cell) {
  const auto distinct = cell.distinct(), passes = cell.gradients();
  if (!distinct) return std::nullopt;
  return *distinct + (cell.method == "integrated_gradients" ? 3 : 6) * passes.value_or(0);
}

std::optional<Amortisation> amortisation(const Scoreboard& scores) {
  const std::vector<Discretisation> grids = scores.discretisations_with_curves();
  if (grids.empty()) return std::nullopt;
  const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
  return amortisation_on(scores, std::ranges::find(grids, figure) == grids.end() ? grids.back() : figure);
}

std::optional<Amortisation> amortisation_on_the_finest_grid(const Scoreboard& scores) {
  const std::vector<Discretisation>& grids = scores.discretisations();
  const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
  if (std::ranges::find(grids, figure) != grids.end()) return amortisation_on(scores, figure);
  return amortisation_on(
      scores, *std::ranges::max_element(grids, {}, [](const Discretisation& on) { return runs::points_of(on.shape); }));
}

}  // namespace opshap::reporting
