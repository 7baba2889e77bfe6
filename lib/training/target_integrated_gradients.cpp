// Integrated gradients: what they are without labels of their own. Not the Shapley values in the limit, unless the
// operator is linear.

#include "estimators/diagonal.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> integrated_gradients(const networks::ExplainerRecipe& recipe) {
  constexpr std::int64_t pass = 3, usual_nodes = 16;
  const int nodes = label_nodes("integrated_gradients", recipe, pass, usual_nodes);
  const std::shared_ptr<const Estimator> estimator =
      estimators::integrated_gradients(estimators::Rule::gauss_legendre, nodes);
  return values_target(label_settings("integrated_gradients", recipe), [estimator, nodes](int) {
    return LabelRequest{.estimator = *estimator, .budget = {}, .evaluations = 2 + nodes * pass};
  });
}

}  // namespace opshap::training::targets
