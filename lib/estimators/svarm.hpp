#pragma once

#include <cstdint>
#include <span>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/stratified.hpp"

namespace opshap::estimators {

/// Values instead of marginal contributions, by size: φ_i = (1/n)(Σ_s E[v(S) | i ∈ S, |S| = s] − Σ_s E[v(S) | i ∉ S,
/// |S| = s]).
///
/// Sizes 0, 1, n−1 and n are exact. A warm-up gives every other mean one value, by dealing the players to groups of
/// each size, and to groups that are left out. Then `counts[s]` coalitions of size s are chosen, each of which serves
/// the means of its members and those of the others. No mean is ever empty, so nothing is biased, whatever the counts,
/// [n+1]. Standard errors when every mean has two values. n >= 3.
Attribution svarm_means(CountedGame& game, std::span<const std::int64_t> counts, const UniformChoices& choices);

}  // namespace opshap::estimators
