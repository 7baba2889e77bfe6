#include "games/relu_of_measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "games/function_of_measure.hpp"
#include "games/integer_cells.hpp"

namespace opshap::games {

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

std::unique_ptr<Game> random_relu_of_measure(int players, Rng& rng) {
  std::vector<int> cells = random_integer_cells(players, 4, rng);
  const double kink = std::accumulate(cells.begin(), cells.end(), 0) * rng.uniform(0.25, 0.75);
  return relu_of_measure(std::move(cells), kink);
}

}  // namespace opshap::games
