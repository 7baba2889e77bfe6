#include "reporting/amortisation.hpp"

#include <algorithm>

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
                     .reached = first != curve.end(),
                     .break_even = std::nullopt};
  const double saved = method.evaluations - pays.explainer_evaluations;
  if (saved > 0 && method.reached) method.break_even = static_cast<double>(pays.training_evaluations) / saved;
  return method;
}

}  // namespace

std::optional<Amortisation> amortisation(const Scoreboard& scores) {
  const std::vector<int> resolutions = scores.curve_resolutions();
  const auto& training = scores.run().results.training;
  const auto trained = std::find_if(training.begin(), training.end(), [&scores](const runs::TrainingRow& row) {
    return row.stage == "explainer" && row.pde == scores.run().pde;
  });
  if (resolutions.empty() || trained == training.end()) return std::nullopt;
  const auto figure = static_cast<int>(paper_constant("amortisation_players"));
  const bool has_figure = std::find(resolutions.begin(), resolutions.end(), figure) != resolutions.end();
  const int players = has_figure ? figure : resolutions.back();
  const Cell* explainer = scores.cell(players, "operator_shap");
  const auto evaluations = explainer == nullptr ? std::nullopt : explainer->distinct();
  if (!evaluations) return std::nullopt;

  Amortisation pays{.players = players,
                    .training_evaluations = trained->operator_evaluations,
                    .explainer_evaluations = *evaluations,
                    .explainer_nrmse = 0,
                    .methods = {}};
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = scores.curve(players, method);
    if (curve.empty()) continue;
    const auto error = explainer->restricted_to(curve.front().samples()).quartiles("nrmse");
    if (!error) return std::nullopt;
    pays.explainer_nrmse = error->median;
    pays.methods.push_back(tuned(curve, pays));
  }
  return pays;
}

}  // namespace opshap::reporting
