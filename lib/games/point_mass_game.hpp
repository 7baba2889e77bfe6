#pragma once

#include <memory>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = v(∅) + value where the cell is in S: an operator that reads its input at one point, such as advection or a
/// reaction without diffusion.
///
/// All the value is that cell's, however small it is: the density is value/|B| there, 0 elsewhere, and has no limit.
/// Throws InvalidArgument unless cell is one of the players.
std::unique_ptr<SolvedGame> point_mass_game(int players, int cell, double value, double empty = 0);

/// Any cell, v(∅) not 0.
std::unique_ptr<Game> random_point_mass_game(int players, Rng& rng);

}  // namespace opshap::games
