#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/claims_measurement.hpp"
#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// The budget at which a sampling method's median NRMSE is not above the explainer's, on the inputs of its curve.
/// Infinity where no budget that was run is large enough.
struct BudgetNeeded {
  double smallest_run = 0, largest_run = 0;
  double possible = 0;   ///< smallest budget where the interval of the ratio allows it, above more_than
  double budget = 0;     ///< smallest budget where the medians say so
  double certain = 0;    ///< smallest budget where the whole interval says so
  double more_than = 0;  ///< the largest budget that is certainly too small; 0 when the curve does not begin below it
};

/// A sampling method's median NRMSE over the explainer's at each of its budgets, ascending, one at least.
class BudgetCurve {
 public:
  /// None without rows of the explainer or of the method, with a budget and at least five inputs.
  static std::optional<BudgetCurve> of(const Scoreboard& scores, const Discretisation& on, std::string_view method);

  /// With intervals that leave `tail` on each side.
  BudgetNeeded needed(double tail = claims::Measurement::one_sided) const;

 private:
  static std::optional<BudgetCurve> make(const Scoreboard& scores, const Discretisation& on, std::string_view method);

  struct Point {
    double budget = 0;
    claims::Measurement ratio;
  };
  std::vector<Point> points_;
};

/// Those of a scoreboard that were asked for, by grid and method.
struct BudgetCurves {
  std::map<std::pair<Discretisation, std::string>, std::optional<BudgetCurve>> made;
};

}  // namespace opshap::reporting
