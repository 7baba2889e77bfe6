// The mean-field closure of a hard random mask: its ends, its slope, its limit, and the Shapley values it gives.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "games/cell_mask_game.hpp"
#include "games/table_game.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/tolerance.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

operators::FnoConfig small_fno(int dimension, const std::string& padding_mode = "symmetric") {
  operators::FnoConfig config{.n_modes = {}, .hidden_channels = 8, .n_layers = 3, .in_channels = 2, .out_channels = 2};
  config.n_modes.assign(static_cast<std::size_t>(dimension), 6);
  config.domain_padding = 0.25;
  config.domain_padding_mode = padding_mode;
  return config;
}

FieldBatch random_fields(const std::vector<int>& shape, std::int64_t batch, int channels, std::uint64_t item) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit(shape), batch, channels);
  Rng rng(5, "mean field test", 0, item);
  for (double& value : fields.values) value = rng.normal();
  return fields;
}

FieldBatch constant(const std::vector<int>& shape, const std::vector<double>& levels) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit(shape), static_cast<std::int64_t>(levels.size()), 1);
  for (std::size_t b = 0; b < levels.size(); ++b)
    std::ranges::fill(fields.field(static_cast<std::int64_t>(b)), levels[b]);
  return fields;
}

/// A few hundred roundings of numbers of size 1 in each of some ten products.
const Tolerance network_rounding = rounding(1e4, 1);

TEST(MeanField, EndsAtTheInputAndAtTheBaseline) {
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{9}, {16}, {6, 8}}) {
    for (const char* padding : {"symmetric", "one-sided"}) {
      const auto op = operators::untrained_operator(small_fno(static_cast<int>(shape.size()), padding), 3,
                                                    networks::Precision::float64);
      const FieldBatch input = random_fields(shape, 1, 2, 0), baseline = random_fields(shape, 1, 2, 1);
      for (const std::int64_t point : {std::int64_t{0}, input.domain.centre(), input.domain.points() - 1}) {
        const Query query{.point = point, .channel = 1};
        const auto found = op->mean_field_at(input, baseline, constant(shape, {0, 1}), query).values;
        EXPECT_EQ("", mismatch(op->values_at(baseline, query)[0], found[0], network_rounding));
        EXPECT_EQ("", mismatch(op->values_at(input, query)[0], found[1], network_rounding));
      }
    }
  }
}

TEST(MeanField, TheGradientIsTheSlopeOfTheValue) {
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{8}, {4, 6}}) {
    const auto op =
        operators::untrained_operator(small_fno(static_cast<int>(shape.size())), 3, networks::Precision::float64);
    const FieldBatch input = random_fields(shape, 1, 2, 2), baseline = random_fields(shape, 1, 2, 3);
    const Query query{.point = input.domain.centre(), .channel = 0};
    FieldBatch t = constant(shape, {0.4});
    const auto gradient = op->mean_field_at(input, baseline, t, query).gradient.values;
    constexpr double step = 1e-4;
    for (std::size_t point = 0; point < gradient.size(); ++point) {
      FieldBatch sides = constant(shape, {0.4, 0.4});
      sides.field(0)[point] += step;
      sides.field(1)[point] -= step;
      const auto values = op->mean_field_at(input, baseline, sides, query).values;
      // A central difference errs by h²/6 times a third derivative, of size 1 for these weights, and by rounding over
      // h.
      EXPECT_EQ("", mismatch((values[0] - values[1]) / (2 * step), gradient[point], discretisation(10, step, 2)));
    }
  }
}

TEST(MeanField, DoesNotDependOnTheBatchOrOnThreads) {
  const auto op = operators::untrained_operator(small_fno(1), 3, networks::Precision::float64);
  const FieldBatch input = random_fields({64}, 1, 2, 2), baseline = random_fields({64}, 1, 2, 3);
  const FieldBatch inclusion = random_fields({64}, 300, 1, 4);
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
  const auto op = operators::untrained_operator(small_fno(1), 3, networks::Precision::float64);
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
  const std::vector<double> values = op->values_at(masked, query);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / masks;
  double spread = 0;
  for (const double value : values) spread += (value - mean) * (value - mean);
  const double error = std::sqrt(spread / (masks - 1.0) / masks);
  const double closure = op->mean_field_at(input, baseline, constant({points}, {t}), query).values[0];
  FieldBatch scaled = input;
  for (double& value : scaled.values) value *= t;
  const double weak_limit = op->values_at(scaled, query)[0];
  EXPECT_EQ("", mismatch(mean, closure, sampling(error)));
  EXPECT_NE("", mismatch(mean, weak_limit, sampling(error))) << "this test could not tell them apart";
}

// With G = m + c·m³ of a linear m with shares ℓ, L = Σ ℓ: the closure's values are ℓ_k(1 + cL²), the Shapley values
// ℓ_k(1 + c(L² + (Σℓ² − Lℓ_k)/2)).
TEST(MeanField, MissesTheCubicFunctionalOfALinearOperatorByItsKnownConstant) {
  constexpr double cubic = 0.7;
  const WeightedMeanOperator op(cubic);
  for (const int n : {8, 12, 16}) {
    const FieldBatch input = random_fields({n}, 1, 1, 9);
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
  const auto op = operators::untrained_operator(small_fno(1), 3, networks::Precision::float64);
  FieldBatch input = random_fields({16}, 1, 2, 2);
  const FieldBatch baseline = random_fields({16}, 1, 2, 3);
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
  const auto game = games::table_game(2, {0, 1, 2, 4});
  EXPECT_THROW(attribute(estimators::find("mean_field"), *game, {}, 1), InvalidArgument);
  EXPECT_THROW(estimators::mean_field(0), InvalidArgument);
}

}  // namespace
}  // namespace opshap
