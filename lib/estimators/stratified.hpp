#pragma once

#include <cstdint>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/uniform_choices.hpp"

namespace opshap::estimators {

/// φ_i as the mean over sizes ℓ = 0..n−1 of the mean marginal contribution v(S ∪ i) − v(S) with |S| = ℓ, each stratum
/// (i, ℓ) with a sample of its own.
///
/// Sizes 0 and n−1 have one coalition each and are exact. The other n(n−2) strata get equally many of the draws up to
/// one, and need one each; `others` chooses members from n−1 players. Asks the game for 2 + 2n + 2·draws coalitions.
/// Standard errors from two draws a stratum on. n >= 2.
Attribution stratified_means(CountedGame& game, std::int64_t draws, const UniformChoices& others);

}  // namespace opshap::estimators
