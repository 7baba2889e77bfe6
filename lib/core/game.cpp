#include "core/game.hpp"

#include "core/error.hpp"

namespace opshap {

std::vector<double> Game::values(const Coalitions& coalitions) const {
  require(coalitions.players() == players(), "game: coalitions of players=", coalitions.players(), " (the game has ",
          players(), " players). Make the batch with Coalitions(", players(), ").");
  return evaluate(coalitions);
}

}  // namespace opshap
