#include "reporting/amortisation.hpp"

#include <algorithm>

#include "reporting/claims_measurement.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

TunedMethod with_break_even(TunedMethod method, const Amortisation& pays) {
  const double saved = method.evaluations - pays.explainer_evaluations;
  if (saved > 0 && method.reached) method.break_even = static_cast<double>(pays.training_evaluations) / saved;
  return method;
}

TunedMethod tuned(const std::vector<Cell>& curve, const Amortisation& pays) {
  const auto good_enough = [&pays](const Cell& cell) {
    return cell.quartiles("nrmse")->median <= pays.explainer_nrmse;
  };
  const auto first = std::find_if(curve.begin(), curve.end(), good_enough);
  const Cell& cell = first == curve.end() ? curve.back() : *first;
  return with_break_even({.method = cell.method,
                          .budget = *cell.budget,
                          .evaluations = cell.distinct().value(),  // a curve has no cell that refused all
                          .nrmse = cell.quartiles("nrmse")->median,
                          .reached = first != curve.end()},
                         pays);
}

/// None where it has no score on these inputs.
std::optional<TunedMethod> of_gradients(const Cell& all, const Amortisation& pays) {
  const Cell cell = all.restricted_to(pays.samples);
  const auto error = cell.quartiles("nrmse");
  if (!error) return std::nullopt;
  return with_break_even(
      {.method = cell.method,
       .evaluations = cell.distinct().value_or(0) + passes_of(cell.method) * cell.gradients().value_or(0),
       .nrmse = error->median,
       .reached = error->median <= pays.explainer_nrmse},
      pays);
}

}  // namespace

double passes_of(std::string_view method) { return method == "mean_field" || method == "two_level" ? 6 : 3; }

std::optional<Amortisation> amortisation(const Scoreboard& scores) {
  const std::vector<Discretisation> grids = scores.discretisations_with_curves();
  const auto& training = scores.run().results.training;
  const auto trained = std::find_if(training.begin(), training.end(), [&scores](const runs::TrainingRow& row) {
    return row.stage == "explainer" && row.pde == scores.run().pde;
  });
  if (grids.empty() || trained == training.end()) return std::nullopt;
  const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
  const bool has_figure = std::find(grids.begin(), grids.end(), figure) != grids.end();
  const Discretisation& on = has_figure ? figure : grids.back();
  const Cell* explainer = scores.cell(on, claims::explainer);
  const auto evaluations = explainer == nullptr ? std::nullopt : explainer->distinct();
  if (!evaluations) return std::nullopt;

  Amortisation pays{.on = on,
                    .samples = {},
                    .training_evaluations = trained->operator_evaluations,
                    .explainer_evaluations = *evaluations,
                    .explainer_nrmse = 0};
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = scores.curve(on, method);
    if (curve.empty()) continue;
    pays.samples = curve.front().samples();
    const auto error = explainer->restricted_to(pays.samples).quartiles("nrmse");
    if (!error) return std::nullopt;
    pays.explainer_nrmse = error->median;
    pays.methods.push_back(tuned(curve, pays));
  }
  for (const std::string& method : scores.methods()) {
    const Cell* cell = scores.cell(on, method);
    if (cell == nullptr || cell->access != "gradient") continue;
    if (const auto found = of_gradients(*cell, pays)) pays.gradients.push_back(*found);
  }
  return pays;
}

}  // namespace opshap::reporting
