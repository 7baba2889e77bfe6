#include "games/minimum_of_measures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.hpp"

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

std::unique_ptr<Game> random_minimum_of_measures(int players, Rng& rng) {
  const Measure first = random_measure(players, rng);
  std::vector<int> order(static_cast<std::size_t>(players));
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  std::vector<double> cells;
  for (const int player : order) cells.push_back(first[static_cast<std::size_t>(player)]);
  return minimum_of_measures(first, Measure(std::move(cells)));
}

}  // namespace opshap::games
