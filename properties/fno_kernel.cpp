// The kernel of an FNO, emulated: what it rounds, where it keeps its arrays, and its values against the network applied
// to masked fields. Where NVRTC is, also what it needs of a GPU (fno_kernel_compiles).

#include "devices/fno_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "games/games_together.hpp"
#include "operators/fno.hpp"
#include "operators/fno_coalitions.hpp"
#include "operators/network.hpp"
#include "support/operator_inputs.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

using devices::Arithmetic;

Rng kernel_stream(std::uint64_t number) { return Rng(test_seed(), "fno kernel").stream(0, number); }

// TF32 has 11 significant bits and BF16 has 8; both have the exponents of float32.
TEST(Warp, RoundsToTheNearestNumberOfFewerBits) {
  SCOPED_TRACE(replay());
  Rng rng = kernel_stream(0);
  for (int i = 0; i < 1000; ++i) {
    const auto exact = static_cast<float>(rng.normal() * std::pow(10.0, rng.uniform(-20, 20)));
    const auto check = [&](float rounded, int bits) {
      int exponent = 0;
      std::frexp(rounded, &exponent);
      const double unit = std::ldexp(1.0, exponent - bits);
      EXPECT_EQ(std::remainder(static_cast<double>(rounded), unit), 0) << exact;
      EXPECT_LE(std::abs(static_cast<double>(rounded) - static_cast<double>(exact)), unit / 2) << exact;
    };
    check(devices::rounded_to_tf32(exact), 11);
    check(devices::rounded_to_bf16(exact), 8);
  }
  // Ties: away from zero, and to even.
  EXPECT_EQ(devices::rounded_to_tf32(1 + 0x1p-11F), 1 + 0x1p-10F);
  EXPECT_EQ(devices::rounded_to_tf32(-1 - 0x1p-11F), -1 - 0x1p-10F);
  EXPECT_EQ(devices::rounded_to_bf16(1 + 0x1p-8F), 1.0F);
  EXPECT_EQ(devices::rounded_to_bf16(1 + 3 * 0x1p-8F), 1 + 4 * 0x1p-8F);
  EXPECT_EQ(devices::rounded_to_tf32(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(devices::rounded_to_bf16(NAN)));
}

// Formula 7.1.26 of Abramowitz and Stegun has the error 1.5e-7 in erf, which counts x/2 times, and float32 rounds.
TEST(Warp, HasTheActivationOfTheNetwork) {
  for (int i = -4000; i <= 4000; ++i) {
    const float x = 0.0025F * static_cast<float>(i);
    const double exact = 0.5 * x * std::erfc(-x * std::sqrt(0.5));
    EXPECT_NEAR(devices::gelu(x), exact, 0.5 * std::abs(x) * 1.5e-7 + 4 * 0x1p-24 * std::max(1.0F, std::abs(x))) << x;
  }
}

/// max |difference| of a product by the warp to the exact one, over max |entry|, for factors of normal numbers.
template <Arithmetic arithmetic>
double error_of_product(int inner, std::uint64_t number) {
  Rng rng = kernel_stream(number);
  constexpr int tiles = 3, columns = 8 * tiles;
  std::vector<float> a(static_cast<std::size_t>(16 * inner)), b(static_cast<std::size_t>(inner * columns));
  for (std::vector<float>* of : {&a, &b})
    for (float& entry : *of) entry = static_cast<float>(rng.normal());
  const auto at = [](const std::vector<float>& of, int row, int width, int column) {
    return of[static_cast<std::size_t>(row * width + column)];
  };
  devices::Tile sum[tiles] = {};
  const devices::Lanes lanes;
  devices::accumulate<arithmetic>(
      lanes, sum, tiles, inner, [&](int row, int k) { return at(a, row, inner, k); },
      [&](int k, int column) { return at(b, k, columns, column); });
  double worst = 0, largest = 0;
  for (int tile = 0; tile < tiles; ++tile)
    sum[tile].each(lanes, [&](float& found, int row, int column) {
      double exact = 0;
      for (int k = 0; k < inner; ++k)
        exact += static_cast<double>(at(a, row, inner, k)) * static_cast<double>(at(b, k, columns, 8 * tile + column));
      worst = std::max(worst, std::abs(exact - static_cast<double>(found)));
      largest = std::max(largest, std::abs(exact));
    });
  return worst / largest;
}

// A sum of products of rounded factors is off by a random walk of their roundings: sqrt(2·inner)·unit/√12 of a
// product's size in the mean, of which the largest of some hundred entries is four. The largest entry is some
// sqrt(inner).
TEST(Warp, MultipliesWithTheRoundingsOfItsArithmetic) {
  SCOPED_TRACE(replay());
  for (const int inner : {1, 8, 13, 64}) {
    const auto number = static_cast<std::uint64_t>(inner);
    EXPECT_LT(error_of_product<Arithmetic::tf32x3>(inner, number), 16 * 0x1p-24) << inner;
    const double tf32 = error_of_product<Arithmetic::tf32>(inner, number),
                 bf16 = error_of_product<Arithmetic::bf16>(inner, number);
    EXPECT_LT(tf32, 4 * 0x1p-11) << inner;
    EXPECT_GT(tf32, 0x1p-11 / 32) << inner;
    EXPECT_LT(bf16, 4 * 0x1p-8) << inner;
    EXPECT_GT(bf16, 2 * tf32) << inner;
  }
}

TEST(FnoKernel, KeepsInSharedMemoryWhatFitsThere) {
  devices::FnoArguments of = {};
  of.width = 64;
  of.hidden = 32;
  of.wide = 128;
  of.lines = of.field_lines = 1;
  of.columns = 9;
  of.rows = 1;
  const auto place = [&](int points) {
    of.line_points = 2 * points;
    of.field_line_points = points;
    devices::place_arrays(of, devices::shared_floats_90);
  };
  place(16);
  EXPECT_EQ(of.group, 8);
  EXPECT_EQ(of.workspace_of_block, 0);
  place(256);
  EXPECT_EQ(of.group, 1);
  EXPECT_EQ(of.workspace_of_block, 0);
  EXPECT_EQ(of.state.shared, 1);
  place(1024);
  EXPECT_EQ(of.group, 1);
  EXPECT_EQ(of.state.shared, 0);
  EXPECT_EQ(of.spectrum.shared, 1);
  EXPECT_EQ(of.workspace_of_block, 2048 * 64);
  EXPECT_LE(of.shared_floats, devices::shared_floats_90);
  EXPECT_TRUE(devices::has_kernel(64, 32, 9));
  EXPECT_FALSE(devices::has_kernel(65, 32, 4));
  EXPECT_FALSE(devices::has_kernel(64, 65, 4));
  EXPECT_FALSE(devices::has_kernel(64, 32, 10));
}

/// Several inputs of a random network, with a few coalitions for each.
struct KernelGames {
  operators::FnoConfig config;
  FieldBatch shown, hidden;
  std::vector<Scenario> scenarios;
  Partition players;
  Readout readout;
  Coalitions coalitions{1};

  KernelGames(std::uint64_t number, int dimension) {
    Rng rng = kernel_stream(number);
    const auto up_to = [&](int least, int most) {
      return least + static_cast<int>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
    };
    config = {
        .n_modes = {},
        .hidden_channels = up_to(2, 20),
        .n_layers = up_to(1, 4),
        .in_channels = up_to(1, 2),
        .out_channels = 2,
        .domain_padding_mode = up_to(0, 1) == 0 ? "symmetric" : "one-sided",
        .inverse_shift = up_to(0, 1) == 0 ? operators::InverseShift::fftshift : operators::InverseShift::ifftshift};
    std::vector<int> shape;
    std::vector<double> padding;
    for (int axis = 0; axis < dimension; ++axis) {
      config.n_modes.push_back(up_to(1, 9));
      shape.push_back(up_to(2, dimension == 1 ? 40 : 7));
      padding.push_back(0.25 * up_to(0, 3));
    }
    config.domain_padding = padding;
    const Domain domain = Domain::unit(shape);
    players = random_cells(domain, up_to(1, static_cast<int>(domain.points())), rng);
    const auto query = [&] { return Query{.point = up_to(0, static_cast<int>(domain.points()) - 1), .channel = 1}; };
    readout =
        up_to(0, 1) == 0
            ? Readout(query())
            : Readout({{query(), 1.0}, {query(), -0.5}, {query(), 0.3}, {query(), 0.7}, {query(), -0.2}});  // two calls
    const bool one_baseline = up_to(0, 1) == 0;
    const auto field = [&](double low, double high) {
      FieldBatch one = FieldBatch::zeros(domain, 1, config.in_channels);
      for (double& value : one.values) value = rng.uniform(low, high);
      return one;
    };
    const FieldBatch baseline = field(-1, 0);
    shown = FieldBatch::zeros(domain, 0, config.in_channels);
    hidden = one_baseline ? baseline : shown;
    coalitions = Coalitions(players.players);
    for (int i = up_to(1, 3); i > 0; --i) {
      scenarios.push_back({field(0, 2), one_baseline ? baseline : field(-1, 0), players, readout});
      shown.append(scenarios.back().input);
      if (!one_baseline) hidden.append(scenarios.back().baseline);
      const Coalitions own = random_coalitions(players.players, 5, rng);
      for (std::size_t row = 0; row < own.size(); ++row) coalitions.append(own.row(row));
    }
  }

  /// Parameters are twice as large as at the start of a training, so that the layers are not nearly linear.
  std::unique_ptr<operators::Network> network(torch::Dtype dtype) const {
    const auto drawn = operators::make_network(config, torch::kFloat32);
    operators::initialise(*drawn, 1);
    auto made = operators::make_network(config, dtype);
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < made->parameters().size(); ++i)
      made->parameters()[i].value.copy_(2 * drawn->parameters()[i].value);
    return made;
  }

  std::vector<double> values(Arithmetic arithmetic, long long shared_floats = devices::shared_floats_90) const {
    const auto network = this->network(torch::kFloat32);
    const operators::FnoCoalitions engines(config, network->options(), network->parameters(), arithmetic,
                                           shared_floats);
    std::vector<double> found(coalitions.size());
    engines.coalition_engine(shown, hidden, players, readout)->values(coalitions, 0, found);
    return found;
  }
  std::vector<double> plain(torch::Dtype dtype) const {
    return games::values_together(*as_operator(network(dtype), false), scenarios, coalitions);
  }
};

/// The largest difference over the spread of the values, or over a hundredth of them.
double kernel_error(const std::vector<double>& exact, const std::vector<double>& found) {
  double mean = 0, square = 0, size = 0, worst = 0;
  for (const double value : exact) mean += value / static_cast<double>(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    square += (exact[i] - mean) * (exact[i] - mean) / static_cast<double>(exact.size());
    size = std::max(size, std::abs(exact[i]));
    worst = std::max(worst, std::abs(exact[i] - found[i]));
  }
  return worst / std::max(std::sqrt(square), 0.01 * size);
}

// Split products have about the roundings of float32, which LibTorch makes as well: where a network is sensitive to
// them, so are both. Plain TF32 has 2^13 times those, and BF16 2^16 times.
TEST(FnoKernel, HasTheValuesOfTheNetworkUpToItsArithmetic) {
  SCOPED_TRACE(replay());
  double of_tf32 = 0, of_bf16 = 0;
  constexpr int cases = 24;
  for (int i = 0; i < cases; ++i) {
    const KernelGames games(100 + static_cast<std::uint64_t>(i), 1 + i % 2);
    const std::vector<double> exact = games.plain(torch::kFloat64);
    const double single = kernel_error(exact, games.plain(torch::kFloat32)),
                 split = kernel_error(exact, games.values(Arithmetic::tf32x3)),
                 tf32 = kernel_error(exact, games.values(Arithmetic::tf32)),
                 bf16 = kernel_error(exact, games.values(Arithmetic::bf16));
    EXPECT_LT(split, std::max(2e-5, 10 * single)) << i;
    EXPECT_LT(tf32, std::max(0x1p13 * 2e-6, 10 * 0x1p13 * single)) << i;
    of_tf32 += std::log(tf32) / cases;
    of_bf16 += std::log(bf16) / cases;
  }
  EXPECT_GT(std::exp(of_tf32), 1e-5) << "products were not rounded to TF32";
  EXPECT_GT(std::exp(of_bf16 - of_tf32), 4) << "BF16 has three bits less";
}

TEST(FnoKernel, HasTheSameBitsWhereverItsArraysAre) {
  SCOPED_TRACE(replay());
  for (int i = 0; i < 8; ++i) {
    const KernelGames games(200 + static_cast<std::uint64_t>(i), 1 + i % 2);
    const std::vector<double> shared = games.values(Arithmetic::tf32x3);
    for (const long long floats : {0LL, 300LL, 3000LL})
      EXPECT_EQ(games.values(Arithmetic::tf32x3, floats), shared) << i << ' ' << floats;
  }
}

}  // namespace
}  // namespace opshap
