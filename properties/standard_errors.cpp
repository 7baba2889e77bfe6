// Every standard error that is printed covers the truth as often as it says.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "estimators/registry.hpp"
#include "games/unanimity.hpp"
#include "support/every_sample.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

constexpr int players = 12, replicates = 500;

/// Interactions of two to four players.
std::unique_ptr<SolvedGame> interacting_game() {
  Rng rng(15, "coverage");
  std::vector<games::UnanimityTerm> terms(30);
  for (games::UnanimityTerm& term : terms) {
    std::vector<int> all(players);
    for (int player = 0; player < players; ++player) all[static_cast<std::size_t>(player)] = player;
    rng.shuffle(all);
    term.coalition.assign(all.begin(), all.begin() + 2 + static_cast<std::ptrdiff_t>(rng.below(3)));
    term.coefficient = rng.normal();
  }
  return games::unanimity_sum(players, std::move(terms));
}

class StandardErrors : public ::testing::TestWithParam<std::string> {};

TEST_P(StandardErrors, CoverTheShapleyValueAsOftenAsTheySay) {
  const Estimator& estimator = estimators::find(GetParam());
  const Guarantees promise = estimator.guarantees();
  if (!promise.uses_budget() || promise.learns) GTEST_SKIP() << "does not sample, or has no standard errors";
  const auto game = interacting_game();
  const std::vector<double> exact = game->shapley_values();
  // A third of all coalitions: enough units for a normal law, too few for exactness.
  const std::int64_t budget = std::max<std::int64_t>(1400, 4 * estimator.minimum(players).coalitions);
  std::vector<double> covered(replicates, 0.0);  // of each run, the share of the players
  int runs = 0, of_low_rank = 0;
  for (int replicate = 0; replicate < replicates; ++replicate) {
    const Attribution found = attribute_every_sample(estimator, *game, {budget},
                                                     test_seed() * 100000 + static_cast<std::uint64_t>(replicate));
    of_low_rank += found.minimum_norm.has_value();  // a minimum-norm solution has no standard errors
    if (!found.standard_errors) continue;
    for (std::size_t i = 0; i < exact.size(); ++i)
      covered[static_cast<std::size_t>(runs)] +=
          std::abs(found.values[i] - exact[i]) <= 1.96 * (*found.standard_errors)[i] ? 1.0 / players : 0;
    ++runs;
  }
  if (runs == 0) GTEST_SKIP() << "gives no standard errors";
  ASSERT_EQ(replicates, runs + of_low_rank) << "standard errors that come and go";
  double mean = 0, spread = 0;
  covered.resize(static_cast<std::size_t>(runs));
  for (const double share : covered) mean += share / runs;
  for (const double share : covered) spread += std::pow(share - mean, 2);
  const double error = std::sqrt(spread / (runs - 1) / runs);
  // Two points for t-quantiles and skewness; the rest is chance.
  EXPECT_GT(mean, 0.93 - 5 * error) << replay();
  EXPECT_LT(mean, 0.97 + 5 * error) << replay();
}

// Around the budgets where a sample becomes large enough, one seed must not have what another one has not.
TEST_P(StandardErrors, DoNotComeAndGoWithTheSeed) {
  const Estimator& estimator = estimators::find(GetParam());
  if (!estimator.guarantees().uses_budget() || estimator.guarantees().learns) GTEST_SKIP() << "does not sample";
  const auto game = interacting_game();
  for (const std::int64_t budget : {120, 200, 250, 300, 400, 600}) {
    if (budget < estimator.minimum(players).coalitions) continue;
    int with = 0, runs = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Attribution found = attribute_every_sample(estimator, *game, {budget}, test_seed() * 100 + seed);
      if (found.minimum_norm) continue;  // the sample does not determine the values
      ++runs;
      with += found.standard_errors.has_value();
    }
    EXPECT_TRUE(with == 0 || with == runs) << budget << ": " << with << " of " << runs << "; " << replay();
  }
}

// At few draws many strata of svarm have a single value, whose variance is borrowed.
TEST(StandardErrorsOfSvarm, AreAsLargeAsItsErrorsAtFewDraws) {
  const auto game = interacting_game();
  const std::vector<double> exact = game->shapley_values();
  double square = 0, claimed = 0;
  constexpr int runs = 600;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const Attribution found =
        attribute_every_sample(estimators::find("svarm"), *game, {92}, test_seed() * 1000 + seed);
    ASSERT_TRUE(found.standard_errors.has_value());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      square += std::pow(found.values[i] - exact[i], 2);
      claimed += std::pow((*found.standard_errors)[i], 2);
    }
  }
  // 600 runs know the ratio of two such sizes to about 2 %: five times that.
  EXPECT_NEAR(1, std::sqrt(claimed / square), 0.1) << replay();
}

INSTANTIATE_TEST_SUITE_P(All, StandardErrors, ::testing::ValuesIn(estimators::names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace opshap
