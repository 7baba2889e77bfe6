#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/boosted_trees.hpp"
#include "estimators/coalition_sampler.hpp"

namespace opshap::estimators {

/// A sample of pairs with what the game says about it: all that a proxy may learn from.
struct SampledGains {
  CoalitionSample sample;
  Coalitions coalitions;      ///< the pairs, S at 2·row and N∖S at 2·row + 1
  std::vector<double> gains;  ///< v(S) − v(∅) of each of them
  double gain = 0;            ///< Δ = v(N) − v(∅)
};

/// Fits a game with known Shapley values to the rows of the sample whose weight, [m], is not 0; ∅ and N are always
/// known. Must be deterministic.
using FitProxy = std::function<std::unique_ptr<SolvedGame>(const SampledGains& gains, std::span<const double> weights)>;

/// Which coalitions the proxy of a coalition's residual has seen.
struct Folds {
  /// 1: all of them, that one too (in-sample). K >= 2: those of the other K−1 of K equal parts of the draws; then the
  /// estimate has no bias.
  int count = 1;
};

/// The Shapley values of a proxy f, corrected by a mean over the sample of what it misses, r = v − f:
///
///     φ̂ = ψ(f) + (r(N) − r(∅))/n + n Σ_rows w_S r(S) (1_S − s/n)
///
/// With folds the draws are dealt to K parts, the proxy of each part is fitted to the others, and the K estimates are
/// averaged. A draw's residual does not depend on the draw then, given its proxy, and the mean is that of maximum
/// sample reuse. Efficient on every sample, whatever the proxy. With draws of law q and an independent proxy the total
/// variance is (1/m) Σ_s (n/(s(n−s))) E_s[r²]/q_s, less squares of means. Source: Witter, Liu, Musco (2025),
/// "Regression-adjusted Monte Carlo estimators for Shapley values and probabilistic values". Cost: one proxy a fold,
/// fitted on several threads; O(m·n) for the correction. The same on any number of threads. Throws InvalidArgument
/// unless 1 <= folds, and for folds beyond one unless the sampler is iid and there is a draw for each.
Attribution regression_msr(CountedGame& game, Sampler sampler, SizeMass mass, Folds folds, const FitProxy& fit,
                           std::string_view who, Rng& rng);

/// Boosted trees as a proxy: v(S) − v(∅) of the coalitions of the sample, of ∅ and of N, each once and with equal
/// weight.
FitProxy tree_proxy(const Boosting& boosting = {});

}  // namespace opshap::estimators
