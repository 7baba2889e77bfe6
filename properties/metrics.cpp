// Scores against closed forms, and the reasons they give when there is none.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "metrics/registry.hpp"
#include "support/for_all.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using Vector = std::vector<double>;

const double tight = rounding(1e3, 10).bound;

Vector drawn(int size, std::uint64_t seed) {
  Rng rng(seed, "metrics");
  Vector values;
  for (int i = 0; i < size; ++i) values.push_back(rng.normal());
  return values;
}

TEST(Pearson, IsTheCosineOfCentredVectors) {
  // Centred: (-1, 0, 1) and (-1, 1, 0): cosine 1/2.
  EXPECT_NEAR(0.5, *metrics::pearson(Vector{1, 2, 3}, Vector{4, 6, 5}).value, tight);
  EXPECT_DOUBLE_EQ(1, *metrics::pearson(Vector{1, 2}, Vector{-5, 9}).value);
  EXPECT_DOUBLE_EQ(-1, *metrics::pearson(Vector{1, 2}, Vector{9, -5}).value);
}

TEST(Pearson, IgnoresShiftAndPositiveScale) {
  for_all([](std::uint64_t seed, std::uint8_t extra) {
    const int players = 3 + extra % 60;
    const Vector reference = drawn(players, seed), estimate = drawn(players, seed + 1);
    Vector moved = estimate;
    for (double& value : moved) value = 3.5 * value - 2;
    RC_ASSERT(std::abs(*metrics::pearson(reference, estimate).value - *metrics::pearson(reference, moved).value) <
              tight);
  });
}

// Squares of numbers beyond 1e±154 are beyond the range of doubles.
TEST(Pearson, IsTheSameToTheLastDigitForValuesOfAnySize) {
  for_all([](std::uint64_t seed) {
    const Vector reference = drawn(9, seed), estimate = drawn(9, seed + 1);
    const double expected = *metrics::pearson(reference, estimate).value;
    for (const int exponent : {-960, -600, -530, 530, 960}) {
      Vector small = estimate, large = reference;
      for (double& value : small) value = std::ldexp(value, exponent);
      for (double& value : large) value = std::ldexp(value, -exponent);
      RC_ASSERT(metrics::pearson(reference, small).value == expected);
      RC_ASSERT(metrics::pearson(large, small).value == expected);
      RC_ASSERT(metrics::pearson(small, estimate).value == metrics::pearson(estimate, estimate).value);
    }
  });
  EXPECT_DOUBLE_EQ(1, *metrics::pearson(Vector{1, 2}, Vector{0, 5e-324}).value);
  EXPECT_NEAR(0.5, *metrics::pearson(Vector{-1.7e308, 0, 1.7e308}, Vector{4, 6, 5}).value, tight);
}

TEST(Pearson, SaysWhyThereIsNone) {
  EXPECT_EQ("one player has no correlation", metrics::pearson(Vector{1}, Vector{2}).why);
  EXPECT_EQ("constant reference", metrics::pearson(Vector{2, 2, 2}, Vector{1, 2, 3}).why);
  EXPECT_EQ("constant attribution", metrics::pearson(Vector{1, 2, 3}, Vector{2, 2, 2}).why);
  EXPECT_EQ("constant attribution", metrics::pearson(drawn(97, 1), Vector(97, 0.1)).why);  // whose mean is rounded
  EXPECT_EQ("constant reference", metrics::pearson(Vector{0, 0}, Vector{0, 0}).why);
  EXPECT_FALSE(metrics::pearson(Vector{1, 2}, Vector{1, std::nan("")}).value);
  EXPECT_THROW(metrics::pearson(Vector{1, 2}, Vector{1}), InvalidArgument);
}

TEST(Nrmse, IsTheRelativeDistance) {
  EXPECT_DOUBLE_EQ(1, *metrics::nrmse(Vector{3, 4}, Vector{0, 0}).value);
  EXPECT_DOUBLE_EQ(0.2, *metrics::nrmse(Vector{3, 4}, Vector{3, 5}).value);
  EXPECT_DOUBLE_EQ(0, *metrics::nrmse(Vector{3, 4}, Vector{3, 4}).value);
  EXPECT_DOUBLE_EQ(0.2, *metrics::nrmse(Vector{3e-200, 4e-200}, Vector{3e-200, 5e-200}).value);  // squares would vanish
}

TEST(Nrmse, OfAZeroReferenceIsUndefinedUnlessTheEstimateIsZeroToo) {
  EXPECT_EQ("zero reference", metrics::nrmse(Vector{0, 0}, Vector{0, 1}).why);
  EXPECT_DOUBLE_EQ(0, *metrics::nrmse(Vector{0, 0}, Vector{0, 0}).value);
  EXPECT_FALSE(metrics::nrmse(Vector{1, 1}, Vector{0, std::numeric_limits<double>::infinity()}).value);
}

/// All coalitions of n players, and Σ weights of members + c·|S|² on them.
struct Sums {
  Coalitions coalitions;
  Vector gains;

  Sums(const Vector& weights, double square)
      : coalitions(Coalitions::enumerate(static_cast<int>(weights.size()), 0, std::uint64_t{1} << weights.size())) {
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      double sum = square * std::pow(coalitions.cardinality(row), 2);
      for (int player = 0; player < coalitions.players(); ++player)
        sum += coalitions.contains(row, player) ? weights[static_cast<std::size_t>(player)] : 0;
      gains.push_back(sum);
    }
  }
};

TEST(WeightedR2, OfTheWeightsOfAnAdditiveGameIsOne) {
  for_all([](std::uint64_t seed, std::uint8_t extra) {
    const Vector weights = drawn(2 + extra % 8, seed);
    const Sums game(weights, 0);
    RC_ASSERT(std::abs(*metrics::weighted_r2(weights, game.coalitions, game.gains).value - 1) < tight);
  });
}

TEST(WeightedR2, ComparesResidualsWithTheSpread) {
  // Two players, v = |S|² on {∅, {0}, {1}, {0,1}}: gains 0, 1, 1, 4, mean 3/2, spread 9. Values (1, 1) leave 0, 0,
  // 0, 2.
  const Sums game({0, 0}, 1);
  EXPECT_DOUBLE_EQ(1 - 4.0 / 9, *metrics::weighted_r2(Vector{1, 1}, game.coalitions, game.gains).value);
  // Nothing explained: residuals are the gains themselves, 18, more than the spread.
  EXPECT_DOUBLE_EQ(-1, *metrics::weighted_r2(Vector{0, 0}, game.coalitions, game.gains).value);
}

TEST(WeightedR2, DoesNotDependOnTheUnitOfV) {
  const Sums game({0.3, -0.7, 0.2}, 1);
  const double expected = *metrics::weighted_r2(Vector{0.5, 0.25, 1}, game.coalitions, game.gains).value;
  // Powers of two keep every digit; squares of the smallest would be 2^-2000, of the largest 2^2000.
  for (const int exponent : {-1000, -300, 300, 1000}) {
    Vector gains = game.gains;
    for (double& gain : gains) gain = std::ldexp(gain, exponent);
    const Vector values = {std::ldexp(0.5, exponent), std::ldexp(0.25, exponent), std::ldexp(1, exponent)};
    EXPECT_EQ(expected, metrics::weighted_r2(values, game.coalitions, gains).value) << exponent;
  }
  EXPECT_EQ("v is the same on all coalitions",
            metrics::weighted_r2(Vector{1, 1, 1}, game.coalitions, Vector(game.gains.size(), 0)).why);
}

TEST(WeightedR2, CountsMembersInEveryWord) {
  Coalitions coalitions(130);
  coalitions.append_empty();
  coalitions.append_grand();
  coalitions.append_empty();
  coalitions.insert(2, 129);
  const Vector values = drawn(130, 4);
  double sum = 0;
  for (const double value : values) sum += value;
  EXPECT_NEAR(1, *metrics::weighted_r2(values, coalitions, Vector{0, sum, values[129]}).value, tight);
}

TEST(WeightedR2, IsUndefinedWhenTheGameNeverChanges) {
  Coalitions two(1);
  two.append_grand();
  two.append_grand();
  EXPECT_EQ("v is the same on all coalitions", metrics::weighted_r2(Vector{1}, two, Vector{3, 3}).why);
  Coalitions many(2, 1000);
  EXPECT_FALSE(metrics::weighted_r2(Vector{1, 1}, many, Vector(1000, 0.1)).value)
      << "the mean of equal values is rounded";
  EXPECT_THROW(metrics::weighted_r2(Vector{1}, many, Vector(1000, 0.1)), InvalidArgument);
  EXPECT_THROW(metrics::weighted_r2(Vector{1, 1}, many, Vector(3, 0.1)), InvalidArgument);
}

TEST(EfficiencyGap, IsRelativeToTheLargerOfGainAndValues) {
  Attribution attribution{.values = {1, 2}, .standard_errors = {}, .empty = 1, .grand = 5};  // gain 4, values 3
  EXPECT_DOUBLE_EQ(0.25, *metrics::efficiency_gap(attribution).value);
  attribution.values = {5, -5};  // gain 0, values 10
  attribution.grand = 1;
  EXPECT_DOUBLE_EQ(0, *metrics::efficiency_gap(attribution).value);
  attribution.values = {0, 0};
  EXPECT_DOUBLE_EQ(0, *metrics::efficiency_gap(attribution).value);
  attribution.values = {0, std::nan("")};
  EXPECT_FALSE(metrics::efficiency_gap(attribution).value);
}

TEST(Metrics, EveryRegisteredOneSaysWhatItIs) {
  for (const metrics::Metric& metric : metrics::all()) {
    EXPECT_FALSE(metric.name.empty() || metric.symbol.empty() || metric.range.empty() || metric.definition.empty())
        << metric.name;
    EXPECT_GT(metric.tolerance, 0) << metric.name;
    EXPECT_EQ(metric.name, metrics::find(metric.name).name);
  }
  EXPECT_THROW(metrics::find("pearsson"), InvalidArgument);
}

}  // namespace
}  // namespace opshap
