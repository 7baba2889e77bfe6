#include "games/unanimity_game.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.hpp"

namespace opshap::games {

namespace {

class UnanimityGame final : public SolvedGame {
 public:
  UnanimityGame(int players, double value) : players_(players), value_(value) {}

  int players() const override { return players_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (coalitions.cardinality(i) == players_) values[i] = value_;
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    return std::vector<double>(static_cast<std::size_t>(players_), value_ / players_);
  }

 private:
  int players_;
  double value_;
};

}  // namespace

std::unique_ptr<SolvedGame> unanimity_game(int players, double value) {
  require(players >= 1 && players <= Coalitions::max_players, "unanimity_game: players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number of players in that range.");
  require(std::isfinite(value), "unanimity_game: value=", value, " (not finite). Give a number.");
  return std::make_unique<UnanimityGame>(players, value);
}

std::unique_ptr<Game> random_unanimity_game(int players, Rng& rng) {
  return unanimity_game(players, static_cast<double>(1 + rng.below(64)) / 32);
}

}  // namespace opshap::games
