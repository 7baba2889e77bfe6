#pragma once

#include <memory>

#include "core/game.hpp"
#include "core/rng.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// v(S) = min(μ₁(S), μ₂(S)) for two measures of the same total.
///
/// φ_k = ½(μ₁ + μ₂)(B_k) at every refinement: the dual game is the maximum, and a game and its dual have the same
/// Shapley values. There is no diagonal formula, since the minimum has its kink on the whole diagonal. Throws
/// InvalidArgument unless the totals agree to 10⁻¹² and the cells are the same.
std::unique_ptr<SolvedGame> minimum_of_measures(Measure first, Measure second);

/// A measure and the same cells in another order.
std::unique_ptr<Game> random_minimum_of_measures(int players, Rng& rng);

}  // namespace opshap::games
