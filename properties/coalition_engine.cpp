// Games of an FNO by the engine against the same games by LibTorch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/threads.hpp"
#include "games/cell_mask_game.hpp"
#include "kernels/kernels.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

/// Untrained networks hardly answer to a mask; twice the weights do, and magnify the rounding of every layer.
std::unique_ptr<operators::Network> doubled_network(const operators::FnoConfig& config, std::uint64_t seed,
                                                    networks::Precision precision) {
  auto network = operators::make_network(config, operators::tensor_options(precision, "cpu"));
  operators::initialise(*network, seed);
  for (operators::Parameter& parameter : network->parameters()) parameter.value.mul_(2);
  return network;
}

FieldBatch random_field(const std::vector<int>& shape, int channels, double low, double high, Rng& rng) {
  FieldBatch field = FieldBatch::zeros(Domain::unit(shape), 1, channels);
  for (double& value : field.values) value = rng.uniform(low, high);
  return field;
}

Coalitions random_coalitions(int players, std::size_t count, Rng& rng) {
  Coalitions coalitions(players);
  coalitions.append_empty();
  coalitions.append_grand();
  while (coalitions.size() < count) {
    coalitions.append_empty();
    for (int player = 0; player < players; ++player)
      if (rng.below(2) == 1) coalitions.insert(coalitions.size() - 1, player);
  }
  return coalitions;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double spread(const std::vector<double>& values) {
  double mean = 0, square = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) square += (value - mean) * (value - mean) / static_cast<double>(values.size());
  return std::sqrt(square);
}

/// The same random network by the engine, by LibTorch, and by LibTorch in double; a field and a baseline for it.
struct Trial {
  operators::FnoConfig config;
  std::unique_ptr<Operator> engine, plain, precise;
  FieldBatch input, baseline;

  Trial(int dimension, std::uint64_t most_channels, std::uint64_t most_points, Rng& rng) {
    config = {
        .n_modes = {},
        .hidden_channels = 4 + static_cast<int>(rng.below(most_channels)),
        .n_layers = 1 + static_cast<int>(rng.below(4)),
        .in_channels = 1 + static_cast<int>(rng.below(2)),
        .out_channels = 1 + static_cast<int>(rng.below(2)),
        .domain_padding = 0.25 * static_cast<double>(rng.below(4)),
        .domain_padding_mode = rng.below(2) == 0 ? "symmetric" : "one-sided",
        .positional_embedding = rng.below(3) > 0 ? "grid" : "none",
        .inverse_shift = rng.below(2) == 0 ? operators::InverseShift::fftshift : operators::InverseShift::ifftshift};
    std::vector<int> shape;
    for (int axis = 0; axis < dimension; ++axis) {
      config.n_modes.push_back(2 + static_cast<int>(rng.below(15)));
      shape.push_back(4 + static_cast<int>(rng.below(dimension == 1 ? most_points : 9)));
    }
    if (dimension == 2)
      config.domain_padding =
          std::vector{0.25 * static_cast<double>(rng.below(4)), 0.25 * static_cast<double>(rng.below(4))};
    const std::uint64_t seed = rng.bits64();
    engine = operators::as_operator(doubled_network(config, seed, networks::Precision::float32));
    plain = operators::as_operator(doubled_network(config, seed, networks::Precision::float32), false);
    precise = operators::as_operator(doubled_network(config, seed, networks::Precision::float64));
    input = random_field(shape, config.in_channels, 0, 2, rng);
    baseline = random_field(shape, config.in_channels, -1, 0, rng);
  }

  Query query(Rng& rng) const {
    return {.point = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(input.domain.points()))),
            .channel = static_cast<int>(rng.below(static_cast<std::uint64_t>(config.out_channels)))};
  }
  /// A query, or a weighted sum of a few of them.
  Readout readout(Rng& rng) const {
    if (rng.below(2) == 0) return query(rng);
    std::vector<Readout::Term> terms;
    for (std::uint64_t term = 0; term < 1 + rng.below(4); ++term) terms.push_back({query(rng), rng.uniform(-2, 2)});
    return Readout(terms);
  }
  std::string describe() const {
    return message(networks::NetworkConfig(config).json, ", ", input.domain.points(), " points; ", replay());
  }
};

TEST(CoalitionEngine, AgreesWithLibTorchForAnyConfiguration) {
  Rng rng(test_seed(), "coalition engine test");
  for (int trial = 0; trial < 24; ++trial) {
    const Trial of(1 + trial % 2, 40, 60, rng);
    const auto points = static_cast<std::uint64_t>(of.input.domain.points());
    const int players = 1 + static_cast<int>(rng.below(std::min<std::uint64_t>(points, 50)));
    Partition partition{
        .players = players, .player_of = {}, .volumes = std::vector<double>(static_cast<std::size_t>(players), 1)};
    for (std::uint64_t point = 0; point < points; ++point)
      partition.player_of.push_back(static_cast<int>(point % static_cast<std::uint64_t>(players)));
    const Readout readout = of.readout(rng);
    const Coalitions coalitions = random_coalitions(players, 40, rng);
    const auto values_of = [&](const Operator& op) {
      return games::cell_mask_game(op, {of.input, of.baseline, partition, readout})->values(coalitions);
    };
    const std::vector<double> exact = values_of(*of.precise), found = values_of(*of.engine),
                              torch = values_of(*of.plain);
    // LibTorch rounds as often as the engine does: where a network is so ill conditioned that it errs by more, so may
    // the engine.
    EXPECT_LT(largest_difference(found, exact), 2e-5 * spread(exact) + 4 * largest_difference(torch, exact))
        << "trial " << trial << ": " << of.describe();
  }
}

TEST(CoalitionEngine, HasTheSlopesOfLibTorch) {
  Rng rng(test_seed(), "coalition engine slopes");
  for (int trial = 0; trial < 16; ++trial) {
    const Trial of(1 + trial % 2, 24, 40, rng);
    const Partition cells = Partition::one_player_per_point(of.input.domain);
    const Readout readout = of.readout(rng);
    const std::vector<double> nodes = {0, 0.3, 0.8, 1};
    const auto compare = [&](const auto& slopes_of, const char* what) {
      const std::vector<double> exact = slopes_of(*of.precise), found = slopes_of(*of.engine),
                                torch = slopes_of(*of.plain);
      double size = 0;
      for (const double slope : exact) size = std::max(size, std::abs(slope));
      EXPECT_LT(largest_difference(found, exact), 2e-5 * size + 4 * largest_difference(torch, exact))
          << what << ", trial " << trial << ": " << of.describe();
    };
    const auto game_of = [&](const Operator& op) {
      return games::cell_mask_game(op, {of.input, of.baseline, cells, readout});
    };
    compare([&](const Operator& op) { return game_of(op)->differentiable()->diagonal_gradients(nodes); }, "diagonal");
    compare([&](const Operator& op) { return game_of(op)->mean_field()->mean_field_gradients(nodes); }, "mean field");
    Coalitions coalitions = random_coalitions(cells.players, 3, rng);
    coalitions.append_empty();
    coalitions.append_grand();
    compare([&](const Operator& op) { return game_of(op)->slopes()->coalition_slopes(coalitions); }, "coalitions");
  }
}

TEST(CoalitionEngine, SaysWhichPathComputesAndWhy) {
  const operators::FnoConfig config{.n_modes = {4}, .hidden_channels = 8};
  EXPECT_TRUE(operators::untrained_operator(config, 1)->coalition_path().starts_with("engine, "));
  EXPECT_NE(operators::untrained_operator(config, 1, networks::Precision::float64)->coalition_path().find("float32"),
            std::string::npos);
  const auto off = operators::as_operator(doubled_network(config, 1, networks::Precision::float32), false);
  EXPECT_NE(off->coalition_path().find("switched off"), std::string::npos);
  const FieldBatch field = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  const Partition cells = Partition::one_player_per_point(field.domain);
  EXPECT_EQ(off->coalition_engine(field, field, cells, Query{.point = 2}), nullptr);
  EXPECT_EQ(games::cell_mask_game(*off, {field, field, cells, Query{.point = 2}})->path(), off->coalition_path());
  // Beyond 64 points the whole output is no dearer.
  const auto on = operators::untrained_operator(config, 1);
  const FieldBatch wide = FieldBatch::zeros(Domain::unit({65}), 1, 1);
  const Readout few = Readout::of_weights(std::vector<double>(64, 1.0), 64),
                many = Readout::of_weights(std::vector<double>(65, 1.0), 65);
  EXPECT_TRUE(on->coalition_path(few).starts_with("engine, ")) << on->coalition_path(few);
  EXPECT_NE(on->coalition_path(many).find("65 points"), std::string::npos) << on->coalition_path(many);
  EXPECT_EQ(on->coalition_engine(wide, wide, Partition::one_player_per_point(wide.domain), many), nullptr);
}

TEST(CoalitionEngine, RunsTheInstructionSetThatIsForced) {
  const operators::FnoConfig config{.n_modes = {4}, .hidden_channels = 8};
  for (const std::string& set : kernels::instruction_sets()) {
    setenv("OPSHAP_ENGINE", set.c_str(), 1);
    EXPECT_EQ(operators::untrained_operator(config, 1)->coalition_path(), "engine, " + set);
  }
  setenv("OPSHAP_ENGINE", "altivec", 1);
  EXPECT_THROW(operators::untrained_operator(config, 1), EnvironmentError);
  unsetenv("OPSHAP_ENGINE");
}

TEST(CoalitionEngine, GivesTheSameBitsForEveryNumberOfThreads) {
  const auto op = operators::untrained_operator(
      operators::FnoConfig{.n_modes = {8}, .hidden_channels = 16, .domain_padding = 0.5}, 1);
  Rng rng(2, "coalition engine test");
  const FieldBatch input = random_field({24}, 1, 0, 2, rng), baseline = FieldBatch::zeros(input.domain, 1, 1);
  const auto game =
      games::cell_mask_game(*op, {input, baseline, Partition::one_player_per_point(input.domain), Query{.point = 5}});
  const Coalitions coalitions = random_coalitions(24, 333, rng);
  const int before = threads();
  set_threads(1);
  const std::vector<double> one = game->values(coalitions);
  for (const int count : {2, 3, 8}) {
    set_threads(count);
    EXPECT_EQ(game->values(coalitions), one) << count << " threads";
  }
  set_threads(before);
}

}  // namespace
}  // namespace opshap
