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
class GuessedSlopes final : public Game, public Extension {
 public:
  GuessedSlopes(const Game& game, double error) : game_(game), error_(error) {}

  int players() const override { return game_.players(); }
  const Extension* extension() const override { return this; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return game_.values(coalitions); }

  std::vector<double> gradients(std::span<const double> points) const override {
    const auto n = static_cast<std::size_t>(players());
    std::vector<double> slopes(points.size());
    for (std::size_t first = 0; first < points.size(); first += n) {
      const auto point = points.subspan(first, n);
      if (point.front() != 0 && point.front() != 1) {
        for (std::size_t player = 0; player < n; ++player)
          slopes[first + player] = std::sin(5 * point.front() + static_cast<double>(player));
        continue;
      }
      Coalitions sides(players());
      for (int player = 0; player < players(); ++player) {
        for (const bool with : {true, false}) {
          sides.append_empty();
          for (int other = 0; other < players(); ++other) {
            const bool in = other == player ? with : point[static_cast<std::size_t>(other)] == 1;
            if (in) sides.insert(sides.size() - 1, other);
          }
        }
      }
      const std::vector<double> values = game_.values(sides);
      for (std::size_t player = 0; player < n; ++player) {
        // With and without the first player the row of the coalition is the same but for one bit.
        const auto row = sides.row(point.front() == 1 ? 0 : 1);
        Rng guess(row[0], "guessed slopes", 0, player);
        slopes[first + player] = values[2 * player] - values[2 * player + 1] + error_ * guess.normal();
      }
    }
    return slopes;
  }

  std::int64_t pass_cost() const override { return 6; }

 private:
  const Game& game_;
  double error_;
};

}  // namespace opshap
