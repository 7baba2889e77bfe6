#include "reporting/budget_needed.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "reporting/claims_measurement.hpp"

namespace opshap::reporting {

std::optional<BudgetNeeded> budget_needed(const Scoreboard& scores, const Discretisation& on, std::string_view method) {
  const Cell* explainer = scores.cell(on, claims::explainer);
  const std::vector<Cell> curve = scores.curve(on, method, 1);
  if (explainer == nullptr || curve.empty()) return std::nullopt;
  constexpr double never = std::numeric_limits<double>::infinity();
  BudgetNeeded needed{.smallest_run = static_cast<double>(*curve.front().budget),
                      .largest_run = static_cast<double>(*curve.back().budget),
                      .possible = never,
                      .budget = never,
                      .certain = never,
                      .more_than = 0};
  for (const Cell& cell : curve) {
    const std::array<const Cell*, 2> cells = {&cell, explainer};
    const auto excess =
        claims::measure("", PairedScores::of(cells, "nrmse"), claims::ratio_of_two, 1, claims::Side::at_most);
    if (!excess) return std::nullopt;
    const auto budget = static_cast<double>(*cell.budget);
    if (excess->interval.low > 1) {  // certainly too small, and so is every smaller one
      needed.more_than = budget;
      needed.possible = never;
      continue;
    }
    needed.possible = std::min(needed.possible, budget);
    if (excess->value <= 1) needed.budget = std::min(needed.budget, budget);
    if (excess->interval.high <= 1) needed.certain = std::min(needed.certain, budget);
  }
  return needed;
}

}  // namespace opshap::reporting
