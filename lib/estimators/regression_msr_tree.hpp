#pragma once

#include "estimators/boosted_trees.hpp"
#include "estimators/regression_msr.hpp"

namespace opshap::estimators {

/// Boosted trees as a proxy: v(S) − v(∅) of the coalitions of the sample, of ∅ and of N, each once and with equal
/// weight.
FitProxy tree_proxy(const Boosting& boosting = {});

}  // namespace opshap::estimators
