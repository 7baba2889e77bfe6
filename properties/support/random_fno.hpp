#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/coalitions.hpp"
#include "core/domain.hpp"
#include "core/field.hpp"
#include "core/rng.hpp"
#include "engines/axis_basis.hpp"
#include "engines/fno_weights.hpp"

namespace opshap {

/// The architecture of an FNO and the grid it works on.
struct FnoCase {
  std::vector<int> shape, modes;
  int width = 64, layers = 4, in_channels = 1, out_channels = 1;
  engines::AxisFractions padding = 0.5;
  bool both_sides = true, inverse_fftshift = false;
};

/// Uniform weights; with scale 1 about the size that a network starts its training with.
inline engines::FnoWeights random_weights(const FnoCase& of, std::uint64_t seed, double scale = 2) {
  Rng rng(seed, "fno engine weights");
  const auto draw = [&](std::size_t count, double size) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(scale * size * (2 * rng.uniform() - 1));
    return values;
  };
  const auto linear = [&](int inputs, int outputs, bool biased = true) {
    const double size = 1 / std::sqrt(inputs);
    return engines::FnoWeights::Linear{
        .inputs = inputs,
        .outputs = outputs,
        .weight = draw(static_cast<std::size_t>(inputs * outputs), size),
        .bias = biased ? draw(static_cast<std::size_t>(outputs), size) : std::vector<float>{}};
  };
  const int width = of.width, hidden = width / 2, entry = of.in_channels + static_cast<int>(of.modes.size());
  engines::FnoWeights weights{.modes = of.modes,
                              .width = width,
                              .in_channels = of.in_channels,
                              .out_channels = of.out_channels,
                              .padding = of.padding,
                              .both_sides = of.both_sides,
                              .inverse_fftshift = of.inverse_fftshift,
                              .lifting0 = linear(entry, 2 * width),
                              .lifting1 = linear(2 * width, width),
                              .projection0 = linear(width, 2 * width),
                              .projection1 = linear(2 * width, of.out_channels)};
  std::size_t frequencies = static_cast<std::size_t>(of.modes.back() / 2 + 1);
  if (of.modes.size() == 2) frequencies *= static_cast<std::size_t>(of.modes[0]);
  for (int l = 0; l < of.layers; ++l) {
    engines::FnoWeights::Layer layer{.spectral_bias = draw(static_cast<std::size_t>(width), 0.1),
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

/// Inputs and baselines of different means: a mask then moves every mode, as it does for a trained operator's inputs.
inline FieldBatch random_field(const FnoCase& of, double low, double high, std::uint64_t seed) {
  FieldBatch field = FieldBatch::zeros(Domain::unit(of.shape), 1, of.in_channels);
  Rng rng(seed, "fno engine field");
  for (double& value : field.values) value = rng.uniform(low, high);
  return field;
}

/// The empty coalition, the grand one, and others with each player in or out by a fair coin.
inline Coalitions random_coalitions(int players, std::size_t count, std::uint64_t seed) {
  Coalitions coalitions(players, count);
  Rng rng(seed, "fno engine coalitions");
  for (std::size_t i = 1; i < count; ++i)
    for (int player = 0; player < players; ++player)
      if (i == 1 || rng.uniform() < 0.5) coalitions.insert(i, player);
  return coalitions;
}

}  // namespace opshap
