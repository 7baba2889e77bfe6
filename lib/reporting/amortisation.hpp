#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// A method without training, and what a sample costs it. A sampling method is taken at the smallest budget that was
/// run and whose median NRMSE is not above the explainer's; methods of gradients have no budget.
struct TunedMethod {
  std::string method;
  std::optional<std::int64_t> budget;  ///< of a sampling method
  double evaluations = 0;              ///< a sample: forward equivalents, median
  double nrmse = 0;                    ///< median at that budget
  bool reached = false;                ///< false: not even the largest budget was enough, so the cost is a lower bound
  std::optional<double> break_even;  ///< samples from which the explainer, training included, is cheaper; none when the
                                     ///< method is never dearer, or is not as good and so no alternative
};

/// A trained explainer, and what it costs.
struct TrainedExplainer {
  std::string method;
  std::int64_t training_evaluations = 0;
  double evaluations = 0;  ///< a sample: v(∅) and v(N), for the normalisation, and the passes of its base
  double nrmse = 0;        ///< median
};

/// When training an explainer pays off, in backbone evaluations, on one grid. All medians are over the inputs of the
/// budget curves.
struct Amortisation {
  Discretisation on;
  std::set<std::int64_t> samples;            ///< the inputs of the medians
  std::vector<TunedMethod> methods;          ///< those that sample
  std::vector<TunedMethod> of_gradients;     ///< those that see gradients
  std::vector<TrainedExplainer> explainers;  ///< the first one of the rows, then the others in the order of display

  const TrainedExplainer& explainer() const { return explainers.front(); }
};

/// On the grid of the paper's figure where that has budget curves, else on the last grid of the run that has some; none
/// without curves, explainer rows or its training row.
std::optional<Amortisation> amortisation(const Scoreboard& scores);

}  // namespace opshap::reporting
