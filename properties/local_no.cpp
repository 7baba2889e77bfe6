// The neural operator with local integrals and derivatives: against golden values, against neuraloperator itself,
// against plain loops, and against itself.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "operators/stencil.hpp"
#include "operators/weights.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using torch::Tensor;

std::vector<double> numbers(const Tensor& tensor) {
  const Tensor flat = tensor.detach().to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

Tensor random_tensor(const std::vector<std::int64_t>& shape, std::uint64_t item) {
  Tensor drawn = torch::empty(shape, torch::kFloat64);
  Rng rng(7, "local_no test", 0, item);
  for (std::int64_t i = 0; i < drawn.numel(); ++i) drawn.data_ptr<double>()[i] = rng.normal();
  return drawn;
}

double l2_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    scale += a[i] * a[i];
  }
  return std::sqrt(sum / scale);
}

/// Both sides compute in float32: a dozen layers of products of some hundred numbers.
constexpr double float32_layers = 1e-5;

TEST(LocalNo, GivesTheGoldenValues) {
  const auto table = read_csv(OPSHAP_SOURCE_DIR "/reference_data/local_no_golden.csv", {"id"}, "# version 1");
  EXPECT_EQ(4u, table.size());
  for (const CsvRow& row : table) {
    const std::int64_t side = row.whole("default_points");
    const ordered_json config = {{"model", "local_no"},
                                 {"domain_padding", 0.5},
                                 {"default_in_shape", {side, side}},
                                 {"disco_layers", row.text("disco_layers") == "true"},
                                 {"diff_layers", row.text("diff_layers") == "true"}};
    const std::vector<std::int64_t> shape = {row.whole("batch"), 1, row.whole("points"), row.whole("points")};
    const FieldBatch exact = operators::golden_output({config.dump()}, shape, networks::Precision::float64),
                     single = operators::golden_output({config.dump()}, shape, networks::Precision::float32);
    const networks::GoldenValues found = operators::golden_values(exact);
    // The table has ten digits, the last one rounded.
    for (const auto& [column, value] : std::map<std::string, double>{{"first", found.first},
                                                                     {"middle", found.middle},
                                                                     {"last", found.last},
                                                                     {"mean", found.mean},
                                                                     {"l2", found.l2}})
      EXPECT_NEAR(1, value / row.number(column), 1e-8) << row.text("id") << ", " << column;
    EXPECT_LT(l2_distance(exact.values, single.values), float32_layers) << row.text("id");
  }
}

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
  const std::vector<std::vector<std::int64_t>> shapes = {{1, 1}, {1, 4}, {2, 3}, {5, 4}};
  for (const std::vector<std::int64_t>& shape : shapes) {
    const std::int64_t lines = shape[0], size = shape[1];
    const Tensor x = random_tensor({lines * size, batch, inputs}, 0);
    const operators::Stencil stencil{.used = {0, 1, 2, 3, 4, 5, 6, 7, 8},
                                     .inside = random_tensor({operators::Stencil::taps, inputs, outputs}, 1),
                                     .beyond = random_tensor({operators::Stencil::taps, inputs, outputs}, 2)};
    const Tensor found = operators::stencil_sums(x, stencil, shape, torch::arange(lines * size));
    Tensor expected = torch::zeros({lines * size, batch, outputs}, torch::kFloat64);
    for (std::int64_t i = 0; i < lines; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        for (int tap = 0; tap < operators::Stencil::taps; ++tap) {
          const std::int64_t a = i + tap / 3 - 1, b = j + tap % 3 - 1;
          const bool inside = a >= 0 && a < lines && b >= 0 && b < size;
          const std::int64_t from = (a + lines) % lines * size + (b + size) % size;
          expected[i * size + j] += torch::mm(x[from], (inside ? stencil.inside : stencil.beyond)[tap]);
        }
      }
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

/// A small network whose layers have both branches, one of them, or none.
networks::NetworkConfig small_config(const std::string& padding_mode = "symmetric") {
  const ordered_json config = {{"model", "local_no"},
                               {"n_modes", {6, 4}},
                               {"hidden_channels", 6},
                               {"n_layers", 4},
                               {"in_channels", 2},
                               {"out_channels", 2},
                               {"domain_padding", 0.25},
                               {"domain_padding_mode", padding_mode},
                               {"default_in_shape", {8, 8}},
                               {"disco_layers", {true, false, false, true}},
                               {"diff_layers", {true, true, false, false}}};
  return {config.dump()};
}

FieldBatch random_fields(const std::vector<int>& shape, std::int64_t batch, std::uint64_t item) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit(shape), batch, 2);
  Rng rng(5, "local_no fields", 0, item);
  for (double& value : fields.values) value = rng.normal();
  return fields;
}

std::unique_ptr<operators::Network> small_network(const networks::NetworkConfig& config) {
  auto network = operators::make_network(config, torch::kFloat64);
  operators::initialise(*network, 2);
  for (operators::Parameter& parameter : network->parameters()) {
    parameter.value.add_(0.01);  // no bias is zero
    parameter.value.set_requires_grad(true);
  }
  return network;
}

/// The derivatives of Σ cos(output) with respect to the fields and to all parameters.
std::vector<Tensor> derivatives(const operators::Network& network, const FieldBatch& inputs,
                                const std::function<Tensor(const Tensor&)>& output) {
  const Tensor fields = operators::to_tensor(inputs, 0, inputs.batch, network.options()).set_requires_grad(true);
  std::vector<Tensor> of = {fields};
  for (const operators::Parameter& parameter : network.parameters()) of.push_back(parameter.value);
  return torch::autograd::grad({output(fields).cos().sum()}, of);
}

TEST(LocalNo, FusedLayersAreThoseOfLibTorchAndSoAreTheirDerivatives) {
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{1, 1}, {2, 9}, {5, 4}, {8, 8}}) {
    for (const char* padding : {"symmetric", "one-sided"}) {
      const auto network = small_network(small_config(padding));
      const FieldBatch inputs = random_fields(shape, 3, 0);
      const std::int64_t point = inputs.domain.centre();
      const auto whole = [&](const Tensor& fields) { return network->forward(fields, inputs.domain); };
      const auto at = [&](const Tensor& fields) { return network->forward_at(fields, inputs.domain, point); };
      ASSERT_TRUE(network->fused());
      const Tensor fields = operators::to_tensor(inputs, 0, 3, network->options());
      const Tensor fused = whole(fields), fused_at = at(fields);
      const auto of_whole = derivatives(*network, inputs, whole), of_point = derivatives(*network, inputs, at);
      network->set_fused(false);
      EXPECT_EQ("", mismatch(numbers(whole(fields)), numbers(fused), rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(numbers(at(fields)), numbers(fused_at), rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(numbers(fused[point]), numbers(fused_at), rounding(1e4, 1)));
      const auto plain_whole = derivatives(*network, inputs, whole), plain_point = derivatives(*network, inputs, at);
      for (std::size_t i = 0; i < of_whole.size(); ++i) {
        const std::string name = i == 0 ? "fields" : network->parameters()[i - 1].name;
        EXPECT_EQ("", mismatch(numbers(plain_whole[i]), numbers(of_whole[i]), rounding(1e5, 10))) << name;
        EXPECT_EQ("", mismatch(numbers(plain_point[i]), numbers(of_point[i]), rounding(1e5, 10))) << name;
      }
    }
  }
}

TEST(LocalNo, ValuesAndGradientsAreThoseOfTheWholeFieldAndOfCentralDifferences) {
  constexpr double h = 1e-5;
  const auto op = operators::untrained_operator(small_config(), 1, networks::Precision::float64);
  const FieldBatch inputs = random_fields({4, 5}, 1, 1), outputs = op->apply(inputs);
  for (const std::int64_t point : {0, 7, 19}) {
    const Query query{.point = point, .channel = 1};
    EXPECT_EQ("", mismatch(outputs.values[static_cast<std::size_t>(20 + point)], op->values_at(inputs, query)[0],
                           rounding(1e4, 1)));
    std::vector<double> expected;
    for (std::size_t i = 0; i < inputs.values.size(); ++i) {
      FieldBatch above = inputs, below = inputs;
      above.values[i] += h;
      below.values[i] -= h;
      expected.push_back((op->values_at(above, query)[0] - op->values_at(below, query)[0]) / (2 * h));
    }
    EXPECT_EQ("", mismatch(expected, op->gradient_at(inputs, query).gradient.values, discretisation(10, h, 2)));
    EXPECT_GT(largest(expected), 1e-3);
  }
}

TEST(LocalNo, MeanFieldEndsAtTheInputAndAtTheBaselineAndHasTheSlopeOfItsValue) {
  constexpr double step = 1e-4;
  const auto op = operators::untrained_operator(small_config(), 3, networks::Precision::float64);
  const FieldBatch input = random_fields({4, 6}, 1, 2), baseline = random_fields({4, 6}, 1, 3);
  const Query query{.point = 9, .channel = 1};
  FieldBatch levels = FieldBatch::zeros(input.domain, 3, 1);
  std::ranges::fill(levels.field(1), 1.0);
  std::ranges::fill(levels.field(2), 0.4);
  const Operator::Gradient found = op->mean_field_at(input, baseline, levels, query);
  EXPECT_EQ("", mismatch(op->values_at(baseline, query)[0], found.values[0], rounding(1e4, 1)));
  EXPECT_EQ("", mismatch(op->values_at(input, query)[0], found.values[1], rounding(1e4, 1)));
  for (std::size_t point = 0; point < 24; ++point) {
    FieldBatch sides = FieldBatch::zeros(input.domain, 2, 1);
    std::ranges::fill(sides.values, 0.4);
    sides.field(0)[point] += step;
    sides.field(1)[point] -= step;
    const auto values = op->mean_field_at(input, baseline, sides, query).values;
    // A central difference errs by h²/6 times a third derivative, of size 1 for these weights.
    EXPECT_EQ("", mismatch((values[0] - values[1]) / (2 * step), found.gradient.field(2)[point],
                           discretisation(10, step, 2)));
  }
}

std::int64_t count(const networks::NetworkConfig& config) {
  std::int64_t found = 0;
  for (const operators::Parameter& parameter : operators::make_network(config, torch::kFloat32)->parameters())
    found += parameter.value.numel() / (parameter.complex ? 2 : 1);
  return found;
}

TEST(LocalNo, HasTheReferencesParameters) {
  EXPECT_EQ(2'622'785, count({R"({"model": "local_no", "default_in_shape": [128, 128]})"}));
  EXPECT_EQ(2'475'329, count({R"({"model": "local_no", "default_in_shape": [32, 32], "diff_layers": false})"}));
  EXPECT_EQ(2'623'042, count({R"({"model": "local_no", "default_in_shape": [32, 32], "in_channels": 2,
                                  "out_channels": 2})"}));
}

// Uniform on (−k, k) has variance k²/3.
TEST(LocalNo, StartsFromTheReferencesDistributions) {
  const auto network =
      operators::make_network({R"({"model": "local_no", "default_in_shape": [128, 128]})"}, torch::kFloat64);
  operators::initialise(*network, 5);
  const std::vector<std::pair<std::string, double>> laws = {
      {"local_no_blocks.differential.1.conv.weight", 1 / 24.0 / std::sqrt(3.0)},
      {"local_no_blocks.local_convs.2.weight", 1 / 8.0},
      {"local_no_blocks.local_no_skips.0.conv.weight", 1 / 8.0 / std::sqrt(3.0)}};
  for (const auto& [name, expected] : laws) {
    const auto& all = network->parameters();
    const auto found = std::ranges::find(all, name, &operators::Parameter::name);
    ASSERT_NE(all.end(), found) << name;
    const double standard_error = expected / std::sqrt(2 * static_cast<double>(found->value.numel()));
    EXPECT_EQ("", mismatch(expected, found->value.std().item<double>(), sampling(standard_error))) << name;
  }
}

TEST(LocalNo, NamesWhatItRefuses) {
  const auto refusal = [](const std::string& extra) -> std::string {
    try {
      operators::make_network({R"({"model": "local_no")" + extra + "}"}, torch::kFloat32);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", "default_in_shape"},
      {R"(, "default_in_shape": [64])", "two whole numbers"},
      {R"(, "default_in_shape": [64, 32])", "no square"},
      {R"(, "default_in_shape": [48, 48])", "no power of two"},
      {R"(, "default_in_shape": [1, 1])", "no power of two"},
      {R"(, "default_in_shape": [32, 32], "n_modes": [16])", "two axes"},
      {R"(, "default_in_shape": [32, 32], "disco_layers": [true])", "disco_layers"},
      {R"(, "default_in_shape": [32, 32], "diff_layers": 1)", "diff_layers"},
      {R"(, "default_in_shape": [32, 32], "disco_kernel_shape": [3, 3])", "disco_kernel_shape"}};
  for (const auto& [extra, why] : texts) EXPECT_NE(std::string::npos, refusal(extra).find(why)) << refusal(extra);
  EXPECT_EQ("", refusal(R"(, "disco_layers": false, "diff_layers": false)"));
  EXPECT_EQ("", refusal(R"(, "disco_layers": false, "default_in_shape": [48, 20])"));
  EXPECT_THROW(operators::untrained_operator(small_config(), 1)->apply(FieldBatch::zeros(Domain::unit({8}), 1, 2)),
               InvalidArgument);
}

/// How far the operator of a file is from what neuraloperator computed, relative L2.
double distance_from_neuraloperator(const fs::path& weights, const std::string& fields) {
  const std::string folder = OPSHAP_SOURCE_DIR "/reference_data/neuraloperator/";
  const data::NpyArray input = data::read_npy(folder + fields + "_input.npy"),
                       output = data::read_npy(folder + fields + "_output.npy");
  const FieldBatch found = operators::load_operator(weights)->apply(
      {.domain = Domain::unit({static_cast<int>(input.shape[2]), static_cast<int>(input.shape[3])}),
       .batch = input.shape[0],
       .channels = static_cast<int>(input.shape[1]),
       .values = input.reals(fields)});
  return l2_distance(output.reals(fields), found.values);
}

fs::path reference_file(const std::string& name) {
  return OPSHAP_SOURCE_DIR "/reference_data/neuraloperator/" + name + ".safetensors";
}

// reference_data/neuraloperator.md says how the files were made.
TEST(LocalNoFiles, OfNeuraloperatorComputeWhatItComputes) {
  for (const char* name : {"local_no", "local_no_branches"})
    EXPECT_LT(distance_from_neuraloperator(reference_file(name), name), float32_layers) << name;
  // The fixture can tell a filter in exact arithmetic from the reference's: the first is the identity at the centre.
  EXPECT_GT(operators::disco_filter(8)[1][1], 0.5);
}

class ChangedLocalNoFiles : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  /// The message with which a changed file is refused; "" when it is accepted and computes the same.
  template <typename Change>
  std::string refusal(const std::string& name, const Change& change) {
    data::Safetensors content = data::read_safetensors(reference_file(name));
    change(content);
    data::write_safetensors(changed_, content);
    try {
      EXPECT_LT(distance_from_neuraloperator(changed_, name), float32_layers);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  static void rename(data::Safetensors& content, const std::string& from, const std::string& to) {
    std::map<std::string, data::StoredTensor> renamed;
    for (auto& [name, tensor] : content.tensors)
      renamed[name.starts_with(from) ? to + name.substr(from.size()) : name] = tensor;
    content.tensors.clear();
    for (auto& [name, tensor] : renamed) content.tensors.emplace(name, std::move(tensor));
  }

  fs::path folder_ = fs::temp_directory_path() / ("opshap_local_no_" + std::to_string(getpid()));
  fs::path changed_ = folder_ / "changed.safetensors";
};

TEST_F(ChangedLocalNoFiles, MayHaveADifferenceUnderEitherNameOrUnderBothWithTheSameNumbers) {
  const std::string own = "local_no_blocks.differential.0.conv.weight", alias = "local_no_blocks.differential.0.weight";
  EXPECT_EQ("", refusal("local_no", [&](data::Safetensors& content) { content.tensors.erase(alias); }));
  EXPECT_EQ("", refusal("local_no", [&](data::Safetensors& content) { content.tensors.erase(own); }));
  const std::string message =
      refusal("local_no", [&](data::Safetensors& content) { content.tensors.at(alias).bytes[3] ^= std::byte{1}; });
  EXPECT_NE(std::string::npos, message.find(own)) << message;
}

TEST_F(ChangedLocalNoFiles, UnderTheNamesOfVersion102AreTakenWithoutDiscoLayersAlone) {
  const auto old = [](data::Safetensors& content) {
    rename(content, "local_no_blocks.local_no_skips.", "local_no_blocks.fno_skips.");
    rename(content, "local_no_blocks.", "fno_blocks.");
  };
  EXPECT_EQ("", refusal("local_no_differences", old));
  const std::string message = refusal("local_no", old);
  EXPECT_NE(std::string::npos, message.find("1.0.2")) << message;
}

TEST_F(ChangedLocalNoFiles, ComeBackFromTheirNetworksToTheBit) {
  const auto network = operators::load_network(reference_file("local_no"), torch::kFloat32);
  operators::save_network(*network, changed_);
  const auto again = operators::load_network(changed_, torch::kFloat32);
  EXPECT_EQ(network->config(), again->config());
  for (std::size_t i = 0; i < network->parameters().size(); ++i)
    EXPECT_TRUE(torch::equal(network->parameters()[i].value, again->parameters()[i].value));
  EXPECT_LT(distance_from_neuraloperator(changed_, "local_no"), float32_layers);
}

}  // namespace
}  // namespace opshap
