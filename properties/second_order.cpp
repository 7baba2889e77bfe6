// The correction of order 1/n for the fluctuation of coalitions about the diagonal: exact on polynomials, honest about
// its own error.

#include "estimators/second_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "core/domain.hpp"
#include "core/error.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "games/measure.hpp"
#include "games/smooth_functions.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/fading_game.hpp"
#include "support/refusal.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

using estimators::diagonal_second_order;
using estimators::SecondOrderOptions;

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double norm_of(const std::vector<double>& a) { return distance(a, std::vector<double>(a.size(), 0.0)); }

/// ‖found − φ‖/‖φ‖.
double error_of(const SecondOrderOptions& options, const SolvedGame& game, std::uint64_t seed = 1) {
  const std::vector<double> expected = game.shapley_values();
  return distance(attribute(*diagonal_second_order(options), game, {}, seed).values, expected) / norm_of(expected);
}

/// Σ_{i<j} c_ij 1[i, j ∈ S] and some weights: any interactions of two players, near or far.
std::unique_ptr<SolvedGame> two_additive_game(int players, Rng& rng) {
  std::vector<games::UnanimityTerm> terms;
  for (int i = 0; i < players; ++i) {
    terms.push_back({{i}, rng.uniform(-1, 1)});
    for (int j = 0; j < i; ++j) terms.push_back({{j, i}, rng.uniform(-1, 1)});
  }
  return games::unanimity_sum(players, std::move(terms), rng.uniform(-1, 1));
}

/// Gradients of size 1 are divided by steps of at least ½·.0694 (four nodes), twice: 8e2 roundings of 1e-16 each, for
/// sums over some hundred players.
constexpr double rounding_of_a_player = 1e-12;

TEST(SecondOrder, IsExactWithoutInteractionsOfThreePlayersWhateverTheDirections) {
  Rng rng(test_seed(), "two_additive");
  for (const int players : {5, 16, 33}) {
    const auto game = two_additive_game(players, rng);
    const auto bilinear = games::bilinear_game(
        {{games::random_signed_measure(players, rng), games::random_signed_measure(players, rng)}});
    for (const int directions : {2, 4}) {
      for (const int nodes : {2, 3, 4}) {
        SCOPED_TRACE(message("n=", players, ", directions=", directions, ", nodes=", nodes));
        const SecondOrderOptions options{.nodes = nodes, .directions = directions};
        EXPECT_LT(error_of(options, *game, test_seed()), rounding_of_a_player * players);
        EXPECT_LT(error_of(options, *bilinear, test_seed()), rounding_of_a_player * players);
      }
    }
  }
}

TEST(SecondOrder, WithAllDirectionsIsExactOnPolynomialsOfDegreeThree) {
  Rng rng(test_seed(), "degree_three");
  for (const int players : {3, 8, 21, 64}) {
    SCOPED_TRACE(message("n=", players));
    const games::Measure measure = games::random_measure(players, rng);
    const auto cubic = games::polynomial_of_measure(measure, {0.5, -1, 2, 3});
    const auto product =
        games::product_of_measures({measure, games::random_measure(players, rng), games::random_measure(players, rng)});
    for (const SolvedGame* game : {cubic.get(), product.get()}) {
      EXPECT_LT(error_of({.all_directions = true}, *game), rounding_of_a_player * players);
      // Integrated gradients are not.
      EXPECT_GT(distance(*game->aumann_shapley_values(), game->shapley_values()),
                1e-6 * norm_of(game->shapley_values()));
    }
  }
}

/// The error of integrated gradients.
double first_order_error(const SolvedGame& game) {
  return distance(*game.aumann_shapley_values(), game.shapley_values()) / norm_of(game.shapley_values());
}

// A comb keeps players apart that interact; what is left is of the next order.
TEST(SecondOrder, TakesOffMostOfTheErrorOfTheFirstOrderWhereInteractionsFadeWithDistance) {
  const FadingGame game(64, 0.25);
  EXPECT_LT(error_of({}, game, test_seed()), first_order_error(game) / 4);
}

// Eight teeth have aliases of neighbours at a quarter and at half of their length. Those at a whole length are gone,
// and that is told from how the other two decay.
TEST(SecondOrder, DoesNotTakeForNoiseWhatFadesWithinATooth) {
  const FadingGame game(32, 0.25);
  EXPECT_LT(error_of({}, game, test_seed()), first_order_error(game) / 20);
}

TEST(SecondOrder, HardlyAddsNoiseWhereInteractionsDoNotFade) {
  Rng rng(test_seed(), "far");
  const int players = 64;
  const auto game = games::exponential_of_measure(games::random_measure(players, rng), 2);
  const double first =
      distance(*game->aumann_shapley_values(), game->shapley_values()) / norm_of(game->shapley_values());
  double squares = 0;
  constexpr int runs = 32;
  for (int run = 0; run < runs; ++run)
    squares += std::pow(error_of({.directions = 16}, *game, test_seed() * 1000 + run), 2) / runs;
  // Aliases that are as large at half of a tooth as at a quarter are noise at a whole one, of which λ leaves a part.
  EXPECT_LT(std::sqrt(squares), 2 * first);
  // Without random signs the aliases would be the same every time, and no noise. The values may be equal: where all of
  // the correction may be noise, nothing is added.
  const auto bar = [&](std::uint64_t seed) {
    return attribute(*diagonal_second_order({}), *game, {}, seed).second_order->error_bar;
  };
  EXPECT_NE(bar(1), bar(2));
}

TEST(SecondOrder, TheFirstOrdersBarIsItsErrorAndTheOtherOneIsNotBelowTheErrorThatIsLeft) {
  const FadingGame game(64, 0.25);
  const Attribution found = attribute(*diagonal_second_order({}), game, {}, test_seed());
  ASSERT_TRUE(found.second_order);
  EXPECT_NEAR(first_order_error(game), found.second_order->first_order_error_bar, first_order_error(game) / 2);
  EXPECT_LT(distance(found.values, game.shapley_values()) / norm_of(game.shapley_values()),
            found.second_order->error_bar);
  // A quarter of the correction may be left of it, however small its square is.
  EXPECT_GT(found.second_order->error_bar, found.second_order->first_order_error_bar / 4);
}

TEST(SecondOrder, AddsUpAndSaysWhatItCost) {
  Rng rng(test_seed(), "cost");
  const auto game = games::exponential_of_measure(games::random_measure(40, rng), 1);
  const Attribution found = attribute(*diagonal_second_order({}), *game, {}, 1);
  EXPECT_NEAR(0, found.efficiency_gap(), 1e-14 * 40);
  ASSERT_TRUE(found.second_order);
  EXPECT_EQ(16, found.second_order->directions);
  EXPECT_EQ(4, found.second_order->nodes);
  EXPECT_EQ(4 * (1 + 2 * 16), found.gradients);
  EXPECT_EQ(2, found.evaluations);
  EXPECT_EQ(3 * found.gradients + 2, found.forward_equivalents);
  EXPECT_EQ(40U, found.second_order->correction.size());
}

TEST(SecondOrder, DoublesItsNodesUntilTheFirstOrderAddsUp) {
  // t¹² needs seven nodes.
  std::vector<double> coefficients(14, 0.0);
  coefficients.back() = 1;
  const auto game = games::polynomial_of_measure(games::Measure(std::vector<double>(16, 1.0 / 16)), coefficients);
  EXPECT_EQ(4, attribute(*diagonal_second_order({.tolerance = 0.5}), *game, {}, 1).second_order->nodes);
  EXPECT_EQ(8, attribute(*diagonal_second_order({.tolerance = 1e-4}), *game, {}, 1).second_order->nodes);
}

TEST(SecondOrder, DirectionsByDefaultAreAPowerOfTwoFromAQuarterOfThePlayersOn) {
  for (const auto& [players, directions] : {std::pair(2, 4), {16, 4}, {17, 8}, {32, 8}, {64, 16}, {65, 32}, {4096, 32}})
    EXPECT_EQ(directions, estimators::comb_directions(players)) << players;
}

/// A comb of M teeth takes the players whose places agree modulo M for far from each other.
TEST(Places, OfNeighboursDifferInTheirLowestBits) {
  const auto of_cells = [](const Domain& domain) { return Partition::one_player_per_point(domain).places(domain); };
  std::vector<std::int64_t> line(12);
  std::iota(line.begin(), line.end(), 0);
  EXPECT_EQ(line, of_cells(Domain::unit({12})));

  const std::vector<std::int64_t> plane = of_cells(Domain::unit({8, 8}));
  EXPECT_EQ(64U, std::set(plane.begin(), plane.end()).size());
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < i; ++j)
      if (plane[static_cast<std::size_t>(i)] % 16 == plane[static_cast<std::size_t>(j)] % 16) {
        EXPECT_EQ(i / 8 % 4, j / 8 % 4) << i << " and " << j;
        EXPECT_EQ(i % 4, j % 4) << i << " and " << j;
      }

  // Blocks of unequal sizes stand as their grid does.
  const Domain uneven = Domain::unit({10, 9});
  EXPECT_EQ(of_cells(Domain::unit({4, 4})), Partition::blocks(uneven, 16).places(uneven));

  // Points of a mesh have their ranks.
  Rng rng(test_seed(), "cloud");
  std::vector<double> points;
  for (int i = 0; i < 2 * 40; ++i) points.push_back(rng.uniform());
  const Domain mesh = Domain::mesh(Mesh::of_points(2, points, std::vector<double>(40, 1)));
  std::vector<std::int64_t> ranks = of_cells(mesh);
  std::ranges::sort(ranks);
  std::vector<std::int64_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(all, ranks);
}

TEST(SecondOrder, WhatCannotWorkIsRefused) {
  for (const int directions : {-4, 0, 1, 3, 12})
    EXPECT_NE("", refusal<InvalidArgument>([&] { diagonal_second_order({.directions = directions}); })) << directions;
  for (const int nodes : {0, 1001})
    EXPECT_NE("", refusal<InvalidArgument>([&] { diagonal_second_order({.nodes = nodes}); })) << nodes;
  const auto game = games::bilinear_game({{games::Measure({1, 2, 3}), games::Measure({3, 1, 1})}});
  EXPECT_EQ(
      "diagonal_second_order: directions=4 (there are 3 players, and as many directions are all there are). Give "
      "fewer, or all.",
      refusal<InvalidArgument>([&] { attribute(*diagonal_second_order({.directions = 4}), *game, {}, 1); }));
  const auto values = games::table_game(2, {0, 1, 2, 4});
  EXPECT_NE("", refusal<InvalidArgument>([&] { attribute(*diagonal_second_order({}), *values, {}, 1); }));
}

}  // namespace
}  // namespace opshap
