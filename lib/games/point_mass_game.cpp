#include "games/point_mass_game.hpp"

#include <cstddef>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "games/additive_game.hpp"

namespace opshap::games {

std::unique_ptr<SolvedGame> point_mass_game(int players, int cell, double value, double empty) {
  require(players >= 1 && players <= Coalitions::max_players, "point_mass_game: players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number of players in that range.");
  require(cell >= 0 && cell < players, "point_mass_game: cell=", cell, " (players are 0..", players - 1,
          "). Give the player whose cell holds the point.");
  std::vector<double> weights(static_cast<std::size_t>(players), 0.0);
  weights[static_cast<std::size_t>(cell)] = value;
  return additive_game(weights, empty);
}

std::unique_ptr<Game> random_point_mass_game(int players, Rng& rng) {
  const auto cell = static_cast<int>(rng.below(static_cast<std::uint64_t>(players)));
  return point_mass_game(players, cell, static_cast<double>(1 + rng.below(128)) / 64, 0.5);
}

}  // namespace opshap::games
