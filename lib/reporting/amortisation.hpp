#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// A method that needs no training: a sampling method at the smallest budget that was run and whose median NRMSE is not
/// above the explainer's, or one that is made of gradients.
struct TunedMethod {
  std::string method;
  std::optional<std::int64_t> budget;  ///< none of a method without one
  double evaluations = 0;  ///< backbone evaluations a sample, median: distinct coalitions, and passes_of() a reverse pass
  double nrmse = 0;        ///< median
  bool reached = false;    ///< it is as good as the explainer; of a sampling method that is not even at its largest
                           ///< budget, the cost is a lower bound
  std::optional<double> break_even;  ///< samples from which the explainer, training included, is cheaper; none when the
                                     ///< method is never dearer, or is not as good and so no alternative
};

/// When training an explainer pays off, in backbone evaluations, on one grid.
struct Amortisation {
  Discretisation on;
  std::set<std::int64_t> samples;  ///< the inputs of the budget curves: all medians are over them
  std::int64_t training_evaluations = 0;
  double explainer_evaluations = 0;  ///< a sample: v(∅) and v(N), for the normalisation
  double explainer_nrmse = 0;        ///< median
  std::vector<TunedMethod> methods;  ///< those that sample
  std::vector<TunedMethod> gradients;  ///< those that are made of gradients
};

/// What a reverse pass of a method costs, in evaluations: 6 of the two branches that the mean field follows, else 3
/// (CoalitionSlopes::pass_cost()).
double passes_of(std::string_view method);

/// On the grid of the paper's figure where that has budget curves, else on the last grid of the run that has some; none
/// without curves, explainer rows or its training row.
std::optional<Amortisation> amortisation(const Scoreboard& scores);

}  // namespace opshap::reporting
