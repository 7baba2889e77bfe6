#include "games/sign_of_measure.hpp"

#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "games/function_of_measure.hpp"
#include "games/integer_cells.hpp"

namespace opshap::games {

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

std::unique_ptr<Game> random_sign_of_measure(int players, Rng& rng) {
  std::vector<int> cells(static_cast<std::size_t>(players), 0);
  for (std::size_t k = 0; k + 1 < cells.size(); k += 2) {
    cells[k] = 1 + static_cast<int>(rng.below(4));
    cells[k + 1] = -cells[k];
  }
  return sign_of_measure(std::move(cells));
}

}  // namespace opshap::games
