// The mean of an unbiased estimator is the Shapley value: by enumerating its units or its choices where they can be
// listed, and by replicates end to end.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "estimators/orderings.hpp"
#include "estimators/registry.hpp"
#include "estimators/stratified.hpp"
#include "estimators/svarm.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "support/every_sample.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/guessed_slopes.hpp"
#include "support/oracles.hpp"
#include "support/replicates.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using namespace estimators;

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
      const auto found = mean_marginal_contributions(counted, unit, std::ssize(orderings), listed);
      RC_ASSERT(mismatch(textbook_shapley_values(table), found.values,
                         rounding(static_cast<double>(orderings.size()), table.scale())) == "");
    });
  }
}

// One ordering's attribution is its marginal vector: player k gets v(P ∪ k) − v(P).
TEST(EstimatorUnbiasedness, OneOrderingGivesItsMarginalContributions) {
  const auto game = games::table_game(3, {1, 2, 4, 8, 16, 32, 64, 128});
  CountedGame counted(*game, {8});
  const auto listed = [](std::int64_t, std::span<int> ordering) {
    std::ranges::copy(std::vector{2, 0, 1}, ordering.begin());
  };
  const auto forward = mean_marginal_contributions(counted, OrderingUnit::single, 1, listed);
  EXPECT_EQ((std::vector<double>{16, 96, 15}), forward.values);
  EXPECT_FALSE(forward.standard_errors.has_value()) << "one unit has no spread";
  const auto both = mean_marginal_contributions(counted, OrderingUnit::with_reverse, 1, listed);
  EXPECT_EQ((std::vector<double>{(16 + 4) / 2.0, (96 + 3) / 2.0, (15 + 120) / 2.0}), both.values);
}

// Standard errors are over units: pairs, not the two correlated halves of each.
TEST(EstimatorUnbiasedness, StandardErrorsAreThoseOfTheMeanOverUnits) {
  Rng rng(4);
  const auto game = games::random_unanimity_sum(5, rng);
  for (const OrderingUnit unit : {OrderingUnit::single, OrderingUnit::with_reverse}) {
    constexpr std::int64_t units = 7;
    CountedGame counted(*game, {32});
    const auto together = mean_marginal_contributions(counted, unit, units, random_orderings(rng));
    Replicates alone;
    for (std::int64_t chosen = 0; chosen < units; ++chosen) {
      const auto one = [&](std::int64_t, std::span<int> ordering) { random_orderings(rng)(chosen, ordering); };
      alone.add(mean_marginal_contributions(counted, unit, 1, one).values);
    }
    std::vector<double> expected;
    for (std::size_t i = 0; i < 5; ++i) expected.push_back(alone.error(i));
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

/// Every sequence of uniform choices that an estimator can make, one a run: a number whose digits count through them.
class EveryOutcome {
 public:
  /// Only these choices of a run vary, if any are named. The others are always the first thing there is.
  explicit EveryOutcome(std::optional<std::set<std::size_t>> varying = {}) : varying_(std::move(varying)) {}

  UniformChoices choices(int players) {
    return {.below = [this](std::uint64_t bound) { return choose(bound); },
            .ordering =
                [this](std::span<int> ordering) {
                  const auto all = all_orderings(static_cast<int>(ordering.size()));
                  std::ranges::copy(all[choose(all.size())], ordering.begin());
                },
            .members =
                [this, players](int size, std::span<std::uint64_t> row) {
                  std::vector<std::uint64_t> all;
                  for (std::uint64_t mask = 0; mask < std::uint64_t{1} << players; ++mask)
                    if (std::popcount(mask) == size) all.push_back(mask);
                  row[0] = all[choose(all.size())];
                }};
  }

  /// Σ P(outcome)·estimate(outcome), [n]. The estimate is made from the choices.
  std::vector<double> mean(const auto& estimate) {
    std::vector<double> sum;
    double all = 0;
    do {
      place_ = 0;
      const std::vector<double> values = estimate();
      double probability = 1;
      for (const Digit& digit : digits_) probability /= static_cast<double>(digit.bound);
      sum.resize(values.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += probability * values[i];
      all += probability;
      ++outcomes;
    } while (advance());
    EXPECT_EQ("", mismatch(1, all, rounding(static_cast<double>(outcomes), 1)));
    return sum;
  }

  std::size_t outcomes = 0;

 private:
  struct Digit {
    std::uint64_t value = 0, bound = 1;
  };

  std::uint64_t choose(std::uint64_t bound) {
    if (place_ == digits_.size()) digits_.push_back({0, !varying_ || varying_->contains(place_) ? bound : 1});
    return digits_[place_++].value;
  }
  bool advance() {
    while (!digits_.empty()) {
      if (++digits_.back().value < digits_.back().bound) return true;
      digits_.pop_back();
    }
    return false;
  }

  std::optional<std::set<std::size_t>> varying_;
  std::size_t place_ = 0;
  std::vector<Digit> digits_;
};

// All samples of three and four players, with one draw or two in a stratum.
TEST(EstimatorUnbiasedness, TheMeanOverAllStratifiedSamplesIsTheShapleyValue) {
  for (const auto& [players, draws, outcomes] : {std::tuple(3, 3, 8), std::tuple(3, 4, 16), std::tuple(3, 6, 64),
                                                 std::tuple(4, 8, 6561), std::tuple(4, 9, 19683)}) {
    Rng rng(12, "stratified", 0, static_cast<std::uint64_t>(players));
    const auto game = games::random_table_game(players, rng);
    CountedGame counted(*game, {std::int64_t{1} << players});
    EveryOutcome every;
    const auto estimate = [&, players = players, draws = draws] {
      return stratified_means(counted, draws, every.choices(players - 1)).values;
    };
    const std::vector<double> mean = every.mean(estimate);
    EXPECT_EQ(static_cast<std::size_t>(outcomes), every.outcomes);
    const Table table = as_table(*game);
    EXPECT_EQ("", mismatch(textbook_shapley_values(table), mean, rounding(outcomes, table.scale())))
        << "n=" << players << " draws=" << draws;
  }
}

// All samples of four players, whatever the numbers of draws are: two orderings of the warm-up, and coalitions of two
// players.
TEST(EstimatorUnbiasedness, TheMeanOverAllSamplesOfSvarmIsTheShapleyValue) {
  Rng rng(13, "svarm");
  const auto game = games::random_table_game(4, rng);
  const Table table = as_table(*game);
  for (const std::int64_t draws : {0, 1, 2}) {
    CountedGame counted(*game, {16});
    const std::vector<std::int64_t> counts = {0, 0, draws, 0, 0};
    EveryOutcome every;
    const auto mean = every.mean([&] { return svarm_means(counted, counts, every.choices(4)).values; });
    EXPECT_EQ(static_cast<std::size_t>(24 * 24 * std::pow(6, draws)), every.outcomes);
    EXPECT_EQ("", mismatch(textbook_shapley_values(table), mean,
                           rounding(static_cast<double>(every.outcomes), table.scale())))
        << draws << " draws";
  }
}

// With five players groups have to be filled up. Choices 0..8 are: for size 2 an ordering and a player to fill up with
// for those in it, two for those left out, and a coalition for all; for size 3 the same without the coalition. The
// estimate is a sum of functions of {0, 1, 4}, {2, 3, 4}, {5, 6} and {7, 8}, so its mean follows from going through
// these alone.
TEST(EstimatorUnbiasedness, GroupsThatAreFilledUpDoNotBiasSvarm) {
  Rng rng(14, "svarm");
  const auto game = games::random_table_game(5, rng);
  const Table table = as_table(*game);
  CountedGame counted(*game, {32});
  const std::vector<std::int64_t> counts = {0, 0, 1, 0, 0, 0};
  std::vector<double> mean(5, 0.0);
  const auto add = [&](double times, const std::set<std::size_t>& varying, std::size_t outcomes) {
    EveryOutcome every(varying);
    const auto part = every.mean([&] { return svarm_means(counted, counts, every.choices(5)).values; });
    EXPECT_EQ(outcomes, every.outcomes);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += times * part[i];
  };
  add(1, {0, 1, 4}, 120 * 4 * 10);
  add(1, {2, 3, 4}, 120 * 3 * 10);
  add(-1, {4}, 10);
  add(1, {5, 6}, 120 * 3);
  add(1, {7, 8}, 120 * 4);
  add(-2, {}, 1);
  EXPECT_EQ("", mismatch(textbook_shapley_values(table), mean, rounding(1e4, table.scale())));
}

/// The promise of a registered estimator about its mean, held by replicates: one test an estimator, by its name.
///
/// 400 replicates, or 40; six sigma, or eight, is beyond the 1 - 1e-6/2K quantile of t with 399, or 39, degrees of
/// freedom for all K = estimators x games x players comparisons here.
class EstimatorMean : public testing::TestWithParam<std::string> {
 protected:
  const Estimator& estimator() const { return estimators::find(GetParam()); }

  Replicates replicated(const Game& game, std::int64_t budget, int replicates) const {
    Replicates found;
    for (int seed = 0; seed < replicates; ++seed)
      found.add(
          attribute_every_sample(estimator(), game, {budget}, test_seed() * 1000 + static_cast<std::uint64_t>(seed))
              .values);
    return found;
  }
};

TEST_P(EstimatorMean, IsTheShapleyValueWhereItIsUnbiased) {
  const Guarantees promise = estimator().guarantees();
  if (promise.bias != Bias::none || !promise.uses_budget()) GTEST_SKIP() << "not promised";
  const int replicates = promise.learns ? 40 : 400;  // methods that learn cost a hundred times as much
  for (const int players : {3, 6, 10}) {
    const std::int64_t all = std::int64_t{1} << players;
    const auto budget = std::max(std::min<std::int64_t>(8 * players, all - 1), estimator().minimum(players).coalitions);
    if (budget >= all) continue;  // exact at any budget it takes
    Rng rng(2, "unbiased", 0, static_cast<std::uint64_t>(players));
    const auto table = games::random_table_game(players, rng);
    const std::vector<double> exact = textbook_shapley_values(as_table(*table));
    const Replicates found = replicated(GuessedSlopes(*table, 1), budget, replicates);
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_EQ("", mismatch(exact[i], found.mean(i), sampling(found.error(i), promise.learns ? 8 : 6)))
          << "n=" << players << " player " << i << "; " << replay();
  }
}

// A bias that vanishes is at most a fifth of the standard deviation with ten times as many coalitions as players.
// Methods that learn need forty times as many, and have fewer replicates for what they cost.
TEST_P(EstimatorMean, IsNearTheShapleyValueWhereItsBiasVanishes) {
  const Guarantees promise = estimator().guarantees();
  if (promise.bias != Bias::vanishing) GTEST_SKIP() << "not promised";
  Rng rng(2, "bias");
  const auto game = games::random_table_game(10, rng);
  const std::vector<double> exact = textbook_shapley_values(as_table(*game));
  const Replicates found = replicated(*game, promise.learns ? 400 : 100, promise.learns ? 40 : 400);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ("", mismatch(exact[i], found.mean(i), sampling(found.error(i) + found.spread(i) / 25)))
        << "player " << i << "; " << replay();
}

INSTANTIATE_TEST_SUITE_P(All, EstimatorMean, testing::ValuesIn(estimators::names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace opshap
