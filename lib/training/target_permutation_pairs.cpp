// Noisy, unbiased values by a few orderings of the players, each with its reverse, weighed by their variance
// (stochastic amortisation, Covert et al. 2024).

#include <algorithm>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> permutation_pairs(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("permutation_pairs", recipe), [asked = recipe.label_evaluations](int players) {
    constexpr std::int64_t fewest = 2;  // for a variance
    const std::int64_t pair = 2 * std::max<std::int64_t>(1, players - 1);
    require(asked == 0 || asked >= 2 + fewest * pair, "explainer: label_evaluations=", asked,
            " (two pairs of orderings of ", players, " players take ", 2 + fewest * pair,
            "). Raise it, or leave it out.");
    const std::int64_t cost = 2 + pair * std::max(fewest, (asked - 2) / pair);
    return LabelRequest{.estimator = estimators::find("permutation_antithetic"), .budget = {cost}, .evaluations = cost};
  });
}

}  // namespace opshap::training::targets
