#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// A kind of game.
struct Kind {
  std::string_view name;
  std::string_view summary;  ///< one line for `opshap list games`
  std::unique_ptr<Game> (*random)(int players,
                                  Rng& rng) = nullptr;  ///< a random instance; nullptr for games that need an operator
};

/// Every kind of game in registry.def.
const std::vector<Kind>& all();

}  // namespace opshap::games
