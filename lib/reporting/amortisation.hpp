#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// A sampling method at the smallest budget that was run and whose median NRMSE is not above the explainer's.
struct TunedMethod {
  std::string method;
  std::int64_t budget = 0;
  double evaluations = 0;            ///< backbone evaluations a sample: distinct coalitions, median
  double nrmse = 0;                  ///< median at that budget
  bool reached = false;              ///< false: not even the largest budget was enough, so the cost is a lower bound
  std::optional<double> break_even;  ///< samples from which the explainer, training included, is cheaper; none when the
                                     ///< method is never dearer, or is not as good and so no alternative
};

/// When training an explainer pays off, in backbone evaluations, on one grid.
struct Amortisation {
  Discretisation on;
  std::int64_t training_evaluations = 0;
  double explainer_evaluations = 0;  ///< a sample: v(∅) and v(N), for the normalisation
  double explainer_nrmse = 0;        ///< median on the inputs of the budget curves
  std::vector<TunedMethod> methods;
};

/// On the grid of the paper's figure where that has budget curves, else on the last grid of the run that has some; none
/// without curves, explainer rows or its training row.
std::optional<Amortisation> amortisation(const Scoreboard& scores);

}  // namespace opshap::reporting
