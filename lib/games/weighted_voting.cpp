#include "games/weighted_voting.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "games/function_of_measure.hpp"
#include "games/integer_cells.hpp"

namespace opshap::games {

std::unique_ptr<SolvedGame> weighted_voting(std::vector<int> weights, double quota) {
  require(std::isfinite(quota), "weighted_voting: quota=", quota, " (not finite). Give a number.");
  Measure measure = measure_of_integers(weights, "weighted_voting");
  const auto value = [quota](double x) { return x >= quota ? 1.0 : 0.0; };
  ScalarFunction f{.value = value, .slope = [](double) { return 0.0; }, .absolutely_continuous = false};
  return function_of_measure(std::move(measure), std::move(f), [weights = std::move(weights), value] {
    return shapley_values_on_integers(weights, value);
  });
}

std::unique_ptr<Game> random_weighted_voting(int players, Rng& rng) {
  std::vector<int> weights = random_integer_cells(players, 4, rng);
  const double quota = std::accumulate(weights.begin(), weights.end(), 0) * rng.uniform(0.25, 0.75);
  return weighted_voting(std::move(weights), quota);
}

}  // namespace opshap::games
