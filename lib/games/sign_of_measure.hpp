#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = 1 where μ(S) > 0, else 0, for a signed measure with integer cells and μ(Ω) = 0: of unbounded variation,
/// without any value.
///
/// Shapley values by shapley_values_on_integers. The sums hover around the jump for every t, so with refinement they
/// grow without bound: φ_k ≈ μ_k √(π/(2M₂)), M₂ = Σ μ_j². Throws InvalidArgument unless the cells add up to 0, and as
/// measure_of_integers.
std::unique_ptr<SolvedGame> sign_of_measure(std::vector<int> cells);

/// Pairs w, −w with w = 1..4; an odd player has 0.
std::unique_ptr<Game> random_sign_of_measure(int players, Rng& rng);

}  // namespace opshap::games
