#include "core/estimator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.hpp"

namespace opshap {

Attribution attribute(const Estimator& estimator, const Game& game, Budget budget, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t all = CountedGame(game, {}).all_coalitions();
  const std::int64_t minimum = std::min(estimator.minimum(game.players()).coalitions, all);
  const bool uses_budget = estimator.guarantees().uses_budget();
  require(!uses_budget || budget.coalitions >= minimum, estimator.name(), ": budget=", budget.coalitions,
          " (needs at least ", minimum, " coalitions for n=", game.players(), " players). Raise the budget.");
  CountedGame counted(game, {uses_budget ? std::min(budget.coalitions, all) : minimum});
  Rng rng(seed, estimator.name());
  Attribution attribution = estimator.estimate(counted, rng);
  attribution.distinct = counted.distinct();
  attribution.evaluations = counted.evaluations();
  attribution.gradients = counted.gradients();
  attribution.game_seconds = counted.seconds();
  attribution.estimator_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - counted.seconds();
  for (std::size_t player = 0; player < attribution.values.size(); ++player) {
    require<NumericalError>(
        std::isfinite(attribution.values[player]), estimator.name(), ": value=", attribution.values[player],
        " (player ", player,
        " has no finite value). This is a numerical failure of the method; raise the budget or use another one.");
  }
  return attribution;
}

}  // namespace opshap
