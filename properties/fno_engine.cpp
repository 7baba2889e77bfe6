// The engine of FNO cell-mask games against the layers written out in double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "engines/axis_basis.hpp"
#include "engines/fno_engines.hpp"
#include "engines/fno_reference.hpp"
#include "support/random_fno.hpp"
#include "support/test_seed.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {

namespace {

using Case = FnoCase;

/// max |difference| over the standard deviation of the exact values.
double relative_error(const std::vector<double>& found, const std::vector<double>& exact) {
  double mean = 0, square = 0, worst = 0;
  for (const double value : exact) mean += value / static_cast<double>(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    square += (exact[i] - mean) * (exact[i] - mean) / static_cast<double>(exact.size());
    worst = std::max(worst, std::abs(found[i] - exact[i]));
  }
  return worst / std::sqrt(square);
}

/// A game of random size and shape with its values in double.
struct Question {
  Case of;
  engines::FnoWeights weights;
  FieldBatch input, baseline;
  std::vector<int> player_of;
  Coalitions coalitions;
  Readout readout;
  std::vector<double> exact;
  double rounding =
      0;  ///< how far v moves when every weight moves by half a unit in its last place, over the spread of v

  std::vector<double> values(const engines::FnoEngine& engine) const {
    std::vector<double> values(coalitions.size());
    engine.values(engine.subject(input.values, baseline.values, player_of, coalitions.players()), engine.heads(readout),
                  coalitions, 0, values);
    return values;
  }
};

std::string describe(const Case& of) {
  std::string text = "shape";
  for (const int size : of.shape) text += message(" ", size);
  text += ", modes";
  for (const int modes : of.modes) text += message(" ", modes);
  return text + message(", width ", of.width, ", layers ", of.layers, ", channels ", of.in_channels, " to ",
                        of.out_channels, ", padding ", of.padding.at(0),
                        of.both_sides ? " on both sides" : " at the end", of.inverse_fftshift ? ", fftshift; " : "; ");
}

/// Every weight moved up or down by half a unit in its last place.
engines::FnoWeights rounded_otherwise(engines::FnoWeights weights, std::uint64_t seed) {
  Rng rng(seed, "fno engine rounding");
  const auto move = [&](float& value) {
    value *= 1 + (rng.below(2) == 0 ? -1.0F : 1.0F) * std::numeric_limits<float>::epsilon() / 2;
  };
  const auto move_all = [&](std::vector<float>& values) { std::ranges::for_each(values, move); };
  const auto move_linear = [&](engines::FnoWeights::Linear& linear) {
    move_all(linear.weight);
    move_all(linear.bias);
  };
  for (engines::FnoWeights::Linear* linear :
       {&weights.lifting0, &weights.lifting1, &weights.projection0, &weights.projection1})
    move_linear(*linear);
  for (engines::FnoWeights::Layer& layer : weights.layers) {
    for (auto& value : layer.spectral) value *= std::complex<float>(1, std::numeric_limits<float>::epsilon() / 2);
    move_all(layer.spectral_bias);
    for (engines::FnoWeights::Linear* linear : {&layer.skip, &layer.mlp0, &layer.mlp1}) move_linear(*linear);
    move_all(layer.gate);
  }
  return weights;
}

Question random_question(const Case& of, int players, std::size_t count, std::uint64_t seed) {
  Question question{.of = of,
                    .weights = random_weights(of, seed),
                    .input = random_field(of, 0, 2, seed + 1),
                    .baseline = random_field(of, -1, 0, seed + 2),
                    .coalitions = random_coalitions(players, count, seed)};
  Rng rng(seed, "fno engine question");
  const auto points = static_cast<std::size_t>(question.input.domain.points());
  for (std::size_t p = 0; p < points; ++p)
    question.player_of.push_back(
        static_cast<int>(p < static_cast<std::size_t>(players) ? p : rng.below(static_cast<std::uint64_t>(players))));
  const auto query = [&] {
    return Query{.point = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(points))),
                 .channel = static_cast<int>(rng.below(static_cast<std::uint64_t>(of.out_channels)))};
  };
  question.readout = query();
  // Weights that single precision has as they are.
  if (seed % 2 == 0) question.readout = Readout({{query(), 1.5}, {query(), -0.25}, {query(), 0.75}});
  const auto values = [&](const engines::FnoWeights& weights) {
    std::vector<double> found;
    for (std::size_t i = 0; i < count; ++i) {
      FieldBatch masked = question.baseline;
      for (std::size_t j = 0; j < masked.values.size(); ++j)
        if (question.coalitions.contains(i, question.player_of[j % points]))
          masked.values[j] = question.input.values[j];
      const std::vector<double> output = engines::fno_reference(weights, masked);
      found.push_back(question.readout.of(output, static_cast<std::int64_t>(points)));
    }
    return found;
  };
  question.exact = values(question.weights);
  for (std::uint64_t k = 0; k < 3; ++k) {
    const std::vector<double> moved = values(rounded_otherwise(question.weights, seed + k));
    question.rounding = std::max(question.rounding, relative_error(moved, question.exact));
  }
  return question;
}

/// Against the spread of v over the coalitions, since v itself may be far larger or near zero: what is asked for, 2e-5;
/// and where the network is so ill conditioned that a rounding of its weights moves v by more, some such roundings:
/// each of its dozen layers rounds its sums anew.
void expect_agreement(const Question& question, const std::string& where = "") {
  for (const std::string& set : kernels::instruction_sets()) {
    const engines::FnoEngine engine(question.weights, question.of.shape, kernels::kernels_for(set));
    EXPECT_LT(relative_error(question.values(engine), question.exact), 2e-5 + 16 * question.rounding)
        << set << ": " << describe(question.of) << where;
  }
}

}  // namespace

TEST(FnoEngine, AgreesWithTheLayersWrittenOutForAnyConfiguration) {
  const std::uint64_t seed = test_seed();
  Rng rng(seed, "fno engine cases");
  const auto up_to = [&](int most) { return 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(most))); };
  for (int trial = 0; trial < 60; ++trial) {
    const bool plane = trial % 2 == 1;
    Case of{.shape = {},
            .width = 2 + up_to(38),
            .layers = up_to(4),
            .in_channels = up_to(2),
            .out_channels = up_to(2),
            .padding = std::vector{0.25 * static_cast<double>(rng.below(4)), 0.25 * static_cast<double>(rng.below(4))},
            .both_sides = rng.below(2) == 0,
            .inverse_fftshift = rng.below(2) == 0};
    for (int axis = 0; axis < (plane ? 2 : 1); ++axis) {
      of.shape.push_back(3 + up_to(plane ? 7 : 30));
      of.modes.push_back(up_to(plane ? 8 : 16));
    }
    const int points = static_cast<int>(Domain::unit(of.shape).points());
    expect_agreement(
        random_question(of, std::min(points, 2 + up_to(40)), 12, seed + 17 * static_cast<std::uint64_t>(trial)),
        message(", trial ", trial, replay()));
  }
}

// Sizes below, at and above the modes, padded or not; with one or two modes nothing gives to the row of the bias.
TEST(FnoEngine, AgreesOnOddFirstAxesThatAreShiftedOnceMore) {
  for (const Case& of :
       {Case{.shape = {9, 8}, .modes = {4, 4}, .padding = 0}, Case{.shape = {5, 5}, .modes = {8, 8}, .padding = 0},
        Case{.shape = {3, 6}, .modes = {3, 3}, .padding = 0}, Case{.shape = {7, 4}, .modes = {1, 4}, .padding = 0},
        Case{.shape = {7, 4}, .modes = {2, 4}, .padding = 0}, Case{.shape = {3, 4}, .modes = {2, 4}, .padding = 0},
        Case{.shape = {1, 6}, .modes = {4, 4}, .padding = 0}, Case{.shape = {3, 5}, .modes = {6, 4}, .padding = 0.25},
        Case{.shape = {6, 4}, .modes = {5, 4}, .padding = 0.5, .both_sides = false}}) {
    Case shifted = of;
    shifted.width = 6;
    shifted.layers = 3;
    shifted.inverse_fftshift = true;
    expect_agreement(random_question(shifted, 6, 8, 11));
  }
}

TEST(FnoEngine, AgreesOnTheGridsOfThePaper) {
  for (const Case& of :
       {Case{.shape = {16}, .modes = {16}}, Case{.shape = {64}, .modes = {16}},
        Case{.shape = {4, 4}, .modes = {16, 16}, .width = 32}, Case{.shape = {8, 8}, .modes = {16, 16}, .width = 16}}) {
    expect_agreement(random_question(of, static_cast<int>(Domain::unit(of.shape).points()), 6, 3));
  }
}

TEST(FnoEngine, GivesTheSameBitsWhateverElseIsInTheBatch) {
  for (const Case& of :
       {Case{.shape = {12}, .modes = {8}, .width = 20}, Case{.shape = {5, 6}, .modes = {6, 6}, .width = 12}}) {
    const Question question = random_question(of, 12, 150, 5);
    for (const std::string& set : kernels::instruction_sets()) {
      const engines::FnoEngine engine(question.weights, of.shape, kernels::kernels_for(set));
      const std::vector<double> all = question.values(engine);
      const auto subject = engine.subject(question.input.values, question.baseline.values, question.player_of, 12);
      const auto heads = engine.heads(question.readout);
      for (const std::size_t size : {1, 2, 3, 7, 64}) {
        std::vector<double> parts(all.size());
        for (std::size_t first = 0; first < parts.size(); first += size) {
          const std::size_t count = std::min(size, parts.size() - first);
          engine.values(subject, heads, question.coalitions, first, std::span(parts).subspan(first, count));
        }
        EXPECT_EQ(parts, all) << set << ", " << size << " at a time";
      }
    }
  }
}

TEST(FnoEngine, GivesTheSameBitsWhateverBaselineWasThereBefore) {
  const Case of{.shape = {10}, .modes = {6}, .width = 12};
  const Question question = random_question(of, 10, 20, 9);
  const Partition cells = Partition::one_player_per_point(question.input.domain);
  const Coalitions& coalitions = question.coalitions;
  const auto values = [&](const engines::FnoEngines& engines, const FieldBatch& baseline) {
    std::vector<double> found(coalitions.size());
    engines.coalition_engine(question.input, baseline, cells, question.readout)->values(coalitions, 0, found);
    return found;
  };
  FieldBatch near = question.baseline;
  near.values.back() += 0.5;
  const engines::FnoEngines all(question.weights);
  for (const FieldBatch& baseline : {question.baseline, near, near, question.input, question.baseline})
    EXPECT_EQ(values(engines::FnoEngines(question.weights), baseline), values(all, baseline));
  EXPECT_NE(values(all, question.baseline), values(all, near));
}

TEST(FnoEngine, HasTheSlopesOfTheLayersWrittenOut) {
  for (const Case& of :
       {Case{.shape = {10}, .modes = {6}, .width = 12, .layers = 3, .in_channels = 2},
        Case{.shape = {4, 6}, .modes = {4, 6}, .width = 10, .layers = 3, .in_channels = 2},
        Case{.shape = {5, 4}, .modes = {3, 4}, .width = 6, .layers = 3, .padding = 0, .inverse_fftshift = true},
        Case{.shape = {5, 4}, .modes = {2, 4}, .width = 6, .layers = 3, .padding = 0, .inverse_fftshift = true}}) {
    const Question question = random_question(of, 10, 2, 8);
    const std::int64_t points = question.input.domain.points();
    // At the constant weights t, and at weights that differ from point to point.
    const auto value = [&](std::span<const double> weights, std::int64_t point, double change) {
      FieldBatch field = question.baseline;
      for (std::int64_t j = 0; j < of.in_channels * points; ++j) {
        const auto i = static_cast<std::size_t>(j);
        const double weight = weights[i % weights.size()] + (j % points == point ? change : 0);
        field.values[i] += weight * (question.input.values[i] - question.baseline.values[i]);
      }
      return question.readout.of(engines::fno_reference(question.weights, field), points);
    };
    const auto constant = [&](double t) { return std::vector<double>(static_cast<std::size_t>(points), t); };
    Rng rng(test_seed(), "weights");
    std::vector<double> spread = constant(0);
    for (double& weight : spread) weight = rng.uniform();
    for (const std::string& set : kernels::instruction_sets()) {
      const engines::FnoEngine engine(question.weights, of.shape, kernels::kernels_for(set));
      const engines::FnoSlopes slopes(engine);
      const auto subject = engine.subject(question.input.values, question.baseline.values, question.player_of, 10);
      const auto heads = engine.heads(question.readout);
      std::vector<double> found(static_cast<std::size_t>(points));
      for (const std::vector<double>& weights : {constant(0.4), spread}) {
        slopes.of_input(subject, heads, weights, found);
        const double size = largest(found);
        constexpr double step = 1e-4;  // central differences of a double err by step² and by 1e-16/step
        for (std::int64_t point = 0; point < points; point += 3) {
          const double exact = (value(weights, point, step) - value(weights, point, -step)) / (2 * step);
          EXPECT_NEAR(found[static_cast<std::size_t>(point)], exact, 1e-4 * size) << set << ", point " << point;
        }
      }

      // The slopes of the mean field integrate to F(1) − F(0) = v(N) − v(∅); Simpson's rule on many nodes does it here.
      constexpr int intervals = 64;
      double integral = 0;
      for (int node = 0; node <= intervals; ++node) {
        slopes.of_mean_field(subject, heads, constant(static_cast<double>(node) / intervals), found);
        const double weight = node == 0 || node == intervals ? 1 : node % 2 == 1 ? 4 : 2;
        for (const double slope : found) integral += weight * slope / (3 * intervals);
      }
      const double gain = value(constant(1), 0, 0) - value(constant(0), 0, 0);
      EXPECT_NEAR(integral, gain, 1e-3 * std::abs(gain)) << set;

      // Nearly equal weights have nearly the slopes of equal ones, which go another way through the reverse pass: two
      // branches that have a weight each, and not one at each point. The slopes of single precision differ by 1e-5.
      std::vector<double> nearly = constant(0.4), expected(found.size());
      nearly.back() += 1e-6;
      slopes.of_mean_field(subject, heads, constant(0.4), expected);
      slopes.of_mean_field(subject, heads, nearly, found);
      for (std::size_t point = 0; point < found.size(); ++point)
        EXPECT_NEAR(expected[point], found[point], 1e-4 * largest(expected)) << set << ", point " << point;
    }
  }
}

// Fields of weights share products, in groups of four. Whatever is asked for together has the bits it has alone.
TEST(FnoEngine, SlopesAreTheSameWhateverElseIsAskedFor) {
  for (const Case& of : {Case{.shape = {10}, .modes = {6}, .width = 12, .layers = 3, .in_channels = 2},
                         Case{.shape = {4, 6}, .modes = {4, 6}, .width = 10, .layers = 3}}) {
    const Question question = random_question(of, 10, 2, 8);
    const auto points = static_cast<std::size_t>(question.input.domain.points());
    const engines::FnoEngine engine(question.weights, of.shape);
    const engines::FnoSlopes slopes(engine);
    const auto subject = engine.subject(question.input.values, question.baseline.values, question.player_of, 10);
    const auto heads = engine.heads(question.readout);
    // Equal weights, masks, and weights that differ from point to point, six of them: a whole group and a part.
    constexpr std::size_t fields = 6;
    Rng rng(test_seed(), "weights");
    std::vector<double> weights, of_input(fields * points), of_mean_field(of_input.size()), alone(points);
    for (std::size_t field = 0; field < fields; ++field) {
      const double same = rng.uniform();
      for (std::size_t point = 0; point < points; ++point) {
        const double own = rng.uniform();
        weights.push_back(field % 3 == 0 ? same : field % 3 == 1 ? std::round(own) : own);
      }
    }
    slopes.of_input(subject, heads, weights, of_input);
    slopes.of_mean_field(subject, heads, weights, of_mean_field);
    for (std::size_t field = 0; field < fields; ++field) {
      const auto own = [&](const std::vector<double>& of_all) {
        const auto begin = of_all.begin() + static_cast<std::ptrdiff_t>(field * points);
        return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(points));
      };
      slopes.of_input(subject, heads, own(weights), alone);
      EXPECT_EQ(alone, own(of_input)) << "field " << field;
      slopes.of_mean_field(subject, heads, own(weights), alone);
      EXPECT_EQ(alone, own(of_mean_field)) << "field " << field;
    }
  }
}

TEST(FnoEngine, NamesTheTensorOrThePointThatIsNotFinite) {
  const Case of{.shape = {8}, .modes = {4}, .width = 8};
  const engines::FnoWeights good = random_weights(of, 1);
  engines::FnoWeights broken = good;
  broken.layers[2].mlp1.weight[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(has(refusal<DataError>([&] { engines::FnoEngine(broken, of.shape); }), "channel_mlp.2.fcs.1.weight[5]"));
  broken = good;
  broken.layers[0].spectral[7] = {0, std::numeric_limits<float>::infinity()};
  EXPECT_TRUE(has(refusal<DataError>([&] { engines::FnoEngines{broken}; }), "convs.0.weight[7]"));
  broken = good;
  broken.lifting0.bias.pop_back();
  EXPECT_TRUE(has(refusal<DataError>([&] { engines::FnoEngines{broken}; }), "lifting.fcs.0.bias"));

  const engines::FnoEngines engines(good);
  FieldBatch field = random_field(of, 0, 2, 2);
  const Partition cells = Partition::one_player_per_point(field.domain);
  EXPECT_EQ(refusal<DataError>([&] { engines.coalition_engine(field, field, cells, Query{.point = 3}); }), "");
  field.values[6] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(
      refusal<DataError>([&] { engines.coalition_engine(field, random_field(of, 0, 2, 3), cells, Query{.point = 3}); }),
      "6"));
  EXPECT_THROW(engines::FnoEngine(good, of.shape).heads(Query{.point = 8}), InvalidArgument);
  EXPECT_THROW(engines::FnoEngine(good, of.shape).heads(Query{.point = 0, .channel = 1}), InvalidArgument);
  EXPECT_THROW(engines::FnoEngine(good, {4, 4}), InvalidArgument);
}

TEST(PaddedGrid, RoundsHalvesToEvenAsPythonDoes) {
  // round(0.5·n) of the reference: 2 of 5, 4 of 7, 4 of 9; its configurations have padding of half the grid, and grids
  // are odd sometimes.
  for (const auto& [points, padding] : {std::pair(4, 2), {5, 2}, {7, 4}, {9, 4}}) {
    const engines::PaddedGrid both({points}, 0.5, true), end({points}, 0.5, false), plane({points, 6}, 0.5, true);
    EXPECT_EQ(points + 2 * padding, both.padded(1)) << points;
    EXPECT_EQ(padding, both.before(1)) << points;
    EXPECT_EQ(points + padding, end.padded(1)) << points;
    EXPECT_EQ(0, end.before(1)) << points;
    EXPECT_EQ(points + 2 * padding, plane.padded(0)) << points;
    EXPECT_EQ(12, plane.padded(1)) << points;
  }
}

TEST(AxisBasis, TransformsBandLimitedFieldsForthAndBack) {
  for (const std::int64_t points : {1, 2, 3, 4, 5, 6, 8, 12, 16, 31, 32}) {
    for (std::int64_t count = 1; count <= points / 2 + 1; ++count) {
      const engines::AxisBasis basis = engines::AxisBasis::half(points, count);
      // Rows times their inverse is the identity on coefficients.
      for (std::size_t r = 0; r < basis.rows.size(); ++r) {
        for (std::size_t s = 0; s < basis.rows.size(); ++s) {
          double product = 0;
          for (std::int64_t p = 0; p < points; ++p) {
            const double weight = basis.rows[s].frequency == 0 || 2 * basis.rows[s].frequency == points ? 1 : 2;
            product += basis.inverse_at(static_cast<int>(r), p) * basis.inverse_at(static_cast<int>(s), p) / weight /
                       static_cast<double>(points);
          }
          EXPECT_NEAR(product, r == s ? 1 : 0, 1e-14) << points << " points, rows " << r << ", " << s;
        }
      }
    }
  }
}

}  // namespace opshap
