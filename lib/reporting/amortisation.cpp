#include "reporting/amortisation.hpp"

#include <algorithm>

#include "reporting/claims_measurement.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

TunedMethod tuned(const std::vector<Cell>& curve, const Amortisation& pays) {
  const auto good_enough = [&pays](const Cell& cell) {
    return cell.quartiles("nrmse")->median <= pays.explainer_nrmse;
  };
  const auto first = std::find_if(curve.begin(), curve.end(), good_enough);
  const Cell& cell = first == curve.end() ? curve.back() : *first;
  TunedMethod method{.method = cell.method,
                     .budget = *cell.budget,
                     .evaluations = cell.distinct().value(),  // a curve has no cell that refused all
                     .nrmse = cell.quartiles("nrmse")->median,
                     .reached = first != curve.end()};
  const double saved = method.evaluations - pays.explainer_evaluations;
  if (saved > 0 && method.reached) method.break_even = static_cast<double>(pays.training_evaluations) / saved;
  return method;
}

}  // namespace

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
                    .training_evaluations = trained->operator_evaluations,
                    .explainer_evaluations = *evaluations,
                    .explainer_nrmse = 0};
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = scores.curve(on, method);
    if (curve.empty()) continue;
    const auto error = explainer->restricted_to(curve.front().samples()).quartiles("nrmse");
    if (!error) return std::nullopt;
    pays.explainer_nrmse = error->median;
    pays.methods.push_back(tuned(curve, pays));
  }
  return pays;
}

}  // namespace opshap::reporting
