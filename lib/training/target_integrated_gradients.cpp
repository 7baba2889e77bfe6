// Integrated gradients: what they are without labels of their own. Not the Shapley values in the limit, unless the
// operator is linear.

#include <algorithm>

#include "estimators/integrated_gradients.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> integrated_gradients(const ExplainerRecipe& recipe) {
  constexpr std::int64_t pass = 3, usual_nodes = 16;
  const std::int64_t nodes =
      recipe.label_evaluations > 0 ? std::max<std::int64_t>(1, recipe.label_evaluations / pass) : usual_nodes;
  const std::shared_ptr<const Estimator> estimator =
      estimators::integrated_gradients(estimators::Rule::gauss_legendre, static_cast<int>(nodes));
  return values_target(label_settings("integrated_gradients", recipe), [estimator, nodes](int) {
    return LabelRequest{.estimator = *estimator, .budget = {}, .evaluations = 2 + nodes * pass};
  });
}

}  // namespace opshap::training::targets
