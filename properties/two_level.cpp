// The two-level estimator: unbiased whatever the slopes are, with honest standard errors, and far cheaper than
// orderings where the slopes are good.

#include "estimators/two_level.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "games/cell_mask_game.hpp"
#include "games/table_game.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/guessed_slopes.hpp"
#include "support/oracles.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"
#include "support/two_layer_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

const Estimator& two_level() { return estimators::find("two_level"); }

FieldBatch wave(int points) {
  FieldBatch field = FieldBatch::zeros(Domain::unit({points}), 1, 1);
  for (int x = 0; x < points; ++x)
    field.values[static_cast<std::size_t>(x)] = 0.4 + std::cos(6.28 * x / points) - 0.5 * std::sin(18.8 * x / points);
  return field;
}

std::unique_ptr<Game> cells_of(const Operator& op, int points) {
  const FieldBatch input = wave(points);
  return games::cell_mask_game(op, {input, FieldBatch::zeros(input.domain, 1, 1),
                                    Partition::one_player_per_point(input.domain), Query{.point = points / 2}});
}

/// Means over runs with different seeds: of the values, of their squared errors, and of the variances that were
/// claimed.
struct Runs {
  std::vector<double> mean, error;  ///< [n]: of the values, and the standard error of that mean
  double squared = 0, claimed = 0, covered = 0;

  Runs(const Game& game, const std::vector<double>& exact, std::int64_t budget, int replicates) {
    const std::size_t n = exact.size();
    std::vector<double> sum(n, 0.0), squares(n, 0.0);
    for (int run = 0; run < replicates; ++run) {
      const Attribution found =
          attribute(two_level(), game, {budget}, test_seed() * 10000 + static_cast<std::uint64_t>(run));
      for (std::size_t i = 0; i < n; ++i) {
        const double off = found.values[i] - exact[i], claim = (*found.standard_errors)[i];
        sum[i] += off;
        squares[i] += off * off;
        claimed += claim * claim / replicates;
        covered += std::abs(off) <= 1.96 * claim ? 1.0 / replicates / static_cast<double>(n) : 0;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double off = sum[i] / replicates;
      mean.push_back(exact[i] + off);
      error.push_back(std::sqrt((squares[i] / replicates - off * off) / (replicates - 1)));
      squared += squares[i] / replicates;
    }
  }
};

void expect_unbiased(const Game& game, std::int64_t budget, int replicates, const char* what) {
  const std::vector<double> exact = attribute(estimators::find("exact"), game, {}, 1).values;
  const Runs runs(game, exact, budget, replicates);
  ASSERT_GT(runs.squared, 0) << what << " is estimated without an error: nothing is tested";
  // Six sigma is beyond the 1 - 1e-6 quantile for all players of all games here.
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ("", mismatch(exact[i], runs.mean[i], sampling(runs.error[i], 6)))
        << what << ", player " << i << "; " << replay();
}

TEST(TwoLevel, IsUnbiasedWhateverTheSlopesAre) {
  Rng rng(test_seed(), "two level");
  const auto table = games::random_table_game(9, rng);
  for (const double error : {0.0, 0.3, 10.0}) expect_unbiased(GuessedSlopes(*table, error), 400, 600, "guessed slopes");
}

TEST(TwoLevel, IsUnbiasedWithTheClosureAndWithPlainGradients) {
  const WeightedMeanOperator cubic(1);
  const TwoLayerOperator plain(1, 1);
  ASSERT_FALSE(plain.has_mean_field());
  expect_unbiased(*cells_of(cubic, 10), 300, 400, "the closure");
  expect_unbiased(*cells_of(plain, 10), 300, 400, "plain gradients");
}

// For slopes that are as bad as no slopes, for good ones, and with many samples of either level.
TEST(TwoLevel, StandardErrorsAreWhatTheErrorsAre) {
  Rng rng(test_seed(), "two level errors");
  const auto table = games::random_table_game(11, rng);
  const std::vector<double> exact = attribute(estimators::find("exact"), *table, {}, 1).values;
  for (const double error : {0.1, 1.0, 10.0}) {
    const Runs runs(GuessedSlopes(*table, error), exact, 1500, 300);
    // A variance's mean over 300 runs of 11 players is known to some percent. The probability to join is spread evenly
    // over the pairs: what the slopes owe to it is less of an error than its spread says.
    EXPECT_GT(runs.claimed, 0.85 * runs.squared) << error << "; " << replay();
    EXPECT_LT(runs.claimed, 1.5 * runs.squared) << error << "; " << replay();
    EXPECT_GT(runs.covered, 0.90) << error << "; " << replay();
  }
}

TEST(TwoLevel, DividesItsBudgetAsTheVariancesAsk) {
  for (const std::int64_t evaluations : {200, 3000, 40000}) {
    for (const double slopes : {0.0, 0.01, 1.0, 100.0}) {
      for (const double corrections : {0.0, 1e-4, 1.0}) {
        const int players = 40;
        const auto variance = [&](std::int64_t samples, std::int64_t stride) {
          return (slopes / static_cast<double>(stride) + corrections) / static_cast<double>(samples);
        };
        const auto plan = estimators::best_two_level_plan(players, 6, evaluations, slopes, corrections);
        EXPECT_LE(plan.cost(players, 6), evaluations);
        EXPECT_GE(plan.samples, 2);
        if (slopes + corrections == 0) {
          EXPECT_EQ((estimators::TwoLevelPlan{}.cost(players, 6)), plan.cost(players, 6));
        }
        for (std::int64_t samples = 2; samples <= evaluations / 80; ++samples) {
          for (std::int64_t stride = 1; stride <= evaluations / 28; stride += 1 + stride / 8) {
            const estimators::TwoLevelPlan other{samples, stride};
            if (other.cost(players, 6) <= evaluations) {
              EXPECT_LE(variance(plan.samples, plan.stride), variance(samples, stride) * (1 + 1e-12));
            }
          }
        }
      }
    }
  }
}

TEST(TwoLevel, InterpolatesPolynomialsBetweenItsNodes) {
  const estimators::Quadrature nodes = estimators::quadrature(estimators::Rule::gauss_legendre, 8);
  for (const double t : {0.0, 0.1, 0.37, 0.5, 1.0}) {
    const std::vector<double> weights = estimators::interpolation_weights(nodes.nodes, t);
    for (int power = 0; power < 8; ++power) {
      double sum = 0;
      for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * std::pow(nodes.nodes[k], power);
      // At the ends the weights are of size 3 and alternate.
      EXPECT_EQ("", mismatch(std::pow(t, power), sum, rounding(1e3, 1))) << t << "^" << power;
    }
  }
}

// The slopes of a hard mask: the closure's at the mask, as the operator gives them; else the gradient at the masked
// field. Here by differences of the values, which the engine and LibTorch do not share.
TEST(TwoLevel, SlopesAreTheDerivativesOfTheExtensionAtTheMask) {
  const auto op = operators::untrained_operator(
      operators::FnoConfig{.n_modes = {5}, .hidden_channels = 8, .n_layers = 3, .domain_padding = 0.25}, 3,
      networks::Precision::float64);
  constexpr int points = 12;
  const FieldBatch input = wave(points), baseline = FieldBatch::zeros(input.domain, 1, 1);
  const auto game = cells_of(*op, points);
  Coalitions coalitions(points, 1);
  for (const int player : {0, 3, 6, 7, 11}) coalitions.insert(0, player);
  const std::vector<double> slopes = game->slopes()->coalition_slopes(coalitions);
  FieldBatch mask = FieldBatch::zeros(input.domain, 1, 1);
  for (int player = 0; player < points; ++player)
    mask.values[static_cast<std::size_t>(player)] = coalitions.contains(0, player) ? 1 : 0;
  constexpr double step = 1e-4;
  for (std::size_t player = 0; player < points; ++player) {
    FieldBatch more = mask, less = mask;
    more.values[player] += step;
    less.values[player] -= step;
    const Query query{.point = points / 2};
    const double difference = op->mean_field_at(input, baseline, more, query).values[0] -
                              op->mean_field_at(input, baseline, less, query).values[0];
    EXPECT_EQ("", mismatch(difference / (2 * step), slopes[player], discretisation(10, step, 2))) << player;
  }
  EXPECT_EQ(6, game->slopes()->pass_cost());
  EXPECT_EQ(3, cells_of(TwoLayerOperator(1, 1), points)->slopes()->pass_cost());
}

// On 256 cells of a network the same error costs orderings several times as much.
TEST(TwoLevel, NeedsFarFewerEvaluationsThanOrderingsOnManyCells) {
  const auto op =
      operators::untrained_operator(operators::FnoConfig{.n_modes = {12}, .hidden_channels = 16, .n_layers = 4}, 5);
  const auto game = cells_of(*op, 256);
  const auto squared_error = [&](const char* method, std::int64_t budget) {
    const Attribution found = attribute(estimators::find(method), *game, {budget}, test_seed());
    double sum = 0;
    for (const double error : *found.standard_errors) sum += error * error;
    return sum * static_cast<double>(budget);
  };
  EXPECT_LT(3 * squared_error("two_level", 6000), squared_error("permutation_antithetic", 6000)) << replay();
}

TEST(TwoLevel, RefusesAGameWithoutSlopes) {
  Rng rng(3);
  const auto table = games::random_table_game(12, rng);
  try {
    attribute(two_level(), *table, {2000}, 1);
    FAIL() << "a game without slopes was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        "two_level: slopes=none (this game has no gradients at its coalitions). Use a sampling method such as "
        "permutation_antithetic, or a game made from an operator.",
        error.what());
  }
}

}  // namespace
}  // namespace opshap
