#include "core/estimator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace opshap {

double Attribution::efficiency_gap() const {
  return std::accumulate(values.begin(), values.end(), 0.0) - (grand - empty);
}

namespace {

/// What the estimator finds in the unit of the door. A number that is too large for the unit starts it again, on the
/// same random numbers and with what is known of the game.
Attribution in_units(const Estimator& estimator, CountedGame& counted, std::uint64_t seed) {
  for (;;) {
    Rng rng(seed, estimator.name());
    try {
      return estimator.estimate(counted, rng);
    } catch (const CountedGame::Outgrown& outgrown) {
      counted.restart(outgrown);
    }
  }
}

/// Refuses a result with a number that is not finite, or with a negative standard error. `why` says what that means.
void require_numbers(std::string_view who, const Attribution& found, std::string_view why) {
  for (std::size_t player = 0; player < found.values.size(); ++player) {
    require<NumericalError>(std::isfinite(found.values[player]), who, ": value=", found.values[player], " (player ",
                            player, why);
    if (!found.standard_errors) continue;
    const double error = (*found.standard_errors)[player];
    require<NumericalError>(std::isfinite(error) && error >= 0, who, ": standard_error=", error, " (player ", player,
                            why);
  }
}

}  // namespace

Attribution attribute(const Estimator& estimator, const Game& game, Budget budget, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t all = CountedGame(game, {}).all_coalitions();
  const std::int64_t minimum = std::min(estimator.minimum(game.players()).coalitions, all);
  const bool uses_budget = estimator.guarantees().uses_budget();
  require(!uses_budget || budget.coalitions >= minimum, estimator.name(), ": budget=", budget.coalitions,
          " (needs at least ", minimum, " coalitions for n=", game.players(), " players). Raise the budget.");
  CountedGame counted(game, {uses_budget ? std::min(budget.coalitions, all) : minimum}, Units::scaled);
  Attribution attribution = in_units(estimator, counted, seed);
  require_numbers(
      estimator.name(), attribution,
      " has no finite value or standard error). This is a numerical failure of the method. Use another one.");
  const Scale& scale = counted.scale();
  attribution.values = scale.outside(std::move(attribution.values));
  if (attribution.standard_errors) attribution.standard_errors = scale.outside(*std::move(attribution.standard_errors));
  if (attribution.second_order) {
    attribution.second_order->first_order = scale.outside(std::move(attribution.second_order->first_order));
    attribution.second_order->correction = scale.outside(std::move(attribution.second_order->correction));
  }
  attribution.empty = counted.ends().front();
  attribution.grand = counted.ends().back();
  attribution.distinct = counted.distinct();
  attribution.evaluations = counted.evaluations();
  attribution.gradients = counted.gradients();
  attribution.forward_equivalents = counted.forward_equivalents();
  attribution.game_seconds = counted.seconds();
  attribution.estimator_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - counted.seconds();
  require_numbers(estimator.name(), attribution,
                  " has one beyond the largest double, as the game's values are near it). Divide the game by 1024.");
  return attribution;
}

}  // namespace opshap
