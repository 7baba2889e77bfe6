#pragma once

#include <cstdint>
#include <memory>

#include "core/game.hpp"

namespace opshap::cli {

/// The game with progress in coalitions and their rate on standard error, once it has taken some seconds. `most` is how
/// many coalitions will be asked for at most. The game is referred to. Throws Stopped between blocks of coalitions
/// after a signal.
std::unique_ptr<Game> shown_game(const Game& game, std::int64_t most);

}  // namespace opshap::cli
