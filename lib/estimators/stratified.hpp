#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::estimators {

/// The random decisions of an estimator. Each is uniform on a finite set, so what is usually drawn can also be gone
/// through without exception.
struct UniformChoices {
  std::function<std::uint64_t(std::uint64_t bound)> below;  ///< one of 0..bound−1
  std::function<void(std::span<int> ordering)> ordering;    ///< fills it with an ordering of 0..size−1
  std::function<void(int size, std::span<std::uint64_t> row)>
      members;  ///< puts so many of the players into an empty row
};

/// Choices drawn from `rng`, which must outlive them; `members` are some of the first `players` players, at least two.
UniformChoices random_choices(Rng& rng, int players);

/// φ_i as the mean over sizes ℓ = 0..n−1 of the mean marginal contribution v(S ∪ i) − v(S) with |S| = ℓ, each stratum
/// (i, ℓ) with a sample of its own.
///
/// Sizes 0 and n−1 have one coalition each and are exact. The other n(n−2) strata get equally many of the draws up to
/// one, and need one each; `others` chooses members from n−1 players. Asks the game for 2 + 2n + 2·draws coalitions.
/// Standard errors from two draws a stratum on. n >= 2.
Attribution stratified_means(CountedGame& game, std::int64_t draws, const UniformChoices& others);

}  // namespace opshap::estimators
