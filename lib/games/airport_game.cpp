#include "games/airport_game.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace opshap::games {

namespace {

class AirportGame final : public SolvedGame {
 public:
  explicit AirportGame(std::vector<double> costs) : costs_(std::move(costs)) {}

  int players() const override { return static_cast<int>(costs_.size()); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = coalitions.row(i);
      for (std::size_t word = 0; word < row.size(); ++word) {
        for (std::uint64_t rest = row[word]; rest != 0; rest &= rest - 1)
          values[i] = std::max(values[i], costs_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))]);
      }
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    std::vector<std::size_t> by_cost(costs_.size());
    std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
    std::sort(by_cost.begin(), by_cost.end(), [this](std::size_t a, std::size_t b) { return costs_[a] < costs_[b]; });
    std::vector<double> shapley(costs_.size());
    double share = 0, below = 0;
    for (std::size_t place = 0; place < by_cost.size(); ++place) {
      const double cost = costs_[by_cost[place]];
      share += (cost - below) / static_cast<double>(by_cost.size() - place);
      below = cost;
      shapley[by_cost[place]] = share;
    }
    return shapley;
  }

 private:
  std::vector<double> costs_;
};

}  // namespace

std::unique_ptr<SolvedGame> airport_game(std::vector<double> costs) {
  require(!costs.empty() && costs.size() <= Coalitions::max_players, "airport_game: players=", costs.size(),
          " (needs 1..", Coalitions::max_players, "). Give one cost a player.");
  for (std::size_t player = 0; player < costs.size(); ++player)
    require(std::isfinite(costs[player]) && costs[player] >= 0, "airport_game: cost=", costs[player], " (player ",
            player, "; costs are finite and not negative). Give a runway length.");
  return std::make_unique<AirportGame>(std::move(costs));
}

std::unique_ptr<Game> random_airport_game(int players, Rng& rng) {
  std::vector<double> costs(static_cast<std::size_t>(players));
  for (double& cost : costs) cost = static_cast<double>(1 + rng.below(64)) / 32;
  return airport_game(std::move(costs));
}

}  // namespace opshap::games
