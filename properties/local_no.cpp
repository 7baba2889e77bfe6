// The neural operator with local integrals and derivatives: its filters against the reference's table, its stencils
// against plain loops, its files against neuraloperator. architectures.cpp has the laws of all architectures.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "data/safetensors.hpp"
#include "operators/network.hpp"
#include "operators/stencil.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"
#include "support/tolerance.hpp"
#include "support/weight_files.hpp"

namespace opshap {
namespace {

using torch::Tensor;

// neuraloperator 2.0.0 with torch-harmonics 0.7.4, to the digits that were printed.
TEST(DiscoFilter, IsTheReferencesTable) {
  struct Entry {
    int points, function, tap;
    double value;
  };
  const std::vector<Entry> table = {{128, 0, 4, 0.9999916553}, {128, 0, 3, 1.192083e-07}, {128, 1, 1, 0.0143431947},
                                    {128, 2, 4, 0.9999916553}, {128, 2, 5, 1.192083e-07}, {128, 3, 7, 0.0142410630},
                                    {128, 3, 4, 0.0071205320}, {32, 0, 4, 0.9999994040},  {32, 0, 3, 1.192092e-07},
                                    {32, 1, 1, 0.1888585836},  {32, 2, 4, 0.9999994040},  {32, 2, 5, 1.192092e-07},
                                    {32, 3, 7, 0.1725635231},  {32, 3, 4, 0.0862817690}};
  for (const int points : {32, 128}) {
    operators::DiscoFilter filter = operators::disco_filter(points);
    const Tensor one_hot = torch::eye(operators::disco_functions, torch::kFloat64).unsqueeze(1);  // [5, 1, 5]
    const std::vector<double> taps = numbers(operators::disco_taps(one_hot, points));             // [9, 1, 5]
    for (std::size_t function = 0; function < operators::disco_functions; ++function)
      for (std::size_t tap = 0; tap < operators::Stencil::taps; ++tap)
        EXPECT_EQ(filter[function][tap], taps[tap * operators::disco_functions + function]);
    for (const Entry& entry : table) {
      if (entry.points != points) continue;
      float& found = filter[static_cast<std::size_t>(entry.function)][static_cast<std::size_t>(entry.tap)];
      EXPECT_NEAR(1, found / entry.value, 1e-6);
      found = 0;
    }
    for (const auto& function : filter)
      for (const float rest : function) EXPECT_EQ(0, rest);
  }
}

TEST(Stencil, IsASumOverNeighboursInsideAndBeyondTheEdges) {
  constexpr std::int64_t batch = 2, inputs = 3, outputs = 2;
  for (const auto& shape : {std::vector<std::int64_t>{1, 1}, {1, 4}, {2, 3}, {5, 4}}) {
    const std::int64_t lines = shape[0], size = shape[1];
    const Tensor x = random_tensor({lines * size, batch, inputs}, 0);
    const operators::Stencil stencil{.used = {0, 1, 2, 3, 4, 5, 6, 7, 8},
                                     .inside = random_tensor({operators::Stencil::taps, inputs, outputs}, 1),
                                     .beyond = random_tensor({operators::Stencil::taps, inputs, outputs}, 2)};
    const Tensor found = operators::stencil_sums(x, stencil, shape, torch::arange(lines * size));
    Tensor expected = torch::zeros({lines * size, batch, outputs}, torch::kFloat64);
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t j = 0; j < size; ++j)
        for (int tap = 0; tap < operators::Stencil::taps; ++tap) {
          const std::int64_t a = i + tap / 3 - 1, b = j + tap % 3 - 1;
          const bool inside = a >= 0 && a < lines && b >= 0 && b < size;
          const std::int64_t from = (a + lines) % lines * size + (b + size) % size;
          expected[i * size + j] += torch::mm(x[from], (inside ? stencil.inside : stencil.beyond)[tap]);
        }
    EXPECT_EQ("", mismatch(numbers(expected), numbers(found), rounding(100, 10)));
  }
}

/// One branch alone on a plane of these points and one channel: [points].
std::vector<double> branch(const Tensor& x, const Tensor& taps, bool circular, std::int64_t lines, std::int64_t size) {
  const operators::Stencil stencil{
      .used = {0, 1, 2, 3, 4, 5, 6, 7, 8}, .inside = taps, .beyond = circular ? taps : Tensor()};
  return numbers(
      operators::stencil_sums(x.view({lines * size, 1, 1}), stencil, {lines, size}, torch::arange(lines * size)));
}

TEST(FiniteDifference, OfAConstantIsZeroAndOfALinearFieldConstantInside) {
  constexpr std::int64_t lines = 6, size = 8;
  constexpr double scale = 0.25, slope_a = 0.5, slope_b = -2;
  const Tensor weight = random_tensor({1, 1, 3, 3}, 3), taps = operators::difference_taps(weight, scale);
  for (const double value : branch(torch::full({lines * size}, 3.0, torch::kFloat64), taps, true, lines, size))
    EXPECT_EQ("", mismatch(0, value, rounding(100, 10)));
  double expected = 0;  // scale · Σ W (offset · slope)
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      expected += scale * weight[0][0][a][b].item<double>() *
                  (slope_a * static_cast<double>(a - 1) + slope_b * static_cast<double>(b - 1));
  Tensor linear = torch::empty({lines, size}, torch::kFloat64);
  for (std::int64_t i = 0; i < lines; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      linear[i][j] = slope_a * static_cast<double>(i) + slope_b * static_cast<double>(j);
  const std::vector<double> found = branch(linear, taps, true, lines, size);
  for (std::int64_t i = 1; i + 1 < lines; ++i)
    for (std::int64_t j = 1; j + 1 < size; ++j)
      EXPECT_EQ("", mismatch(expected, found[static_cast<std::size_t>(i * size + j)], rounding(100, 100)));
  EXPECT_NE("", mismatch(expected, found[0], rounding(100, 100))) << "the first point has neighbours across the edge";
}

TEST(Disco, SeesZerosBeyondTheEdges) {
  constexpr std::int64_t lines = 4, size = 5;
  const Tensor taps = operators::disco_taps(random_tensor({1, 1, operators::disco_functions}, 4), 32);
  const std::vector<double> found = branch(torch::ones({lines * size}, torch::kFloat64), taps, false, lines, size),
                            weights = numbers(taps);
  const double inside = weights[1] + weights[3] + weights[4] + weights[5] + weights[7];
  EXPECT_EQ("", mismatch(inside, found[size + 1], rounding(100, 10)));
  EXPECT_EQ("", mismatch(inside - weights[1] - weights[3], found[0], rounding(100, 10)));
  EXPECT_EQ("", mismatch(inside - weights[5] - weights[7], found.back(), rounding(100, 10)));
  EXPECT_GT(std::abs(weights[1] + weights[3]), 1e-3);
}

std::filesystem::path reference_file(const std::string& name) {
  return OPSHAP_SOURCE_DIR "/reference_data/neuraloperator/" + name + ".safetensors";
}

/// Of its fields.
std::string prefix(const std::string& name) { return "neuraloperator/" + name + "_"; }

// reference_data/neuraloperator.md says how the files were made.
TEST(LocalNoFiles, OfNeuraloperatorComputeWhatItComputes) {
  for (const char* name : {"local_no", "local_no_branches"})
    EXPECT_LT(distance_from_reference(*operators::load_operator(reference_file(name)), prefix(name)), float32_layers)
        << name;
  // The fixture can tell a filter in exact arithmetic from the reference's: the first is the identity at the centre.
  EXPECT_GT(operators::disco_filter(8)[1][1], 0.5);
}

class ChangedLocalNoFiles : public WeightsFolder {
 protected:
  /// As refused_after(). A file that is accepted computes the same.
  template <typename Change>
  std::string refused(const std::string& name, const Change& change) {
    const std::string message = refused_after(change, reference_file(name));
    if (message.empty()) {
      EXPECT_LT(distance_from_reference(*operators::load_operator(changed_), prefix(name)), float32_layers);
    }
    return message;
  }
};

TEST_F(ChangedLocalNoFiles, MayHaveADifferenceUnderEitherNameOrUnderBothWithTheSameNumbers) {
  const std::string own = "local_no_blocks.differential.0.conv.weight", alias = "local_no_blocks.differential.0.weight";
  EXPECT_EQ("", refused("local_no", [&](data::Safetensors& content) { content.tensors.erase(alias); }));
  EXPECT_EQ("", refused("local_no", [&](data::Safetensors& content) { content.tensors.erase(own); }));
  EXPECT_TRUE(
      has(refused("local_no", [&](data::Safetensors& content) { content.tensors.at(alias).bytes[3] ^= std::byte{1}; }),
          own));
}

TEST_F(ChangedLocalNoFiles, UnderTheNamesOfVersion102AreTakenWithoutDiscoLayersAlone) {
  const auto old = [](data::Safetensors& content) {
    rename_tensors(content, "local_no_blocks.local_no_skips.", "local_no_blocks.fno_skips.");
    rename_tensors(content, "local_no_blocks.", "fno_blocks.");
  };
  EXPECT_EQ("", refused("local_no_differences", old));
  EXPECT_TRUE(has(refused("local_no", old), "1.0.2"));
}

TEST_F(ChangedLocalNoFiles, ComeBackFromTheirNetworksToTheBit) {
  const auto network = operators::load_network(reference_file("local_no"), torch::kFloat32);
  operators::save_network(*network, changed_);
  const auto again = operators::load_network(changed_, torch::kFloat32);
  EXPECT_EQ(network->config(), again->config());
  expect_same_parameters(*network, *again);
  EXPECT_LT(distance_from_reference(*operators::load_operator(changed_), prefix("local_no")), float32_layers);
}

}  // namespace
}  // namespace opshap
