#include "games/kinked_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "games/classic_games.hpp"
#include "games/registry.hpp"
#include "games/unanimity.hpp"

namespace opshap::games {

namespace {

class MinimumOfMeasures final : public SolvedGame {
 public:
  MinimumOfMeasures(Measure first, Measure second) : first_(std::move(first)), second_(std::move(second)) {}

  int players() const override { return first_.players(); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values = first_.of(coalitions);
    const std::vector<double> others = second_.of(coalitions);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], others[i]);
    return values;
  }

  std::vector<double> shapley_values() const override {
    std::vector<double> shapley = first_.cells();
    for (std::size_t player = 0; player < shapley.size(); ++player)
      shapley[player] = (shapley[player] + second_[player]) / 2;
    return shapley;
  }

 private:
  Measure first_, second_;
};

}  // namespace

std::unique_ptr<SolvedGame> minimum_of_measures(Measure first, Measure second) {
  require(first.players() == second.players(), "minimum_of_measures: cells=", first.players(), " and ",
          second.players(), " (two measures of one partition). Give measures of the same cells.");
  const double one = first.total(), other = second.total();
  require(std::abs(one - other) <= 1e-12 * std::max(std::abs(one), std::abs(other)),
          "minimum_of_measures: totals=", one, " and ", other,
          " (the closed form needs equal ones). Scale one of the measures.");
  return std::make_unique<MinimumOfMeasures>(std::move(first), std::move(second));
}

/// A measure and the same cells in another order.
std::unique_ptr<Game> random_minimum_of_measures(int players, Rng& rng) {
  const Measure first = random_measure(players, rng);
  std::vector<int> order(static_cast<std::size_t>(players));
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  std::vector<double> cells;
  for (const int player : order) cells.push_back(first[static_cast<std::size_t>(player)]);
  return minimum_of_measures(first, Measure(std::move(cells)));
}

std::unique_ptr<SolvedGame> relu_of_measure(std::vector<int> cells, double kink) {
  require(std::isfinite(kink), "relu_of_measure: kink=", kink, " (not finite). Give a number.");
  Measure measure = measure_of_integers(cells, "relu_of_measure");
  const auto value = [kink](double x) { return std::max(x - kink, 0.0); };
  // At the kink itself, the slope towards μ(Ω).
  const bool upwards = measure.total() > 0;
  ScalarFunction f{.value = value,
                   .slope = [kink, upwards](double x) { return x > kink || (x == kink && upwards) ? 1.0 : 0.0; },
                   .smooth_at_ends = kink != 0 && kink != measure.total()};
  return function_of_measure(std::move(measure), std::move(f),
                             [cells = std::move(cells), value] { return shapley_values_on_integers(cells, value); });
}

/// Cells 1..4 with a kink between 1/4 and 3/4 of their total.
std::unique_ptr<Game> random_relu_of_measure(int players, Rng& rng) {
  std::vector<int> cells = random_integer_cells(players, 4, rng);
  const double kink = std::accumulate(cells.begin(), cells.end(), 0) * rng.uniform(0.25, 0.75);
  return relu_of_measure(std::move(cells), kink);
}

std::unique_ptr<SolvedGame> sign_of_measure(std::vector<int> cells) {
  Measure measure = measure_of_integers(cells, "sign_of_measure");
  require(measure.total() == 0, "sign_of_measure: total=", measure.total(),
          " (the jump is met by coalitions of every size only if the cells add up to 0). Balance the cells, or use "
          "weighted_voting.");
  const auto value = [](double x) { return x > 0 ? 1.0 : 0.0; };
  ScalarFunction f{.value = value, .slope = [](double) { return 0.0; }, .absolutely_continuous = false};
  return function_of_measure(std::move(measure), std::move(f),
                             [cells = std::move(cells), value] { return shapley_values_on_integers(cells, value); });
}

/// Pairs w, −w with w = 1..4; an odd player has 0.
std::unique_ptr<Game> random_sign_of_measure(int players, Rng& rng) {
  std::vector<int> cells(static_cast<std::size_t>(players), 0);
  for (std::size_t k = 0; k + 1 < cells.size(); k += 2) {
    cells[k] = 1 + static_cast<int>(rng.below(4));
    cells[k + 1] = -cells[k];
  }
  return sign_of_measure(std::move(cells));
}

std::unique_ptr<SolvedGame> point_mass_game(int players, int cell, double value, double empty) {
  require(players >= 1 && players <= Coalitions::max_players, "point_mass_game: players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number of players in that range.");
  require(cell >= 0 && cell < players, "point_mass_game: cell=", cell, " (players are 0..", players - 1,
          "). Give the player whose cell holds the point.");
  std::vector<double> weights(static_cast<std::size_t>(players), 0.0);
  weights[static_cast<std::size_t>(cell)] = value;
  return additive_game(weights, empty);
}

/// Any cell, v(∅) not 0.
std::unique_ptr<Game> random_point_mass_game(int players, Rng& rng) {
  const auto cell = static_cast<int>(rng.below(static_cast<std::uint64_t>(players)));
  return point_mass_game(players, cell, static_cast<double>(1 + rng.below(128)) / 64, 0.5);
}

}  // namespace opshap::games
