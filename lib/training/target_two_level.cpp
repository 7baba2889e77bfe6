// Noisy, unbiased values by slopes and few exact marginal contributions, weighed by their variance (stochastic
// amortisation, Covert et al. 2024).

#include <algorithm>

#include "estimators/registry.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> two_level(const ExplainerRecipe& recipe) {
  return values_target(label_settings("two_level", recipe), [asked = recipe.label_evaluations](int players) {
    const Estimator& estimator = estimators::find("two_level");
    const std::int64_t budget = std::max(asked, estimator.minimum(players).coalitions);
    const bool all = players < 62 && budget >= std::int64_t{1} << players;  // then it enumerates
    return LabelRequest{
        .estimator = estimator, .budget = {budget}, .evaluations = all ? std::int64_t{1} << players : budget};
  });
}

}  // namespace opshap::training::targets
