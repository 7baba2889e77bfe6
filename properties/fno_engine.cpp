// The engine of FNO cell-mask games against the layers written out in double.

#include "engines/fno_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/partition.hpp"
#include "core/rng.hpp"
#include "engines/fno_reference.hpp"
#include "support/test_seed.hpp"

namespace opshap {

namespace {

struct Case {
  std::vector<int> shape, modes;
  int width = 64, layers = 4, in_channels = 1, out_channels = 1;
  double padding = 0.5;
  bool both_sides = true;
};

FnoWeights random_weights(const Case& of, std::uint64_t seed, double scale = 2) {
  Rng rng(seed, "fno engine weights");
  const auto draw = [&](std::size_t count, double size) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(scale * size * (2 * rng.uniform() - 1));
    return values;
  };
  const auto linear = [&](int inputs, int outputs, bool biased = true) {
    const double size = 1 / std::sqrt(inputs);
    return FnoWeights::Linear{.inputs = inputs,
                              .outputs = outputs,
                              .weight = draw(static_cast<std::size_t>(inputs * outputs), size),
                              .bias = biased ? draw(static_cast<std::size_t>(outputs), size) : std::vector<float>{}};
  };
  const int width = of.width, hidden = width / 2, entry = of.in_channels + static_cast<int>(of.modes.size());
  FnoWeights weights{.modes = of.modes,
                     .width = width,
                     .in_channels = of.in_channels,
                     .out_channels = of.out_channels,
                     .padding = of.padding,
                     .both_sides = of.both_sides,
                     .lifting0 = linear(entry, 2 * width),
                     .lifting1 = linear(2 * width, width),
                     .projection0 = linear(width, 2 * width),
                     .projection1 = linear(2 * width, of.out_channels),
                     .layers = {}};
  std::size_t frequencies = static_cast<std::size_t>(of.modes.back() / 2 + 1);
  if (of.modes.size() == 2) frequencies *= static_cast<std::size_t>(of.modes[0]);
  for (int l = 0; l < of.layers; ++l) {
    FnoWeights::Layer layer{.spectral = {},
                            .spectral_bias = draw(static_cast<std::size_t>(width), 0.1),
                            .skip = linear(width, width, false),
                            .mlp0 = linear(width, hidden),
                            .mlp1 = linear(hidden, width),
                            .gate = draw(static_cast<std::size_t>(width), 1)};
    const std::size_t count = frequencies * static_cast<std::size_t>(width * width);
    const std::vector<float> parts = draw(2 * count, std::sqrt(1.5 / width));
    for (std::size_t i = 0; i < count; ++i) layer.spectral.emplace_back(parts[2 * i], parts[2 * i + 1]);
    weights.layers.push_back(layer);
  }
  return weights;
}

FieldBatch random_field(const Case& of, std::uint64_t seed) {
  FieldBatch field = FieldBatch::zeros(Domain::unit(of.shape), 1, of.in_channels);
  Rng rng(seed, "fno engine field");
  for (double& value : field.values) value = 2 * rng.uniform() - 1;
  return field;
}

Coalitions random_coalitions(int players, std::size_t count, std::uint64_t seed) {
  Coalitions coalitions(players, count);
  Rng rng(seed, "fno engine coalitions");
  for (std::size_t i = 1; i < count; ++i)
    for (int player = 0; player < players; ++player)
      if (i == 1 || rng.uniform() < 0.5) coalitions.insert(i, player);
  return coalitions;
}

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

std::vector<double> engine_values(const FnoEngine& engine, const FieldBatch& input, const FieldBatch& baseline,
                                  const std::vector<int>& player_of, const Coalitions& coalitions, Query query) {
  std::vector<double> values(coalitions.size());
  engine.values(engine.lift(input.values, baseline.values), engine.head(query), player_of, coalitions, 0, values);
  return values;
}

}  // namespace

TEST(FnoEngine, QuickLook) {
  for (const Case& of :
       {Case{.shape = {16}, .modes = {16}}, Case{.shape = {15}, .modes = {16}},
        Case{.shape = {16}, .modes = {16}, .padding = 0}, Case{.shape = {5}, .modes = {8}, .width = 20},
        Case{.shape = {4, 4}, .modes = {16, 16}, .width = 32}, Case{.shape = {8, 8}, .modes = {6, 8}, .width = 16},
        Case{.shape = {6, 5}, .modes = {8, 8}, .width = 16, .layers = 2, .in_channels = 2, .out_channels = 2},
        Case{.shape = {8, 8}, .modes = {16, 16}, .width = 16, .padding = 0}}) {
    const FnoWeights weights = random_weights(of, 1);
    const FieldBatch input = random_field(of, 2), baseline = random_field(of, 3);
    const int points = static_cast<int>(input.domain.points());
    std::vector<int> player_of(static_cast<std::size_t>(points));
    for (std::size_t p = 0; p < player_of.size(); ++p) player_of[p] = static_cast<int>(p);
    const Coalitions coalitions = random_coalitions(points, 8, 4);
    const Query query{.point = points / 3, .channel = of.out_channels - 1};
    std::vector<double> exact;
    for (std::size_t i = 0; i < coalitions.size(); ++i) {
      FieldBatch masked = baseline;
      for (std::size_t j = 0; j < masked.values.size(); ++j)
        if (coalitions.contains(i, static_cast<int>(j) % points)) masked.values[j] = input.values[j];
      exact.push_back(fno_reference(weights, masked)[static_cast<std::size_t>(query.channel * points + query.point)]);
    }
    for (const std::string& set : instruction_sets()) {
      const FnoEngine engine(weights, of.shape, kernels(set));
      const double error = relative_error(engine_values(engine, input, baseline, player_of, coalitions, query), exact);
      std::printf("%s n=%d error %.2e\n", set.c_str(), points, error);
      EXPECT_LT(error, 2e-5);
    }
  }
}

}  // namespace opshap
