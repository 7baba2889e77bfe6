// The mean of an unbiased estimator is the Shapley value: by enumerating its units where they can be listed, and by replicates end to end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/kernel_law.hpp"
#include "estimators/orderings.hpp"
#include "estimators/registry.hpp"
#include "games/table_game.hpp"
#include "games/unanimity_sum.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

std::vector<std::vector<int>> all_orderings(int players) {
  std::vector<int> ordering(static_cast<std::size_t>(players));
  std::iota(ordering.begin(), ordering.end(), 0);
  std::vector<std::vector<int>> all;
  do {
    all.push_back(ordering);
  } while (std::next_permutation(ordering.begin(), ordering.end()));
  return all;
}

// The mean over all n! equally likely units, without any statistics.
TEST(EstimatorUnbiasedness, TheMeanOverAllOrderingsIsTheShapleyValue) {
  for (const OrderingUnit unit : {OrderingUnit::single, OrderingUnit::with_reverse}) {
    for_all([unit] {
      const Table table = *rc::gen::suchThat(any_game(6), [](const Table& any) { return any.players >= 2; });
      const auto orderings = all_orderings(table.players);
      const auto game = as_game(table);
      CountedGame counted(*game, {std::int64_t{1} << table.players});
      const auto listed = [&](std::int64_t index, std::span<int> ordering) {
        std::ranges::copy(orderings[static_cast<std::size_t>(index)], ordering.begin());
      };
      const Attribution found =
          mean_marginal_contributions(counted, unit, static_cast<std::int64_t>(orderings.size()), listed);
      RC_ASSERT(mismatch(textbook_shapley_values(table), found.values,
                         rounding(static_cast<double>(orderings.size()), table.scale())) == "");
    });
  }
}

// One ordering's attribution is its marginal vector: player k gets v(P ∪ k) − v(P).
TEST(EstimatorUnbiasedness, OneOrderingGivesItsMarginalContributions) {
  const auto game = table_game(3, {1, 2, 4, 8, 16, 32, 64, 128});
  CountedGame counted(*game, {8});
  const auto listed = [](std::int64_t, std::span<int> ordering) {
    ordering[0] = 2;
    ordering[1] = 0;
    ordering[2] = 1;
  };
  const Attribution forward = mean_marginal_contributions(counted, OrderingUnit::single, 1, listed);
  EXPECT_EQ((std::vector<double>{16, 96, 15}), forward.values);
  EXPECT_FALSE(forward.standard_errors.has_value()) << "one unit has no spread";
  const Attribution both = mean_marginal_contributions(counted, OrderingUnit::with_reverse, 1, listed);
  EXPECT_EQ((std::vector<double>{(16 + 4) / 2.0, (96 + 3) / 2.0, (15 + 120) / 2.0}), both.values);
}

// Standard errors are over units: pairs, not the two correlated halves of each.
TEST(EstimatorUnbiasedness, StandardErrorsAreThoseOfTheMeanOverUnits) {
  Rng rng(4);
  const auto game = random_unanimity_sum(5, rng);
  for (const OrderingUnit unit : {OrderingUnit::single, OrderingUnit::with_reverse}) {
    constexpr std::int64_t units = 7;
    CountedGame counted(*game, {32});
    const Attribution together = mean_marginal_contributions(counted, unit, units, random_orderings(rng));
    std::vector<double> sum(5, 0.0), squares(5, 0.0);
    for (std::int64_t chosen = 0; chosen < units; ++chosen) {
      const auto one = [&](std::int64_t, std::span<int> ordering) { random_orderings(rng)(chosen, ordering); };
      const Attribution alone = mean_marginal_contributions(counted, unit, 1, one);
      for (std::size_t i = 0; i < 5; ++i) {
        sum[i] += alone.values[i];
        squares[i] += alone.values[i] * alone.values[i];
      }
    }
    std::vector<double> expected;
    for (std::size_t i = 0; i < 5; ++i)
      expected.push_back(std::sqrt((squares[i] - sum[i] * sum[i] / units) / (units - 1) / units));
    ASSERT_TRUE(together.standard_errors.has_value());
    EXPECT_EQ("", mismatch(expected, *together.standard_errors, rounding(1e4, 10)));
  }
}

TEST(EstimatorUnbiasedness, OrderingsAreUniform) {
  constexpr int draws = 24000;
  std::map<std::vector<int>, int> times;
  const OrderingSource source = random_orderings(Rng(6, "uniform"));
  std::vector<int> ordering(4);
  for (int draw = 0; draw < draws; ++draw) {
    source(draw, ordering);
    ++times[ordering];
  }
  ASSERT_EQ(24u, times.size());
  double chi_squared = 0;
  for (const auto& [which, count] : times) chi_squared += std::pow(count - draws / 24.0, 2) / (draws / 24.0);
  EXPECT_LT(chi_squared, 73.6) << "the 1 - 1e-6 quantile of chi-squared with 23 degrees of freedom";
}

TEST(EstimatorUnbiasedness, ALargerSampleOfOrderingsBeginsWithTheSmallerOne) {
  const Rng rng(8, "prefix");
  std::vector<int> alone(10), after_others(10);
  random_orderings(rng)(5, alone);
  const OrderingSource source = random_orderings(rng);
  for (std::int64_t index = 0; index <= 5; ++index) source(index, after_others);
  EXPECT_EQ(alone, after_others);
}

// End to end, with every registered estimator that claims no bias. 400 replicates, or 120; six sigma, or seven, is beyond the 1 - 1e-6/2K quantile of t
// with 399, or 119, degrees of freedom for all K = estimators x games x players comparisons here.
TEST(EstimatorUnbiasedness, ReplicatesOfUnbiasedEstimatorsAverageToTheShapleyValue) {
  for (const auto& estimator : estimators::all()) {
    const Guarantees promise = estimator->guarantees();
    // Methods that learn cost a hundred times as much.
    const int replicates = promise.learns ? 120 : 400;
    if (promise.bias != Bias::none || promise.mse_rate == exact_rate) continue;
    for (const int players : {3, 6, 10}) {
      const std::int64_t all = std::int64_t{1} << players;
      const std::int64_t budget =
          std::max(std::min<std::int64_t>(8 * players, all - 1), estimator->minimum(players).coalitions);
      if (budget >= all) continue;  // exact at any budget it takes
      Rng rng(2, "unbiased", 0, static_cast<std::uint64_t>(players));
      const auto game = random_table_game(players, rng);
      const std::vector<double> exact = textbook_shapley_values(as_table(*game));
      std::vector<double> sum(exact.size(), 0.0), squares(exact.size(), 0.0);
      for (int seed = 0; seed < replicates; ++seed) {
        const Attribution found =
            attribute(*estimator, *game, {budget}, test_seed() * 1000 + static_cast<std::uint64_t>(seed));
        for (std::size_t i = 0; i < exact.size(); ++i) {
          sum[i] += found.values[i];
          squares[i] += found.values[i] * found.values[i];
        }
      }
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double mean = sum[i] / replicates;
        const double error = std::sqrt((squares[i] / replicates - mean * mean) / (replicates - 1));
        EXPECT_EQ("", mismatch(exact[i], mean, sampling(error, promise.learns ? 7 : 6)))
            << estimator->name() << " n=" << players << " player " << i << "; " << replay();
      }
    }
  }
}

// Methods whose bias vanishes: it is at most a fifth of the standard deviation with ten times as many coalitions as players. Those that learn need
// forty times as many, and have fewer replicates for what they cost.
TEST(EstimatorUnbiasedness, TheBiasOfRegressionIsSmallBesideItsSpread) {
  constexpr int players = 10;
  Rng rng(2, "bias");
  const auto game = random_table_game(players, rng);
  const std::vector<double> exact = textbook_shapley_values(as_table(*game));
  for (const auto& estimator : estimators::all()) {
    if (estimator->guarantees().bias != Bias::vanishing) continue;
    const bool learns = estimator->guarantees().learns;
    const int replicates = learns ? 100 : 400;
    std::vector<double> sum(exact.size(), 0.0), squares(exact.size(), 0.0);
    for (int seed = 0; seed < replicates; ++seed) {
      const Attribution found =
          attribute(*estimator, *game, {learns ? 400 : 100}, test_seed() * 1000 + static_cast<std::uint64_t>(seed));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        sum[i] += found.values[i];
        squares[i] += found.values[i] * found.values[i];
      }
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double mean = sum[i] / replicates, spread = std::sqrt(squares[i] / replicates - mean * mean);
      EXPECT_EQ("", mismatch(exact[i], mean, sampling(spread / std::sqrt(replicates) + spread / 25)))
          << estimator->name() << " player " << i << "; " << replay();
    }
  }
}

// Sizes of the kernel law, and uniform subsets of each size.
TEST(EstimatorUnbiasedness, KernelDrawsFollowTheirLaw) {
  constexpr int players = 8, draws = 100000;
  const KernelLaw law(players);
  Rng rng(3, "law");
  std::vector<double> sizes(players, 0.0);
  std::map<std::uint64_t, double> triples;
  double drawn_triples = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const int size = law.draw_size(rng);
    std::uint64_t row = 0;
    law.draw_subset(rng, size, {&row, 1});
    ASSERT_EQ(size, std::popcount(row));
    ++sizes[static_cast<std::size_t>(size)];
    if (size != 3) continue;
    ++triples[row];
    ++drawn_triples;
  }
  double chi_squared = 0, normaliser = 0;
  for (int size = 1; size < players; ++size) normaliser += 1.0 / (size * (players - size));
  for (int size = 1; size < players; ++size) {
    const double expected = draws / (size * (players - size) * normaliser);
    EXPECT_EQ("", mismatch(expected / draws, law.probability(size), rounding(64, 1)));
    chi_squared += std::pow(sizes[static_cast<std::size_t>(size)] - expected, 2) / expected;
  }
  EXPECT_LT(chi_squared, 38.3) << "the 1 - 1e-6 quantile of chi-squared with 6 degrees of freedom";
  ASSERT_EQ(56u, triples.size());
  chi_squared = 0;
  for (const auto& [row, count] : triples)
    chi_squared += std::pow(count - drawn_triples / 56, 2) / (drawn_triples / 56);
  EXPECT_LT(chi_squared, 121.7) << "the 1 - 1e-6 quantile of chi-squared with 55 degrees of freedom";
}

}  // namespace
}  // namespace opshap
