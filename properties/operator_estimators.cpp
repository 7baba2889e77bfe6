// Estimators on the games of operators. The mean-field closure of a hard random mask: its limit, and the Shapley
// values it gives (architectures.cpp has its ends and its slope for every architecture). The two-level estimator:
// unbiased whatever the slopes are, with honest standard errors, and far cheaper than orderings where the slopes are
// good. Masked attributions: they add up to F(u)(x*) − F(u_b)(x*) for every partition of unity (OperatorSHAP, theorem
// on partitions of unity).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "estimators/two_level.hpp"
#include "games/cell_mask_game.hpp"
#include "games/partition_of_unity.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/guessed_slopes.hpp"
#include "support/networks.hpp"
#include "support/operator_inputs.hpp"
#include "support/refusal.hpp"
#include "support/replicates.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"
#include "support/two_layer_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

const operators::FnoConfig small_line{
    .n_modes = {6}, .hidden_channels = 8, .n_layers = 3, .in_channels = 2, .out_channels = 2, .domain_padding = 0.25};

/// A few hundred roundings of numbers of size 1 in each of some ten products.
const Tolerance network_rounding = rounding(1e4, 1);

TEST(MeanField, DoesNotDependOnTheBatchOrOnThreads) {
  const auto op = operators::untrained_operator(small_line, 3, networks::Precision::float64);
  const auto input = random_fields(Domain::unit({64}), 1, 2, 2), baseline = random_fields(Domain::unit({64}), 1, 2, 3);
  const FieldBatch inclusion = random_fields(Domain::unit({64}), 300, 1, 4);
  const Query query{.point = 7};
  set_threads(1);
  const auto one = op->mean_field_at(input, baseline, inclusion, query);
  set_threads(3);
  const auto three = op->mean_field_at(input, baseline, inclusion, query);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.gradient.values, three.gradient.values);
  const auto alone = op->mean_field_at(input, baseline, inclusion.one(123), query);
  EXPECT_EQ("", mismatch(alone.values[0], one.values[123], network_rounding));
}

/// What the closure claims to be: with many cells, the mean value over random masks. Gradients on the diagonal evaluate
/// the operator at t·u instead.
TEST(MeanField, IsTheMeanOverRandomMasksOfManyCellsAndTheScaledInputIsNot) {
  constexpr int points = 512, masks = 4000;
  const double t = 0.3;
  const auto op = operators::untrained_operator(small_line, 3, networks::Precision::float64);
  FieldBatch input = FieldBatch::zeros(Domain::unit({points}), 1, 2);
  for (int x = 0; x < points; ++x) {
    input.values[static_cast<std::size_t>(x)] = 3 * std::cos(6.28318530718 * x / points);
    input.values[static_cast<std::size_t>(points + x)] = 2 + std::sin(6.28318530718 * x / points);
  }
  const FieldBatch baseline = FieldBatch::zeros(input.domain, 1, 2);
  const Query query{.point = points / 2};
  FieldBatch masked = FieldBatch::zeros(input.domain, masks, 2);
  Rng rng(8, "random masks");
  for (int b = 0; b < masks; ++b) {
    const auto field = masked.field(b);
    for (std::size_t x = 0; x < points; ++x) {
      if (rng.uniform() >= t) continue;
      field[x] = input.values[x];
      field[points + x] = input.values[points + x];
    }
  }
  Replicates values;
  for (const double value : op->values_at(masked, query)) values.add(value);
  FieldBatch levels = FieldBatch::zeros(input.domain, 1, 1);
  std::ranges::fill(levels.values, t);
  const double closure = op->mean_field_at(input, baseline, levels, query).values[0];
  FieldBatch scaled = input;
  for (double& value : scaled.values) value *= t;
  const double weak_limit = op->values_at(scaled, query)[0];
  EXPECT_EQ("", mismatch(values.mean(), closure, sampling(values.error())));
  EXPECT_NE("", mismatch(values.mean(), weak_limit, sampling(values.error()))) << "this test could not tell them apart";
}

// With G = m + c·m³ of a linear m with shares ℓ, L = Σ ℓ: the closure's values are ℓ_k(1 + cL²), the Shapley values
// ℓ_k(1 + c(L² + (Σℓ² − Lℓ_k)/2)).
TEST(MeanField, MissesTheCubicFunctionalOfALinearOperatorByItsKnownConstant) {
  constexpr double cubic = 0.7;
  const WeightedMeanOperator op(cubic);
  for (const int n : {8, 12, 16}) {
    const FieldBatch input = random_fields(Domain::unit({n}), 1, 1, 9);
    const auto game = games::cell_mask_game(op, {input, FieldBatch::zeros(input.domain, 1, 1),
                                                 Partition::one_player_per_point(input.domain), Query{.point = 3}});
    std::vector<double> shares, closure, shapley;
    for (int y = 0; y < n; ++y)
      shares.push_back(WeightedMeanOperator::weight(3, y, n) * input.values[static_cast<std::size_t>(y)]);
    const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    const double squares = std::inner_product(shares.begin(), shares.end(), shares.begin(), 0.0);
    for (const double share : shares) {
      closure.push_back(share * (1 + cubic * total * total));
      shapley.push_back(share * (1 + cubic * (total * total + (squares - total * share) / 2)));
    }
    EXPECT_EQ("", mismatch(closure, attribute(*estimators::mean_field(2), *game, {}, 1).values, rounding(1e3, 1)));
    EXPECT_EQ("", mismatch(shapley, attribute(estimators::find("exact"), *game, {}, 1).values, rounding(1e4, 1)));
  }
}

TEST(MeanField, IsEfficientAndGivesNullPlayersNothing) {
  const auto op = operators::untrained_operator(small_line, 3, networks::Precision::float64);
  FieldBatch input = random_fields(Domain::unit({16}), 1, 2, 2);
  const FieldBatch baseline = random_fields(Domain::unit({16}), 1, 2, 3);
  input.values[5] = baseline.values[5];
  input.values[21] = baseline.values[21];
  const auto game =
      games::cell_mask_game(*op, {input, baseline, Partition::one_player_per_point(input.domain), Query{.point = 8}});
  double gap = 1;
  for (const int nodes : {2, 4, 8, 16}) {
    const Attribution found = attribute(*estimators::mean_field(nodes), *game, {}, 1);
    EXPECT_EQ(0, found.values[5]);
    EXPECT_EQ(nodes, found.gradients);
    EXPECT_EQ(2, found.distinct);
    EXPECT_LT(std::abs(found.efficiency_gap()), gap) << nodes << " nodes";
    gap = std::max(std::abs(found.efficiency_gap()), 1e-12);
  }
  EXPECT_LT(gap, 1e-9) << "an analytic integrand: the error of Gauss-Legendre falls geometrically";
}

TEST(MeanField, GamesWithoutClosureAreRefused) {
  EXPECT_THROW(attribute(estimators::find("mean_field"), *games::table_game(2, {0, 1, 2, 4}), {}, 1), InvalidArgument);
  EXPECT_THROW(estimators::mean_field(0), InvalidArgument);
}

const Estimator& two_level() { return estimators::find("two_level"); }

FieldBatch wave_field(int points) {
  FieldBatch field = FieldBatch::zeros(Domain::unit({points}), 1, 1);
  for (int x = 0; x < points; ++x)
    field.values[static_cast<std::size_t>(x)] = 0.4 + std::cos(6.28 * x / points) - 0.5 * std::sin(18.8 * x / points);
  return field;
}

std::unique_ptr<Game> cells_of(const Operator& op, int points) {
  const FieldBatch input = wave_field(points);
  return games::cell_mask_game(op, {input, FieldBatch::zeros(input.domain, 1, 1),
                                    Partition::one_player_per_point(input.domain), Query{.point = points / 2}});
}

/// Runs with different seeds: the errors of the values, and means of squared errors and of the variances that were
/// claimed.
struct Runs {
  Replicates off;
  double squared = 0, claimed = 0, covered = 0;

  Runs(const Game& game, const std::vector<double>& exact, std::int64_t budget, int replicates) {
    for (int run = 0; run < replicates; ++run) {
      const auto found = attribute(two_level(), game, {budget}, test_seed() * 10000 + static_cast<std::uint64_t>(run));
      std::vector<double> errors;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double error = found.values[i] - exact[i], claim = (*found.standard_errors)[i];
        errors.push_back(error);
        squared += error * error / replicates;
        claimed += claim * claim / replicates;
        covered += std::abs(error) <= 1.96 * claim ? 1.0 / replicates / static_cast<double>(exact.size()) : 0;
      }
      off.add(errors);
    }
  }
};

void expect_unbiased(const Game& game, std::int64_t budget, int replicates, const char* what) {
  const std::vector<double> exact = attribute(estimators::find("exact"), game, {}, 1).values;
  const Runs runs(game, exact, budget, replicates);
  ASSERT_GT(runs.squared, 0) << what << " is estimated without an error: nothing is tested";
  // Six sigma is beyond the 1 - 1e-6 quantile for all players of all games here.
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ("", mismatch(0, runs.off.mean(i), sampling(runs.off.error(i), 6)))
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
  for (const std::int64_t evaluations : {200, 3000, 40000})
    for (const double slopes : {0.0, 0.01, 1.0, 100.0})
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
        for (std::int64_t samples = 2; samples <= evaluations / 80; ++samples)
          for (std::int64_t stride = 1; stride <= evaluations / 28; stride += 1 + stride / 8) {
            const estimators::TwoLevelPlan other{samples, stride};
            if (other.cost(players, 6) <= evaluations) {
              EXPECT_LE(variance(plan.samples, plan.stride), variance(samples, stride) * (1 + 1e-12));
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
  const FieldBatch input = wave_field(points), baseline = FieldBatch::zeros(input.domain, 1, 1);
  const auto game = cells_of(*op, points);
  Coalitions coalitions(points, 1);
  for (const int player : {0, 3, 6, 7, 11}) coalitions.insert(0, player);
  const std::vector<double> slopes = game->slopes()->gradients(corners(coalitions));
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
  EXPECT_EQ(
      "two_level: slopes=none (this game has no gradients at its coalitions). Use a sampling method such as "
      "permutation_antithetic, or a game made from an operator.",
      refusal<InvalidArgument>([&] { attribute(two_level(), *table, {2000}, 1); }));
}

/// A network with random parameters and a question to it.
struct GradientQuestion {
  std::unique_ptr<Operator> op;
  FieldBatch input, baseline;
  Query query;

  double gain() const { return op->values_at(input, query).front() - op->values_at(baseline, query).front(); }
  double total(std::span<const double> masks, const estimators::Quadrature& rule) const {
    const auto found = games::masked_attributions(*op, input, baseline, query, masks, rule.nodes, rule.weights);
    return std::accumulate(found.begin(), found.end(), 0.0);
  }
};

GradientQuestion random_gradient_question(const std::vector<int>& shape) {
  operators::FnoConfig config{
      .n_modes = {}, .hidden_channels = 8, .n_layers = 3, .in_channels = 2, .domain_padding = 0.5};
  config.n_modes.assign(shape.size(), 6);
  const Domain domain = Domain::unit(shape);
  Rng rng(9, "partition of unity", static_cast<std::uint32_t>(shape.size()));
  return {.op = operators::untrained_operator(config, 3, networks::Precision::float64),
          .input = random_field(domain, 2, rng),
          .baseline = random_field(domain, 2, rng),
          .query = {.point = domain.centre()}};
}

const std::vector<std::vector<int>> question_shapes = {{32}, {8, 8}};

TEST(PartitionOfUnityFno, MaskedAttributionsAddUpToTheSame) {
  for (const std::vector<int>& shape : question_shapes) {
    const GradientQuestion question = random_gradient_question(shape);
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, 3);
    const std::vector<double> ones(static_cast<std::size_t>(question.input.domain.points()), 1.0);
    const double expected = question.total(ones, rule);
    Rng rng(1, "partitions");
    for (int trial = 0; trial < 200; ++trial) {
      const games::PartitionOfUnity masks = random_partition_of_unity(question.input.domain, rng);
      // Sums over 64 points and 2 channels of slopes below 1, which are the same for all partitions.
      ASSERT_EQ("", mismatch(expected, question.total(masks.values(), rule), rounding(1e3, 1))) << trial;
    }
    EXPECT_NE("", mismatch(expected, question.gain(), rounding(1e3, 1))) << "three nodes are not the integral";
  }
}

TEST(PartitionOfUnityFno, MaskedAttributionsAddUpToTheGainUpToTheQuadrature) {
  for (const std::vector<int>& shape : question_shapes) {
    const GradientQuestion question = random_gradient_question(shape);
    const std::vector<double> ones(static_cast<std::size_t>(question.input.domain.points()), 1.0);
    std::vector<double> errors;
    for (const int nodes : {25, 50, 100})
      errors.push_back(question.total(ones, estimators::quadrature(estimators::Rule::midpoint, nodes)) -
                       question.gain());
    // The midpoint rule's error is C/K² with the next term in K⁻⁴.
    EXPECT_NEAR(4, errors[0] / errors[1], 0.1);
    EXPECT_NEAR(4, errors[1] / errors[2], 0.1);
    EXPECT_EQ("", mismatch(question.gain(),
                           question.total(ones, estimators::quadrature(estimators::Rule::gauss_legendre, 50)),
                           rounding(1e4, 1)));
  }
}

TEST(PartitionOfUnityFno, GamesAgreeWithTheMaskedAttributions) {
  for (const std::vector<int>& shape : question_shapes) {
    const GradientQuestion question = random_gradient_question(shape);
    const Domain& domain = question.input.domain;
    Rng rng(2, "partitions");
    for (int trial = 0; trial < 10; ++trial) {
      const games::PartitionOfUnity masks = random_partition_of_unity(domain, rng);
      const Partition cells = random_cells(domain, 5, rng);
      const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, 2);
      const std::vector<double> attributions = games::masked_attributions(
          *question.op, question.input, question.baseline, question.query, masks.values(), rule.nodes, rule.weights);
      const auto estimator = estimators::integrated_gradients(estimators::Rule::midpoint, 2);
      const auto diagonal =
          games::diagonal_game(*question.op, question.input, question.baseline, masks, question.query);
      EXPECT_EQ("", mismatch(attributions, attribute(*estimator, *diagonal, {0}, 1).values, rounding(1e3, 1)));
      const auto smooth =
          games::smooth_operator_game(*question.op, question.input, question.baseline, masks, cells, question.query);
      const games::SparseRows shares = masks.shares(cells);
      std::vector<double> expected;
      for (std::size_t player = 0; player < 5; ++player) expected.push_back(shares.dot(player, attributions));
      EXPECT_EQ("", mismatch(expected, attribute(*estimator, *smooth, {0}, 1).values, rounding(1e3, 1)));
      Coalitions outer(5);
      outer.append_empty();
      outer.append_grand();
      const std::vector<double> ends = {question.op->values_at(question.baseline, question.query).front(),
                                        question.op->values_at(question.input, question.query).front()};
      EXPECT_EQ("", mismatch(ends, smooth->values(outer), rounding(1e4, 1)));
    }
  }
}

}  // namespace
}  // namespace opshap
