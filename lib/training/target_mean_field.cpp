// Values of the mean-field closure, which need no sampling: off by O(1/n), the same at each sample.

#include "estimators/diagonal.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> mean_field(const networks::ExplainerRecipe& recipe) {
  constexpr std::int64_t pass = 6, usual_nodes = 8;
  const int nodes = label_nodes("mean_field", recipe, pass, usual_nodes);
  const std::shared_ptr<const Estimator> estimator = estimators::mean_field(nodes);
  return values_target(label_settings("mean_field", recipe), [estimator, nodes](int) {
    return LabelRequest{.estimator = *estimator, .budget = {}, .evaluations = 2 + nodes * pass};
  });
}

}  // namespace opshap::training::targets
