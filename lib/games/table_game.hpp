#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// The most players of a table: 2^30 values take 8 GiB.
inline constexpr int max_table_game_players = 30;

/// A game given by all its 2^n values; bit i of the index says whether player i is in.
///
/// Throws InvalidArgument unless 1 <= players <= 30 and there are 2^players values.
std::unique_ptr<Game> table_game(int players, std::vector<double> values);

/// Values uniform on the multiples of 1/64 in [-2, 2), so that sums of them are exact.
std::unique_ptr<Game> random_table_game(int players, Rng& rng);

}  // namespace opshap::games
