#pragma once

#include <optional>
#include <string_view>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// The budget at which a sampling method's median NRMSE is not above the explainer's, on the inputs of its curve.
/// Infinity where no budget that was run is large enough.
struct BudgetNeeded {
  double smallest_run = 0, largest_run = 0;
  double possible = 0;   ///< smallest budget where the 95 % interval of the ratio allows it, above more_than
  double budget = 0;     ///< smallest budget where the medians say so
  double certain = 0;    ///< smallest budget where the whole interval says so
  double more_than = 0;  ///< the largest budget that is certainly too small; 0 when the curve does not begin below it
};

/// None without rows of the explainer or of the method, with a budget and at least five inputs.
std::optional<BudgetNeeded> budget_needed(const Scoreboard& scores, const Discretisation& on, std::string_view method);

}  // namespace opshap::reporting
