#pragma once

#include <memory>

#include "core/estimator.hpp"

namespace opshap::estimators {

/// The paired regression of kernel_shap_paired in the form that can be pooled: the normal matrix is replaced with its
/// mean, a multiple of the identity, so there is no bias and no system to solve.
///
/// φ̂ = Δ/n + n Σ_pairs w_S (v(S) − v(N∖S))/2·(1_S − s/n), over pairs of coalitions without replacement. Pairs of each
/// size are as many as 1/√(s(n−s)) says, and all of a size where there are no more. The estimate is linear in the game,
/// and all of the values' size is in its variance. So whoever asks takes a known additive part off the game first, and
/// adds it to the values again: with the Shapley values themselves as that part the variance is that of the regression.
/// Any part leaves the mean as it is (Witter, Liu, Musco 2025). On the game as it is, kernel_shap_paired is better:
/// this is no method for users and not in the registry.
///
/// Cost: the budget, O(m·n). Exact where all coalitions may be evaluated. No standard errors: a sample without
/// replacement is one draw. Minimum: a pair for each two sizes.
std::unique_ptr<Estimator> paired_regression();

}  // namespace opshap::estimators
