#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap {

/// A game with slopes that are its marginal contributions and an error of this size, which is another one for each
/// coalition and player; the mean slopes are those of no function. Refers to the game.
class GuessedSlopes final : public Game, public CoalitionSlopes {
 public:
  GuessedSlopes(const Game& game, double error) : game_(game), error_(error) {}

  int players() const override { return game_.players(); }
  const CoalitionSlopes* slopes() const override { return this; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return game_.values(coalitions); }

  std::vector<double> coalition_slopes(const Coalitions& coalitions) const override {
    Coalitions sides(players());
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      for (int player = 0; player < players(); ++player) {
        for (const bool with : {true, false}) {
          sides.append(coalitions.row(row));
          with ? sides.insert(sides.size() - 1, player) : sides.remove(sides.size() - 1, player);
        }
      }
    }
    const std::vector<double> values = game_.values(sides);
    std::vector<double> slopes(values.size() / 2);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const auto row = coalitions.row(i / static_cast<std::size_t>(players()));
      Rng guess(row[0], "guessed slopes", 0, i % static_cast<std::size_t>(players()));
      slopes[i] = values[2 * i] - values[2 * i + 1] + error_ * guess.normal();
    }
    return slopes;
  }

  std::vector<double> mean_slopes(std::span<const double> nodes) const override {
    std::vector<double> slopes;
    for (const double t : nodes)
      for (int player = 0; player < players(); ++player) slopes.push_back(std::sin(5 * t + player));
    return slopes;
  }

  std::int64_t pass_cost() const override { return 6; }

 private:
  const Game& game_;
  double error_;
};

}  // namespace opshap
