// The rate at which sampling estimators' errors fall: every registered one against what its guarantees say.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "games/unanimity_sum.hpp"
#include "reporting/evidence.hpp"
#include "statistics/study.hpp"

namespace opshap {
namespace {

constexpr int players = 40;
constexpr int replicates = 48;
/// Of methods that learn the slope is only bounded, which fewer replicates show; a fit takes them a hundred times as long.
constexpr int replicates_of_learners = 4;

/// Interactions of three to five players: no method is exact, and no size but the smallest two is ever enumerated.
std::unique_ptr<SolvedGame> interacting_game(std::uint64_t item) {
  Rng rng(12, "interacting", 0, item);
  std::vector<UnanimityTerm> terms(200);
  for (UnanimityTerm& term : terms) {
    std::vector<int> all(players);
    for (int player = 0; player < players; ++player) all[static_cast<std::size_t>(player)] = player;
    rng.shuffle(all);
    term.coalition.assign(all.begin(), all.begin() + 3 + static_cast<std::ptrdiff_t>(rng.below(3)));
    term.coefficient = rng.normal();
  }
  return unanimity_sum(players, std::move(terms));
}

double mean_squared_error(const Estimator& estimator, Budget budget, int replicates) {
  double sum = 0;
  for (std::uint64_t replicate = 0; replicate < static_cast<std::uint64_t>(replicates); ++replicate) {
    const auto game = interacting_game(replicate % 4);
    const std::vector<double> exact = game->shapley_values();
    const Attribution found = attribute(estimator, *game, budget, replicate);
    for (std::size_t player = 0; player < exact.size(); ++player)
      sum += std::pow(found.values[player] - exact[player], 2);
  }
  return sum / replicates;
}

TEST(MonteCarloRate, MeanSquaredErrorFallsAtThePromisedRate) {
  Evidence evidence{.name = "monte_carlo_rate",
                    .title = "Mean squared errors of sampling estimators against their budgets",
                    .finding =
                        "Forty players, interactions of three to five of them. Every slope is the promised one within "
                        "0.1, or steeper for methods "
                        "that learn a proxy from the sample.",
                    .studies = {}};
  for (const auto& estimator : estimators::all()) {
    const double rate = estimator->guarantees().mse_rate;
    const bool learns = estimator->guarantees().learns;
    if (rate == exact_rate || rate == 0) continue;
    Study study(std::string(estimator->name()), "budget", "mean squared error");
    // Below eighty coalitions per player the slope still shows the second order of regression's law, and the warm-up of strata.
    const std::int64_t first =
        std::max<std::int64_t>((learns ? 40 : 80) * players, estimator->minimum(players).coalitions);
    for (std::int64_t budget = first; budget <= (learns ? 4 : 8) * first; budget *= 2) {
      study.add(static_cast<double>(budget),
                mean_squared_error(*estimator, {budget}, learns ? replicates_of_learners : replicates));
    }
    const Fit fit = study.fit();
    evidence.studies.push_back(study);
    EXPECT_LT(fit.slope, -rate + 0.1) << study.markdown();
    if (learns) continue;  // a proxy that gets better with the budget makes the error fall faster
    EXPECT_LT(fit.slope_error, 0.05) << "not a straight line\n" << study.markdown();
    EXPECT_GT(fit.slope, -rate - 0.1) << study.markdown();
  }
  publish(evidence);
}

}  // namespace
}  // namespace opshap
