#include "cli/family_game.hpp"

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "games/registry.hpp"

namespace opshap::cli {

NamedGame family_game(const std::string& who, const std::string& family, int players, std::uint64_t seed) {
  const games::Kind& kind = games::find(family);
  require(kind.random != nullptr, who, ": --game=", family,
          " (is made from an operator). Give --operator with --input and --query.");
  require(players >= 1 && players <= Coalitions::max_players, who, ": --players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number in that range.");
  Rng rng(seed, "game");
  return {.name = family, .game = kind.random(players, rng), .interaction_order = kind.properties.interaction_order};
}

}  // namespace opshap::cli
