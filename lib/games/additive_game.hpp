#pragma once

#include <memory>
#include <span>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = v(∅) + Σ_{i∈S} w_i, the game of a linear operator; φ = w. Gradients as unanimity_sum.
std::unique_ptr<SolvedGame> additive_game(std::span<const double> weights, double empty = 0);

/// Weights multiples of 1/64 in [-2, 2), v(∅) not 0.
std::unique_ptr<Game> random_additive_game(int players, Rng& rng);

}  // namespace opshap::games
