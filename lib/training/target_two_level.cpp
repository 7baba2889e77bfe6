// Noisy, unbiased values by slopes and few exact marginal contributions, weighed by their variance (stochastic
// amortisation, Covert et al. 2024).

#include <algorithm>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> two_level(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("two_level", recipe), [asked = recipe.label_evaluations](int players) {
    const Estimator& estimator = estimators::find("two_level");
    const std::int64_t least = estimator.minimum(players).coalitions;
    require(asked == 0 || asked >= least, "explainer: label_evaluations=", asked, " (two_level takes ", least, " for ",
            players, " players at the least). Raise it, or leave it out.");
    const std::int64_t budget = std::max(asked, least);
    const bool all = players < 62 && budget >= std::int64_t{1} << players;  // then it enumerates
    return LabelRequest{
        .estimator = estimator, .budget = {budget}, .evaluations = all ? std::int64_t{1} << players : budget};
  });
}

}  // namespace opshap::training::targets
