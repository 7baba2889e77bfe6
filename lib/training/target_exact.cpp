// Shapley values by enumeration.

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "training/target_values.hpp"

namespace opshap::training::targets {

std::unique_ptr<Target> exact(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("exact", recipe), [](int players) {
    constexpr int most = 16;
    require(players <= most, "explainer: target=exact, players=", players,
            " (a label takes 2^n evaluations, n <= ", most, "). Use it in a mixture with players = ", most,
            ", or two_level or mean_field instead.");
    return LabelRequest{
        .estimator = estimators::find("exact"), .budget = {}, .evaluations = std::int64_t{1} << players};
  });
}

}  // namespace opshap::training::targets
