// The Fourier neural operator: what it has beyond the laws of architectures.cpp, and its options, each against what
// neuraloperator computes with it.

#include "operators/fno.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/safetensors.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using networks::Precision;

TEST(GoldenNumbers, AreTheOnesOfTheFormula) {
  EXPECT_DOUBLE_EQ(0.76662161642728521, operators::golden_number(0, 0));
  EXPECT_DOUBLE_EQ(0.13312315034456179, operators::golden_number(0, 1));
  EXPECT_DOUBLE_EQ(0.18237946839615882, operators::golden_number(0, 2));
  EXPECT_DOUBLE_EQ(0.7353710165340428, operators::golden_number(1000, 0));
  EXPECT_DOUBLE_EQ(-0.33009477833339873, operators::golden_number(1000, 1));
}

operators::FnoConfig small_fno_config(int dimension, int in_channels = 1, int out_channels = 1) {
  return {.n_modes = std::vector<int>(static_cast<std::size_t>(dimension), 6),
          .hidden_channels = 8,
          .n_layers = 3,
          .in_channels = in_channels,
          .out_channels = out_channels,
          .domain_padding = 0.5};
}

/// Each field moved on by one point along its last axis.
FieldBatch shifted(FieldBatch fields) {
  const auto line = static_cast<std::ptrdiff_t>(fields.domain.shape().back());
  for (auto begin = fields.values.begin(); begin != fields.values.end(); begin += line)
    std::rotate(begin, begin + line - 1, begin + line);
  return fields;
}

TEST(Fno, WithoutPaddingAndPlacesCommutesWithShifts) {
  for (const std::vector<int>& shape : {std::vector{16}, {5}, {4, 6}}) {
    operators::FnoConfig config = small_fno_config(static_cast<int>(shape.size()), 2, 2);
    config.domain_padding = 0;
    for (const char* places : {"none", "grid"}) {
      config.positional_embedding = places;
      const auto op = operators::untrained_operator(config, 1, networks::Precision::float64);
      const FieldBatch inputs = random_fields(Domain::unit(shape), 2, 2);
      const double apart = l2_distance(shifted(op->apply(inputs)).values, op->apply(shifted(inputs)).values);
      if (config.knows_places())
        EXPECT_GT(apart, 1e-4) << "places do not move with the field";
      else
        EXPECT_LT(apart, 1e-12);  // the same sums in another order
    }
  }
}

TEST(Fno, BitsDoNotDependOnTheNumberOfThreads) {
  const auto op = operators::untrained_operator(operators::FnoConfig{.domain_padding = 0.5}, 1);
  const FieldBatch inputs = random_fields(Domain::unit({256}), 37, 1);  // several chunks, the last one not full
  const Query query{.point = 100};
  set_threads(1);
  const FieldBatch fields = op->apply(inputs);
  const std::vector<double> values = op->values_at(inputs, query);
  const Operator::Gradient gradient = op->gradient_at(inputs, query);
  for (const int count : {2, 3}) {
    set_threads(count);
    EXPECT_EQ(fields.values, op->apply(inputs).values);
    EXPECT_EQ(values, op->values_at(inputs, query));
    EXPECT_EQ(gradient.gradient.values, op->gradient_at(inputs, query).gradient.values);
  }
}

// p = fraction·n rounded half to even, on both sides or at the end; the table is neuraloperator's for a fraction of ½.
TEST(Fno, PadsAsTheReferenceDoes) {
  operators::FnoConfig config = small_fno_config(1);
  const auto both = operators::make_network(config, torch::kFloat32);
  config.domain_padding_mode = "one-sided";
  const auto end = operators::make_network(config, torch::kFloat32);
  const std::vector<std::pair<int, int>> padding = {{1, 0},  {4, 2},  {5, 2},   {6, 3},   {7, 4},   {8, 4},
                                                    {16, 8}, {17, 8}, {19, 10}, {32, 16}, {33, 16}, {1024, 512}};
  for (const auto& [n, p] : padding) {
    EXPECT_EQ((n + 2 * p) * config.hidden_channels, both->activations(Domain::unit({n}))) << n;
    EXPECT_EQ((n + p) * config.hidden_channels, end->activations(Domain::unit({n}))) << n;
  }
}

/// A network of reference_data/fno_options/.
struct GoldenFno {
  std::string name;

  static fs::path folder() { return fs::path(OPSHAP_SOURCE_DIR) / "reference_data" / "fno_options"; }
  fs::path file() const { return folder() / (name + ".safetensors"); }
  std::unique_ptr<Operator> op(networks::Precision precision = networks::Precision::float32, bool engine = true) const {
    return operators::load_operator(file(), "cpu", precision, engine);
  }
  std::vector<double> output() const { return stored_output("fno_options/" + name + "_"); }
  FieldBatch input() const { return stored_input("fno_options/" + name + "_"); }
};

std::vector<GoldenFno> golden_fnos() {
  std::vector<GoldenFno> all;
  for (const auto& entry : fs::directory_iterator(GoldenFno::folder()))
    if (const std::string stem = entry.path().stem();
        entry.path().extension() == ".safetensors" && !stem.ends_with("_factors"))
      all.push_back({stem});
  std::sort(all.begin(), all.end(), [](const GoldenFno& a, const GoldenFno& b) { return a.name < b.name; });
  return all;
}

TEST(FnoOptions, GiveWhatNeuraloperatorComputes) {
  ASSERT_LE(18U, golden_fnos().size());
  for (const GoldenFno& subject : golden_fnos())
    EXPECT_LT(l2_distance(subject.output(), subject.op()->apply(subject.input()).values), float32_layers)
        << subject.name;
}

TEST(FnoOptions, ChangeWhatANetworkComputes) {
  // The same weights without the option, where they are those of another network.
  for (const char* name : {"instance_norm", "relu", "silu", "stabilizer"}) {
    const GoldenFno subject{name};
    const auto network = operators::load_network(subject.file(), torch::kFloat32);
    auto plain = operators::FnoConfig::parse(network->config());
    plain.options = {};
    const auto without = operators::make_network(plain, torch::kFloat32);
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < without->parameters().size(); ++i)
      without->parameters()[i].value.copy_(network->parameters()[i].value);
    FieldBatch input = subject.input(), found = FieldBatch::zeros(input.domain, input.batch, 1);
    operators::from_tensor(without->forward(operators::to_tensor(input, 0, input.batch, torch::kFloat32), input.domain),
                           found, 0);
    EXPECT_GT(l2_distance(subject.output(), found.values), 100 * float32_layers) << name;
  }
}

TEST(FnoOptions, HaveAtAPointTheValuesOfTheWholeField) {
  for (const GoldenFno& subject : golden_fnos()) {
    const auto op = subject.op(networks::Precision::float64);
    const FieldBatch inputs = subject.input(), outputs = op->apply(inputs);
    for (const std::int64_t point : {std::int64_t{0}, inputs.domain.centre(), inputs.domain.points() - 1}) {
      std::vector<double> whole;
      for (std::int64_t b = 0; b < inputs.batch; ++b)
        whole.push_back(outputs.field(b)[static_cast<std::size_t>(point)]);
      // Other order of the same sums.
      EXPECT_EQ("", mismatch(whole, op->values_at(inputs, Query{.point = point}), rounding(1e4, 1))) << subject.name;
    }
  }
}

// Of the sum of squares, with respect to every parameter: the kernels and LibTorch's own reverse pass.
TEST(FnoOptions, HaveTheSameGradientsByKernelsAndByLibTorch) {
  for (const GoldenFno& subject : golden_fnos()) {
    const auto network = operators::load_network(subject.file(), torch::kFloat64);
    std::vector<torch::Tensor> parameters;
    for (auto& parameter : network->parameters()) parameters.push_back(parameter.value.set_requires_grad(true));
    const FieldBatch input = subject.input();
    const torch::Tensor fields = operators::to_tensor(input, 0, input.batch, torch::kFloat64);
    const auto gradients = [&](bool fused) {
      network->set_fused(fused);
      return torch::autograd::grad({network->forward(fields, input.domain).square().sum()}, parameters);
    };
    const auto plain = gradients(false), fused = gradients(true);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double scale = std::max(1.0, plain[i].abs().max().item<double>());
      EXPECT_EQ("", mismatch(0, (plain[i] - fused[i]).abs().max().item<double>(), rounding(1e4, scale)))
          << subject.name << ": " << network->parameters()[i].name;
    }
  }
}

TEST(FnoOptions, PlayGamesByTheEngineWhereItHasThem) {
  const std::set<std::string> covered = {"batch_norm", "cp",     "gates",        "no_embedding",
                                         "no_skips",   "ratios", "tensor_train", "tucker"};
  for (const GoldenFno& subject : golden_fnos()) {
    const auto with = subject.op(), without = subject.op(networks::Precision::float32, false);
    const std::string path = with->coalition_path();
    const bool by_engine = covered.contains(subject.name);
    EXPECT_EQ(by_engine, path.starts_with("engine")) << subject.name << ": " << path;
    if (!by_engine) {
      EXPECT_TRUE(has(path, "the engines have no "));
      continue;
    }
    const ScenarioRule rule{.players = ScenarioRule::Players::blocks, .blocks = 4};
    FieldBatch input = subject.input().one(0);
    if (input.domain.dimension() == 1 || input.domain.shape()[0] % 2 == 0) {
      const Coalitions all = Coalitions::enumerate(4, 0, 16);
      const std::vector<double> found = games::cell_mask_game(*with, make_scenario(rule, input))->values(all),
                                expected = games::cell_mask_game(*without, make_scenario(rule, input))->values(all);
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(expected[i], found[i], float32_layers) << subject.name;
    }
  }
}

TEST(FnoOptions, HaveAClosureUnlessNormsTieThePoints) {
  for (const GoldenFno& subject : golden_fnos())
    EXPECT_EQ(subject.name != "instance_norm" && subject.name != "group_norm", subject.op()->has_mean_field())
        << subject.name;
}

TEST(FnoOptions, ExpandFactorsWhenAFileIsRead) {
  for (const char* name : {"tucker", "cp", "tensor_train"}) {
    const GoldenFno whole{name}, factors{std::string(name) + "_factors"};
    EXPECT_LT(l2_distance(whole.output(), factors.op()->apply(whole.input()).values), float32_layers) << name;
    const auto network = operators::load_network(factors.file(), torch::kFloat32);
    EXPECT_EQ(operators::load_network(whole.file(), torch::kFloat32)->config(), network->config()) << name;
  }
}

TEST(FnoOptions, RefuseFactorsThatDoNotFit) {
  const fs::path changed = fs::temp_directory_path() / ("opshap_factors_" + std::to_string(getpid()) + ".safetensors");
  for (const char* name : {"tucker", "cp", "tensor_train"}) {
    data::Safetensors content = data::read_safetensors(GoldenFno{std::string(name) + "_factors"}.file());
    content.tensors.erase("fno_blocks.convs.1.weight.factors.factor_1");
    data::write_safetensors(changed, content);
    EXPECT_THROW(operators::load_network(changed, torch::kFloat32), DataError) << name;
  }
  fs::remove(changed);
}

TEST(FnoOptions, AreReadBackAsWritten) {
  for (const GoldenFno& subject : golden_fnos()) {
    const auto config = operators::FnoConfig::parse(operators::load_network(subject.file(), torch::kFloat32)->config());
    EXPECT_EQ(config, operators::FnoConfig::parse(config)) << subject.name;
  }
  EXPECT_FALSE(has(networks::NetworkConfig(operators::FnoConfig{}).json, "norm"));
}

TEST(FnoOptions, AreSettingsOfAProfileToo) {
  const auto architecture = operators::architecture("fno");
  const auto settings = [&](const std::string& extra) -> networks::NetworkSettings {
    const std::string papers = architecture->of_the_paper().json;
    return {.model = "fno", .json = papers.substr(0, papers.rfind('}')) + ", " + extra + "}"};
  };
  const auto fitted = architecture->fitted(settings(R"("non_linearity": "relu", "norm": "group_norm")"), {});
  EXPECT_EQ(operators::Activation::relu, operators::FnoConfig::parse(fitted).options.block.activation);
  EXPECT_THROW(architecture->fitted(settings(R"("norm": "batch_norm")"), {}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
