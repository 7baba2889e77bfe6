#include "reporting/budget_needed.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace opshap::reporting {

std::optional<BudgetCurve> BudgetCurve::of(const Scoreboard& scores, const Discretisation& on,
                                           std::string_view method) {
  auto& made = scores.budget_curves().made;
  const std::pair key(on, std::string(method));
  const auto found = made.find(key);
  return found != made.end() ? found->second : made.emplace(key, make(scores, on, method)).first->second;
}

std::optional<BudgetCurve> BudgetCurve::make(const Scoreboard& scores, const Discretisation& on,
                                             std::string_view method) {
  const Cell* explainer = scores.cell(on, claims::explainer);
  if (explainer == nullptr) return std::nullopt;
  BudgetCurve curve;
  for (const Cell& cell : scores.curve(on, method, 1)) {
    const std::array<const Cell*, 2> cells = {&cell, explainer};
    const auto ratio =
        claims::measure("", PairedScores::of(cells, "nrmse"), claims::ratio_of_two, 1, claims::Side::at_most);
    if (!ratio) return std::nullopt;
    curve.points_.push_back({static_cast<double>(*cell.budget), *ratio});
  }
  if (curve.points_.empty()) return std::nullopt;
  return curve;
}

BudgetNeeded BudgetCurve::needed(double tail) const {
  constexpr double never = std::numeric_limits<double>::infinity();
  BudgetNeeded needed{.smallest_run = points_.front().budget,
                      .largest_run = points_.back().budget,
                      .possible = never,
                      .budget = never,
                      .certain = never,
                      .more_than = 0};
  for (const auto& [budget, ratio] : points_) {
    if (ratio.contradicts(tail)) {  // certainly too small, and so is every smaller one
      needed.more_than = budget;
      needed.possible = never;
      continue;
    }
    needed.possible = std::min(needed.possible, budget);
    if (ratio.value <= 1) needed.budget = std::min(needed.budget, budget);
    if (ratio.interval(tail).high <= 1) needed.certain = std::min(needed.certain, budget);
  }
  return needed;
}

}  // namespace opshap::reporting
