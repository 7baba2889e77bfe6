#pragma once

#include <memory>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = value where S = N, else 0: worth something only if every cell is there. φ_k = value/n whatever the cells'
/// sizes.
///
/// A region gets its share of the number of cells, so the limit is that of the refinement, not of the game; 1[λ(S) =
/// λ(Ω)] jumps at the end of the diagonal. Throws InvalidArgument unless players is in 1..Coalitions::max_players and
/// the value is finite.
std::unique_ptr<SolvedGame> unanimity_game(int players, double value);

/// A value in (0, 2].
std::unique_ptr<Game> random_unanimity_game(int players, Rng& rng);

}  // namespace opshap::games
