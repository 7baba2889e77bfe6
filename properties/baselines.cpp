// What hides a player: constants, a state at rest, and the input itself, smoothed. What a Gaussian filter keeps, and
// what an explainer was trained for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "core/error.hpp"
#include "core/explainer.hpp"
#include "core/names.hpp"
#include "core/scenario.hpp"
#include "core/smoothing.hpp"
#include "support/for_all.hpp"
#include "support/operator_inputs.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

using Hidden = ScenarioRule::Hidden;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Axes on which a filter is symmetric: rings, walls on both sides, and nodes with both ends.
Axis symmetric_axis(Rng& rng) {
  const int points = 4 + static_cast<int>(rng.below(12));
  const double extent = rng.uniform(0.5, 3), origin = rng.uniform(-1, 1);
  switch (rng.below(4)) {
    case 0:
      return Axis::ring(points, extent, origin);
    case 1:
      return Axis::closed(points, extent, origin);
    default:
      return Axis::cells(points, extent, origin, rng.below(2) == 0);
  }
}

Domain symmetric_grid(Rng& rng, const std::function<Axis(Rng&)>& axis = symmetric_axis) {
  std::vector<Axis> axes = {axis(rng)};
  if (rng.below(2) == 0) axes.push_back(axis(rng));
  return Domain::grid(std::move(axes));
}

/// From the least width that an axis of four nodes has up to the largest.
double random_width(Rng& rng) { return rng.uniform(0.17, 1); }

/// Averages of up to 32 numbers along each of two axes. Standard normal numbers are less than 8.
const Tolerance of_a_filter = rounding(4 * 32, 8);

/// The mean over the domain of each channel of each field.
std::vector<double> means(const FieldBatch& fields) {
  const auto points = static_cast<std::size_t>(fields.domain.points());
  std::vector<double> found(fields.values.size() / points, 0.0);
  for (std::size_t i = 0; i < fields.values.size(); ++i)
    found[i / points] += fields.values[i] * fields.domain.volume(static_cast<std::int64_t>(i % points));
  for (double& mean : found) mean /= fields.domain.volume();
  return found;
}

TEST(Smoothing, KeepsConstantsAndTheRange) {
  for_all_streams([](Rng& rng) {
    const auto any_axis = [](Rng& from) {  // with a last node that is no end, too
      const int points = 4 + 2 * static_cast<int>(from.below(6));
      return from.below(3) == 0 ? Axis::nodes(2 * points).strided(2) : symmetric_axis(from);
    };
    FieldBatch fields = random_field(symmetric_grid(rng, any_axis), 2, rng, 2);
    const double width = random_width(rng);
    const FieldBatch smooth = smoothed(fields, width);
    const auto [least, most] = std::ranges::minmax(fields.values);
    for (const double value : smooth.values)
      RC_ASSERT(value >= least - of_a_filter.bound && value <= most + of_a_filter.bound);
    const double constant = rng.uniform(-1, 1);
    std::ranges::fill(fields.values, constant);
    RC_ASSERT(mismatch(fields.values, smoothed(fields, width).values, of_a_filter) == "");
  });
}

TEST(Smoothing, KeepsTheMeanOverADomainThatIsWhole) {
  for_all_streams([](Rng& rng) {
    const FieldBatch fields = random_field(symmetric_grid(rng), 2, rng);
    RC_ASSERT(mismatch(means(fields), means(smoothed(fields, random_width(rng))), of_a_filter) == "");
  });
}

TEST(Smoothing, OfAShiftedFieldIsTheShiftedSmoothField) {
  for_all_streams([](Rng& rng) {
    const auto ring = [](Rng& from) {
      const int points = 4 + static_cast<int>(from.below(12));
      return from.below(2) == 0 ? Axis::ring(points, from.uniform(0.5, 3)) : Axis::cells(points, 1, 0, true);
    };
    const FieldBatch fields = random_field(symmetric_grid(rng, ring), 1, rng);
    const std::vector<int>& shape = fields.domain.shape();
    const int columns = shape.size() == 2 ? shape[1] : 1, down = static_cast<int>(rng.below(16)),
              across = static_cast<int>(rng.below(16));
    const auto shifted = [&](FieldBatch field) {
      const std::vector<double> before = field.values;
      for (int row = 0; row < shape[0]; ++row) {
        for (int column = 0; column < columns; ++column)
          field.values[static_cast<std::size_t>(row * columns + column)] =
              before[static_cast<std::size_t>((row + down) % shape[0] * columns + (column + across) % columns)];
      }
      return field;
    };
    const double width = random_width(rng);
    RC_ASSERT(mismatch(shifted(smoothed(fields, width)).values, smoothed(shifted(fields), width).values, of_a_filter) ==
              "");
  });
}

/// What a Gaussian sampled at the points of a period does to a wave: Poisson's sum over the waves that look alike on
/// the grid, whose continuous factors are exp(−2π²s²k²) for a deviation of s periods.
double factor_of_wave(int wave, int points, double deviation) {
  double found = 0, constant = 0;
  for (int image = -8; image <= 8; ++image) {
    const auto factor = [&](int k) { return std::exp(-2 * std::pow(std::numbers::pi * deviation * k, 2)); };
    found += factor(wave + image * points);
    constant += factor(image * points);
  }
  return found / constant;
}

// The oracle is another sum: over waves, not over images of points.
TEST(Smoothing, DampsEachWaveAsAGaussianDoes) {
  for_all_streams([](Rng& rng) {
    const int points = 8 + static_cast<int>(rng.below(24)), wave = static_cast<int>(rng.below(4));
    const double width = rng.uniform(0.5 / points, 0.4), phase = rng.uniform(0, 6);
    FieldBatch ring = FieldBatch::zeros(Domain::grid({Axis::ring(points, 2.5)}), 1, 1);
    FieldBatch walls = FieldBatch::zeros(Domain::grid({Axis::cells(points, 2.5, -1)}), 1, 1);
    FieldBatch nodes = FieldBatch::zeros(Domain::grid({Axis::closed(points + 1, 2.5)}), 1, 1);
    for (int j = 0; j < points; ++j) {
      ring.values[static_cast<std::size_t>(j)] = std::cos(2 * std::numbers::pi * wave * j / points + phase);
      walls.values[static_cast<std::size_t>(j)] = std::cos(std::numbers::pi * wave * (j + 0.5) / points);
    }
    for (int j = 0; j <= points; ++j)
      nodes.values[static_cast<std::size_t>(j)] = std::cos(std::numbers::pi * wave * j / points);
    const auto damped = [](std::vector<double> values, double factor) {
      for (double& value : values) value *= factor;
      return values;
    };
    const double of_ring = factor_of_wave(wave, points, width);
    // Between walls the period is twice the axis, and has twice the points.
    const double of_mirrors = factor_of_wave(wave, 2 * points, width / 2);
    RC_ASSERT(mismatch(damped(ring.values, of_ring), smoothed(ring, width).values, of_a_filter) == "");
    RC_ASSERT(mismatch(damped(walls.values, of_mirrors), smoothed(walls, width).values, of_a_filter) == "");
    RC_ASSERT(mismatch(damped(nodes.values, of_mirrors), smoothed(nodes, width).values, of_a_filter) == "");
  });
}

TEST(Smoothing, WidthsAndDomainsThatCannotWorkAreRefused) {
  const FieldBatch line = FieldBatch::zeros(Domain::unit({16}), 1, 1);
  expect_refusals<InvalidArgument>(Refusals<double>{{0, "blur=0 ("},
                                                    {-0.1, "blur=-0.1"},
                                                    {1.5, "at most 1"},
                                                    {not_a_number, "blur=nan"},
                                                    {infinity, "blur=inf"},
                                                    {0.031, "16 points on an axis are 0.0625 of its length apart"}},
                                   [&](double width) { smoothed(line, width); });
  EXPECT_NO_THROW(smoothed(line, 1.0 / 32));
  const Domain mesh = Domain::mesh(Mesh::of_points(1, {0, 0.3, 1}, {0.2, 0.5, 0.3}));
  EXPECT_TRUE(has(refusal([&] { smoothed(FieldBatch::zeros(mesh, 1, 1), 0.2); }), "mesh of 3 points"));
  const Domain fine = Domain::unit({(1 << 15) + 1});
  EXPECT_TRUE(has(refusal([&] { require_smoothing("here", fine, 0.2); }), "here: blur=0.2 (an axis has 32769 points"));
}

TEST(Baselines, OfConstantsHoldThemInEachChannel) {
  for_all_streams([](Rng& rng) {
    const int channels = 1 + static_cast<int>(rng.below(3));
    const FieldBatch field = random_field(symmetric_grid(rng), channels, rng);
    ScenarioRule rule;
    rule.baseline = std::vector{Hidden::mean, Hidden::constant, Hidden::rest}[rng.below(3)];
    for (int channel = 0; channel < channels; ++channel) rule.constants.push_back(rng.uniform(-2, 2));
    const Scenario scenario = make_scenario(rule, field);
    const auto points = static_cast<std::size_t>(field.domain.points());
    for (std::size_t i = 0; i < scenario.baseline.values.size(); ++i)
      RC_ASSERT(scenario.baseline.values[i] == rule.constants[i / points]);
    rule.constants.push_back(0);
    RC_ASSERT(has(refusal([&] { make_scenario(rule, field); }),
                  message("numbers: ", channels + 1, ", channels of the input: ", channels)));
    rule.constants.pop_back();
    rule.constants.back() = rng.below(2) == 0 ? not_a_number : infinity;
    RC_ASSERT(has(refusal([&] { make_scenario(rule, field); }), "not a finite number"));
  });
}

// A blur is of the input as the game has it, and channels that always show the input are not smoothed.
TEST(Baselines, OfABlurAreTheSmoothInputAtItsResolution) {
  Rng rng(4, "blur");
  const FieldBatch field = random_field(Domain::unit({16, 16}), 2, rng);
  const ScenarioRule rule{.baseline = Hidden::blur, .blur = 0.2, .masked = {1}};
  const FieldBatch coarse = strided(field, {8, 8});
  std::vector<double> expected = smoothed(coarse, 0.2).values;
  std::copy_n(coarse.values.begin(), 64, expected.begin());
  EXPECT_EQ(expected, make_scenario(rule, field, {8, 8}).baseline.values);
  EXPECT_EQ(expected, scenario_at(rule, field, 8).baseline.values);
  EXPECT_TRUE(rule.baseline_depends_on_input());
  EXPECT_TRUE((ScenarioRule{.baseline = Hidden::blur}.baseline_depends_on_input()));
  EXPECT_FALSE((ScenarioRule{.baseline = Hidden::rest, .constants = {1}}.baseline_depends_on_input()));
  EXPECT_TRUE(has(refusal([&] {
                    make_scenario({.baseline = Hidden::blur, .blur = 0.05}, field, {8, 8});
                  }),
                  "scenario: blur=0.05 (8 points"));
}

TEST(Baselines, WordsOfABlurAreReadAsTheyAreWritten) {
  for_all_streams([](Rng& rng) {
    const double width = rng.uniform(0, 1);
    RC_ASSERT(parse_blur("here", blur_in_words(width)) == width);
    RC_ASSERT(number_of<double>(shortest(width)) == width);
  });
  EXPECT_EQ(default_blur, parse_blur("here", "blur"));
  EXPECT_EQ("blur", blur_in_words(default_blur));
  EXPECT_EQ(0.1, parse_blur("here", "blur:0.1"));
  for (const char* other : {"", "zero", "blurred", "blur.npy", "Blur"}) EXPECT_EQ(std::nullopt, parse_blur("", other));
  for (const char* bad : {"blur:", "blur:0", "blur:-1", "blur:1.1", "blur:nan", "blur:inf", "blur:wide", "blur:0.1x"})
    EXPECT_TRUE(has(refusal([&] { parse_blur("here", bad); }), message("here=", bad, " (the width"))) << bad;
}

// Rows and trainings of before have these words.
TEST(Baselines, AreDescribedWithAllTheirDigits) {
  EXPECT_EQ("zero", ScenarioRule{}.baseline_in_words());
  EXPECT_EQ("mean (0.333333,2)",
            (ScenarioRule{.baseline = Hidden::mean, .constants = {1.0 / 3, 2}}).baseline_in_words());
  EXPECT_EQ("constant (0.3333333333333333,0)",
            (ScenarioRule{.baseline = Hidden::constant, .constants = {1.0 / 3, 0}}).baseline_in_words());
  EXPECT_EQ("rest (1,0)", (ScenarioRule{.baseline = Hidden::rest, .constants = {1, 0}}).baseline_in_words());
  EXPECT_EQ("rest", (ScenarioRule{.baseline = Hidden::rest}).baseline_in_words());
  EXPECT_EQ("blur:0.15", (ScenarioRule{.baseline = Hidden::blur}).baseline_in_words());
  EXPECT_TRUE(has((ScenarioRule{.baseline = Hidden::blur}).describe(), "; baseline: blur:0.15; query: centre"));
}

// A constant hides the same whoever names it. An explainer of one baseline is not one of another.
TEST(Baselines, TellWhatAnExplainerWasTrainedFor) {
  const WeightedMeanOperator op(0.5);
  const auto fact = [&](const ScenarioRule& rule) { return trained_for(op, rule).at("baseline"); };
  EXPECT_EQ("zero", fact({}));
  EXPECT_EQ("zero", fact({.baseline = Hidden::constant, .constants = {0, 0}}));
  for (const Hidden named : {Hidden::mean, Hidden::constant, Hidden::rest})
    EXPECT_EQ("1,0.5", fact({.baseline = named, .constants = {1, 0.5}}));
  EXPECT_EQ("blur:0.15", fact({.baseline = Hidden::blur}));
  const TrainedFor wide = trained_for(op, {.baseline = Hidden::blur, .blur = 0.3});
  EXPECT_EQ("baseline blur:0.15 instead of blur:0.3", differences(wide, trained_for(op, {.baseline = Hidden::blur})));
  EXPECT_EQ("baseline zero instead of blur:0.3", differences(wide, trained_for(op, {})));
}

}  // namespace
}  // namespace opshap
