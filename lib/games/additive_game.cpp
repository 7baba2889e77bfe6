#include "games/additive_game.hpp"

#include <utility>
#include <vector>

#include "games/unanimity_sum.hpp"

namespace opshap::games {

std::unique_ptr<SolvedGame> additive_game(std::span<const double> weights, double empty) {
  std::vector<UnanimityTerm> terms;
  for (std::size_t player = 0; player < weights.size(); ++player)
    terms.push_back({{static_cast<int>(player)}, weights[player]});
  return unanimity_sum(static_cast<int>(weights.size()), std::move(terms), empty);
}

std::unique_ptr<Game> random_additive_game(int players, Rng& rng) {
  std::vector<double> weights(static_cast<std::size_t>(players));
  for (double& weight : weights) weight = (static_cast<double>(rng.below(256)) - 128) / 64;
  return additive_game(weights, 1 + static_cast<double>(rng.below(64)) / 64);
}

}  // namespace opshap::games
