// The coalitions of level 0 of the two-level estimator: nodes of masks that are stratified for each player, without a
// bias, with less variance than pairs of complements, and with standard errors that hold.

#include "estimators/two_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"
#include "estimators/registry.hpp"
#include "estimators/spread.hpp"
#include "games/registry.hpp"
#include "statistics/quantiles.hpp"
#include "support/fading_game.hpp"
#include "support/guessed_slopes.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

using estimators::draw_node;
using estimators::NodeSample;
using estimators::TwoLevelPlan;

/// What is tested here end to end.
const Estimator& node_estimator() { return estimators::find("two_level"); }

/// Beyond so many standard errors a normal number is once in 5e8 draws.
constexpr double six_sigma = 6;

TEST(TwoLevelNodes, EachPlayerIsStratifiedOnBothSides) {
  Rng rng(test_seed(), "strata");
  for (const int pairs : {1, 2, 5, 16}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const double t = rng.uniform(0, 0.5);
      const NodeSample node = draw_node(30, pairs, t, rng);
      ASSERT_EQ(pairs, node.pairs());
      for (int player = 0; player < 30; ++player) {
        int first = 0, second = 0;
        std::vector<bool> met(node.coalitions.size(), false);
        for (int pair = 0; pair < pairs; ++pair) {
          const auto row = static_cast<std::size_t>(2 * pair), opposite = node.opposite(pair, player);
          first += node.coalitions.contains(row, player) ? 1 : 0;
          second += node.coalitions.contains(row + 1, player) ? 1 : 0;
          EXPECT_NE(node.coalitions.contains(row, player), node.coalitions.contains(opposite, player));
          EXPECT_EQ(1u, opposite % 2);
          EXPECT_FALSE(met[opposite]) << "each coalition of the second side is the opposite of one of the first";
          met[opposite] = true;
        }
        EXPECT_LT(std::abs(first - pairs * t), 1) << replay();
        EXPECT_EQ(pairs, first + second);
      }
    }
  }
}

TEST(TwoLevelNodes, OnePairIsACoalitionAndItsComplement) {
  Rng rng(test_seed(), "one pair");
  const NodeSample node = draw_node(70, 1, 0.3, rng);
  for (int player = 0; player < 70; ++player)
    EXPECT_NE(node.coalitions.contains(0, player), node.coalitions.contains(1, player));
}

// The mean over either side against the sum over all coalitions, for any function of the coalition; and over the
// coalitions that are chosen as the opposites for a player.
TEST(TwoLevelNodes, MeansHaveNoBias) {
  constexpr int players = 5, pairs = 3, nodes = 20000;
  constexpr double t = 0.37;
  Rng rng(test_seed(), "bias");
  std::vector<double> function(std::size_t{1} << players);
  for (double& value : function) value = rng.normal();
  double expected = 0, on_other_side = 0;
  for (std::size_t set = 0; set < function.size(); ++set) {
    const int size = std::popcount(set);
    expected += std::pow(t, size) * std::pow(1 - t, players - size) * function[set];
    on_other_side += std::pow(1 - t, size) * std::pow(t, players - size) * function[set];
  }
  estimators::Spread first, second, opposite;
  for (int repeat = 0; repeat < nodes; ++repeat) {
    const NodeSample node = draw_node(players, pairs, t, rng);
    double of_first = 0, of_second = 0;
    for (std::size_t row = 0; row < node.coalitions.size(); ++row)
      (row % 2 == 0 ? of_first : of_second) += function[node.coalitions.row(row)[0]] / pairs;
    first.add(of_first);
    second.add(of_second);
    opposite.add(function[node.coalitions.row(node.opposite(0, 1))[0]]);
  }
  EXPECT_LT(std::abs(first.mean - expected), six_sigma * std::sqrt(first.variance_of_mean())) << replay();
  EXPECT_LT(std::abs(second.mean - on_other_side), six_sigma * std::sqrt(second.variance_of_mean())) << replay();
  EXPECT_LT(std::abs(opposite.mean - on_other_side), six_sigma * std::sqrt(opposite.variance_of_mean())) << replay();
}

/// The sum over the players of the variance of the mean slope over nodes of so many pairs, for 16 pairs in all.
double variance_of_slopes(const Game& game, int pairs, double t, Rng& rng) {
  constexpr int repeats = 100, all_pairs = 16;
  const auto n = static_cast<std::size_t>(game.players());
  std::vector<estimators::Spread> spreads(n);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::vector<double> mean(n, 0.0);
    for (int node = 0; node < all_pairs / pairs; ++node) {
      const std::vector<double> slopes =
          game.slopes()->gradients(corners(draw_node(game.players(), pairs, t, rng).coalitions));
      for (std::size_t i = 0; i < slopes.size(); ++i) mean[i % n] += slopes[i] / (2 * all_pairs);
    }
    for (std::size_t player = 0; player < n; ++player) spreads[player].add(mean[player]);
  }
  return std::accumulate(spreads.begin(), spreads.end(), 0.0,
                         [](double sum, const estimators::Spread& spread) { return sum + spread.variance(); });
}

TEST(TwoLevelNodes, VaryLessThanAsManyPairsOfComplements) {
  Rng rng(test_seed(), "smooth");
  const FadingGame game(64, 0.25);  // whose slopes have errors in many directions: 100 repeats tell their variance
  for (const double t : {0.1, 0.25, 0.35})
    EXPECT_GT(variance_of_slopes(game, 1, t, rng), 1.5 * variance_of_slopes(game, 16, t, rng)) << t << replay();
}

// What two players do together on one side says nothing of the other side, where it would be the same for complements.
TEST(TwoLevelNodes, SidesHaveIndependentQuadraticErrors) {
  constexpr int pairs = 8, nodes = 4000;
  Rng rng(test_seed(), "sides");
  estimators::Spread product;
  double squares = 0;
  for (int repeat = 0; repeat < nodes; ++repeat) {
    const NodeSample node = draw_node(2, pairs, 0.5, rng);
    int alike[2] = {0, 0};  // coalitions of both players or none, less those of one
    for (std::size_t row = 0; row < node.coalitions.size(); ++row)
      alike[row % 2] += node.coalitions.contains(row, 0) == node.coalitions.contains(row, 1) ? 1 : -1;
    product.add(alike[0] * alike[1]);
    squares += static_cast<double>(alike[0] * alike[0]) / nodes;
  }
  EXPECT_LT(std::abs(product.mean), six_sigma * std::sqrt(product.variance_of_mean())) << replay();
  EXPECT_GT(squares, pairs / 2.0) << "there are errors to compare";
}

TEST(TwoLevelNodes, AreOfWholeSamplesOrOfPartsOfOne) {
  for (const std::int64_t samples : {2, 3, 7, 40, 1000}) {
    for (const std::int64_t stride : {1, 2, 5, 31, 400}) {
      const TwoLevelPlan plan{samples, stride};
      const std::vector<std::int64_t> sizes = plan.nodes();
      EXPECT_EQ(plan.pairs(), std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
      EXPECT_GE(std::ssize(sizes), std::min(TwoLevelPlan::fewest_nodes, plan.pairs()));
      EXPECT_GE(std::ranges::min(sizes), 1);
      EXPECT_LT(std::ranges::max(sizes), 2 * TwoLevelPlan::largest_node);
      std::int64_t pair = 0;
      for (const std::int64_t size : sizes) {
        EXPECT_TRUE(pair % stride == 0 || pair / stride == (pair + size - 1) / stride) << samples << " " << stride;
        pair += size;
      }
    }
  }
}

// Slopes of any quality, with nodes of five and more pairs. The mean of the squared errors over that of the variances
// that are claimed is known to some percent: 60 runs of twelve players. What is trend between neighbouring nodes is no
// error, so the claim may be larger.
TEST(TwoLevelNodes, StandardErrorsCoverTheErrors) {
  Rng rng(test_seed(), "coverage");
  const auto table = games::random_table_game(12, rng);
  const std::vector<double> exact = attribute(estimators::find("exact"), *table, {}, 1).values;
  for (const double error : {0.1, 1.0, 10.0}) {
    const GuessedSlopes game(*table, error);
    double squared = 0, claimed = 0;
    int covered = 0, all = 0;
    std::vector<estimators::Spread> off(exact.size());
    for (int run = 0; run < 60; ++run) {
      const Attribution found =
          attribute(node_estimator(), game, {3500}, test_seed() * 1000 + static_cast<std::uint64_t>(run));
      ASSERT_GE(found.error_samples, 2);
      const double most = statistics::student_quantile(0.975, static_cast<double>(found.error_samples - 1));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double apart = found.values[i] - exact[i], claim = (*found.standard_errors)[i];
        off[i].add(apart);
        squared += apart * apart;
        claimed += claim * claim;
        covered += std::abs(apart) <= most * claim ? 1 : 0;
        ++all;
      }
    }
    EXPECT_GT(claimed, 0.75 * squared) << error << replay();
    EXPECT_LT(claimed, 1.6 * squared) << error << replay();
    EXPECT_GT(covered, 0.91 * all) << error << replay();
    for (const estimators::Spread& spread : off)
      EXPECT_LT(std::abs(spread.mean), six_sigma * std::sqrt(spread.variance_of_mean())) << error << replay();
  }
}

}  // namespace
}  // namespace opshap
