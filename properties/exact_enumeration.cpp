// The exact values, against three independent ways of computing them. Quadrature on [0, 1], and what it makes of
// gradients. Every standard error that is printed covers the truth as often as it says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/exact.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/every_sample.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/replicates.hpp"
#include "support/test_seed.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using estimators::shapley_values_of_table;

/// 64 n roundings of numbers of the size of the values; the folds add in pairs.
Tolerance rounding_of_sums(const Table& table) { return rounding(64 * table.players, table.scale()); }

void expect_agreement(std::vector<double> (*oracle)(const Table&), int most_players,
                      Tolerance (*tolerance)(const Table&) = rounding_of_sums) {
  for_all([&] {
    const Table table = *any_game(most_players);
    RC_TAG(table.players);
    RC_ASSERT(mismatch(oracle(table), shapley_values_of_table(table.values), tolerance(table)) == "");
  });
}

TEST(ExactEnumeration, AgreesWithTheTextbookSum) { expect_agreement(textbook_shapley_values, 12); }

TEST(ExactEnumeration, AgreesWithTheMeanOverAllOrderings) { expect_agreement(shapley_values_by_orderings, 7); }

TEST(ExactEnumeration, AgreesWithTheHarsanyiDividends) {
  // Multiples of 1/64 have exact dividends, of which 2^n are added.
  expect_agreement(shapley_values_by_dividends, 10, [](const Table& table) {
    return rounding(std::pow(2, table.players), largest(moebius_coefficients(table).values) + 1);
  });
}

TEST(ExactEnumeration, SolvesEveryGameWithAClosedForm) {
  for (const games::Kind& kind : games::all()) {
    for (int players = 1; kind.random != nullptr && players <= 16; ++players) {
      Rng rng(3, kind.name, 0, static_cast<std::uint64_t>(players));
      const auto game = kind.random(players, rng);
      const auto* solved = dynamic_cast<const SolvedGame*>(game.get());
      if (solved == nullptr) continue;
      const Attribution found = attribute(estimators::find("exact"), *game, {0}, 1);
      EXPECT_EQ("", mismatch(solved->shapley_values(), found.values, rounding(64 * players, as_table(*game).scale())))
          << kind.name << " n=" << players;
      EXPECT_TRUE(found.exact);
    }
  }
}

TEST(ExactEnumeration, RefusesMoreThan24Players) {
  Rng rng(1);
  EXPECT_THROW(attribute(estimators::find("exact"), *games::all().at(1).random(25, rng), {0}, 1), InvalidArgument);
}

double integral_of_power(const estimators::Quadrature& quadrature, int power) {
  double sum = 0;
  for (std::size_t k = 0; k < quadrature.nodes.size(); ++k)
    sum += quadrature.weights[k] * std::pow(quadrature.nodes[k], power);
  return sum;
}

TEST(Quadrature, GaussLegendreIsExactUpToDegreeTwoNodesMinusOne) {
  for (const int nodes : {1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 50, 100, 257, 1000}) {
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::gauss_legendre, nodes);
    ASSERT_EQ(static_cast<std::size_t>(nodes), rule.nodes.size());
    EXPECT_TRUE(std::is_sorted(rule.nodes.begin(), rule.nodes.end()));
    EXPECT_GT(rule.nodes.front(), 0);
    EXPECT_LT(rule.nodes.back(), 1);
    for (int power = 0; power < 2 * nodes; power += std::max(1, nodes / 16)) {
      EXPECT_EQ("", mismatch(1.0 / (power + 1), integral_of_power(rule, power), rounding(64.0 * nodes, 1)))
          << nodes << " nodes, t^" << power;
    }
    if (nodes <= 5) {
      EXPECT_NE("", mismatch(1.0 / (2 * nodes + 1), integral_of_power(rule, 2 * nodes), rounding(1e4, 1)))
          << "degree " << 2 * nodes << " is too high";
    }
  }
}

TEST(Quadrature, MidpointIsExactForStraightLines) {
  for (const int nodes : {1, 2, 50, 1000}) {
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, nodes);
    EXPECT_EQ("", mismatch(1, integral_of_power(rule, 0), rounding(nodes, 1)));
    EXPECT_EQ("", mismatch(0.5, integral_of_power(rule, 1), rounding(nodes, 1)));
    EXPECT_EQ("", mismatch(1.0 / 3 - 1.0 / (12.0 * nodes * nodes), integral_of_power(rule, 2), rounding(nodes, 1)));
  }
}

TEST(Quadrature, RefusesImpossibleRules) {
  for (const estimators::Rule rule : {estimators::Rule::midpoint, estimators::Rule::gauss_legendre}) {
    EXPECT_THROW(estimators::quadrature(rule, 0), InvalidArgument);
    EXPECT_THROW(estimators::quadrature(rule, -1), InvalidArgument);
    EXPECT_THROW(estimators::quadrature(rule, estimators::max_quadrature_nodes + 1), InvalidArgument);
  }
  EXPECT_EQ(estimators::Rule::midpoint, estimators::find_rule("midpoint"));
  EXPECT_EQ(estimators::Rule::gauss_legendre, estimators::find_rule("gauss_legendre"));
  EXPECT_THROW(estimators::find_rule("trapezoid"), InvalidArgument);
}

// u_T has the gradient t^(|T|−1) on the diagonal: K midpoint nodes give Σ_k ((k − ½)/K)^(|T|−1)/K in place of 1/|T|.
TEST(IntegratedGradients, TakeTheMidpointRuleAtItsNodes) {
  const auto game = games::unanimity_sum(4, {{{0, 1, 3}, 6.0}}, 2);
  const Attribution found = attribute(*integrated_gradients(estimators::Rule::midpoint, 2), *game, {0}, 1);
  const double expected = 6 * (0.25 * 0.25 + 0.75 * 0.75) / 2;
  EXPECT_EQ((std::vector<double>{expected, expected, 0, expected}), found.values);
  EXPECT_EQ(2, found.gradients);
  EXPECT_EQ(2, found.distinct);
  EXPECT_FALSE(found.exact);
}

// One implementation serves three estimators, each of which answers for itself.
TEST(IntegratedGradients, BadNodesAreRefusedInTheNameOfTheMethod) {
  for (const int nodes : {-3, 0, estimators::max_quadrature_nodes + 1}) {
    const std::string what = ": nodes=" + std::to_string(nodes) + " (needs 1..1000). Give a number in that range.";
    EXPECT_EQ("mean_field" + what, refusal([&] { estimators::mean_field(nodes); }));
    EXPECT_EQ("integrated_gradients" + what,
              refusal([&] { estimators::integrated_gradients(estimators::Rule::midpoint, nodes); }));
    EXPECT_EQ("integrated_gradients_gauss_legendre" + what,
              refusal([&] { estimators::integrated_gradients(estimators::Rule::gauss_legendre, nodes); }));
  }
}

TEST(IntegratedGradients, NeedAGameWithGradients) {
  EXPECT_THROW(attribute(*integrated_gradients(estimators::Rule::midpoint, 2), *games::table_game(1, {0, 1}), {0}, 1),
               InvalidArgument);
}

constexpr int players = 12, replicates = 500;

/// Interactions of two to four players.
std::unique_ptr<SolvedGame> interacting_game() {
  Rng rng(15, "coverage");
  return random_interactions(players, 30, 0, rng, [&rng] { return 2 + rng.below(3); });
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
  Replicates covered;  // of each run, the share of the players
  int of_low_rank = 0;
  for (int replicate = 0; replicate < replicates; ++replicate) {
    const Attribution found = attribute_every_sample(estimator, *game, {budget},
                                                     test_seed() * 100000 + static_cast<std::uint64_t>(replicate));
    of_low_rank += found.minimum_norm.has_value();  // a minimum-norm solution has no standard errors
    if (!found.standard_errors) continue;
    double share = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      share += std::abs(found.values[i] - exact[i]) <= 1.96 * (*found.standard_errors)[i] ? 1.0 / players : 0;
    covered.add(share);
  }
  if (covered.count() == 0) GTEST_SKIP() << "gives no standard errors";
  ASSERT_EQ(replicates, covered.count() + of_low_rank) << "standard errors that come and go";
  // Two points for t-quantiles and skewness; the rest is chance.
  EXPECT_GT(covered.mean(), 0.93 - 5 * covered.error()) << replay();
  EXPECT_LT(covered.mean(), 0.97 + 5 * covered.error()) << replay();
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
    const Attribution found = attribute_every_sample(estimators::find("svarm"), *game, {92}, test_seed() * 1000 + seed);
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
