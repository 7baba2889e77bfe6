// Estimates that grow have no bias whatever is known beforehand, keep to their budgets, and state errors that hold.

#include "evaluation/growing_estimates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/measured.hpp"
#include "core/rng.hpp"
#include "estimators/registry.hpp"
#include "estimators/spread.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/registry.hpp"
#include "support/test_seed.hpp"
#include "support/values_alone.hpp"

namespace opshap {
namespace {

using evaluation::GrowingEstimate;
using evaluation::WatchedGame;

/// Beyond so many standard errors a normal number is once in 5e8 draws.
constexpr double six_sigma = 6;

std::vector<double> exact_values(const Game& game) { return attribute(estimators::find("exact"), game, {}, 1).values; }

/// An attribution that is wrong by this part of the truth's size, and adds up to what it must.
std::vector<double> known_to(const std::vector<double>& truth, double error, Rng& rng) {
  std::vector<double> known = truth;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < known.size(); ++i) {
    const double off = error * norm(truth) * rng.normal();
    known[i] += off;
    sum += off;
  }
  known.back() -= sum;
  return known;
}

std::unique_ptr<GrowingEstimate> regression(const WatchedGame& game, std::uint64_t seed) {
  return evaluation::growing_regression(game, evaluation::reference_regression(), seed);
}

// Two steps, the second of which knows what the first has found: as references have it. What is known at first is right
// or far off.
TEST(GrowingRegression, HasNoBiasAndHonestErrorsWhateverIsKnown) {
  Rng rng(test_seed(), "regression");
  const auto table = games::random_table_game(8, rng);
  const std::vector<double> truth = exact_values(*table);
  for (const double error : {0.0, 0.1, 3.0}) {
    constexpr int runs = 400;
    std::vector<estimators::Spread> off(truth.size());
    double squared = 0, claimed = 0;
    for (int run = 0; run < runs; ++run) {
      const WatchedGame game(*table);
      const auto growing = regression(game, test_seed() * 1000 + static_cast<std::uint64_t>(run));
      growing->grow(growing->least(), 0, game.scale().inside(known_to(truth, error, rng)));
      growing->grow(200, 1, growing->attribution().values);
      const Attribution found = growing->attribution();
      for (std::size_t i = 0; i < truth.size(); ++i) {
        const double apart = game.scale().outside(found.values[i]) - truth[i];
        off[i].add(apart);
        squared += apart * apart;
        claimed += std::pow(game.scale().outside((*found.standard_errors)[i]), 2);
      }
    }
    for (const estimators::Spread& spread : off)
      EXPECT_LT(std::abs(spread.mean), six_sigma * std::sqrt(spread.variance_of_mean())) << error << replay();
    // The mean of 400 squared norms of 7 directions: a relative deviation of √(2/(400·7)) = .027, and as much for the
    // claims, whose degrees of freedom are three or more times as many.
    EXPECT_NEAR(1, claimed / squared, 6 * 0.04) << error << replay();
  }
}

TEST(GrowingRegression, IsBetterThanOrderingsOnGamesOfVotes) {
  Rng rng(test_seed(), "votes");
  const auto game = games::find("sign_of_measure").random(32, rng);
  const auto& solved = dynamic_cast<const SolvedGame&>(*game);
  double of_regression = 0, of_orderings = 0;
  for (std::uint64_t run = 0; run < 10; ++run) {
    const ValuesAlone values(*game);
    const WatchedGame watched(values);
    const auto orderings =
        evaluation::growing_orderings(watched, estimators::find("permutation_antithetic"), test_seed() * 100 + run);
    orderings->grow(4000, 0, {});
    const auto growing = regression(watched, test_seed() * 100 + run);
    growing->grow(1000, 0, orderings->attribution().values);
    growing->grow(3000, 1, growing->attribution().values);
    const auto squared = [&](const GrowingEstimate& estimate) {
      return std::pow(distance(watched.scale().outside(estimate.attribution().values), solved.shapley_values()), 2);
    };
    of_regression += squared(*growing);
    of_orderings += squared(*orderings);
  }
  // Measured are four to six times.
  EXPECT_LT(2 * of_regression, of_orderings) << replay();
}

TEST(GrowingEstimates, KeepToTheirBudgets) {
  for (const int players : {20, 33, 100}) {  // where all coalitions are more than any step asks for
    Rng rng(test_seed(), "budgets");
    const auto game = games::random_unanimity_sum(players, rng);
    const auto none = std::vector<double>(static_cast<std::size_t>(players), 0.0);
    using Make = std::function<std::unique_ptr<GrowingEstimate>(const WatchedGame&)>;
    const Make makers[] = {
        [](const WatchedGame& of) {
          return evaluation::growing_orderings(of, estimators::find("permutation_antithetic"), 1);
        },
        [](const WatchedGame& of) { return evaluation::growing_two_level(of, estimators::find("two_level"), 1); },
        [](const WatchedGame& of) { return regression(of, 1); }};
    for (const Make& make : makers) {
      const WatchedGame watched(*game);
      const auto growing = make(watched);
      EXPECT_LE(growing->least(), growing->telling());
      EXPECT_LE(growing->least(), growing->first());
      std::int64_t allowed = 0;
      int step = 0;
      for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}, std::int64_t{777}}) {
        const std::int64_t budget = growing->least() + more;
        allowed += budget;
        growing->grow(budget, step++, none);
        EXPECT_LE(watched.charged(), allowed) << growing->estimator().name() << ", n=" << players << ", " << budget;
        EXPECT_LE(growing->cost(), allowed);
      }
      const WatchedGame again(*game);
      const auto telling = make(again);
      telling->grow(telling->telling(), 0, none);
      EXPECT_GE(telling->rounds().size(), 3u) << telling->estimator().name();
    }
  }
}

}  // namespace
}  // namespace opshap
