// The options of neuraloperator's FNO, each against what neuraloperator computes with it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "support/operator_golden.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using networks::Precision;

// A dozen layers of a few roundings each, in float32 on both sides.
constexpr double float32_layers = 1e-5;

/// A network of reference_data/fno_options/.
struct Subject {
  std::string name;

  static fs::path folder() { return fs::path(OPSHAP_SOURCE_DIR) / "reference_data" / "fno_options"; }
  fs::path file() const { return folder() / (name + ".safetensors"); }
  std::unique_ptr<Operator> op(networks::Precision precision = networks::Precision::float32, bool engine = true) const {
    return operators::load_operator(file(), "cpu", precision, engine);
  }
  std::vector<double> output() const { return data::read_npy(folder() / (name + "_output.npy")).reals(name); }
  FieldBatch input() const {
    const data::NpyArray stored = data::read_npy(folder() / (name + "_input.npy"));
    std::vector<int> shape;
    for (std::size_t axis = 2; axis < stored.shape.size(); ++axis)
      shape.push_back(static_cast<int>(stored.shape[axis]));
    return {.domain = Domain::unit(shape),
            .batch = stored.shape[0],
            .channels = static_cast<int>(stored.shape[1]),
            .values = stored.reals(name)};
  }
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const auto& entry : fs::directory_iterator(Subject::folder()))
    if (const std::string stem = entry.path().stem();
        entry.path().extension() == ".safetensors" && !stem.ends_with("_factors"))
      all.push_back({stem});
  std::sort(all.begin(), all.end(), [](const Subject& a, const Subject& b) { return a.name < b.name; });
  return all;
}

TEST(FnoOptions, GiveWhatNeuraloperatorComputes) {
  ASSERT_LE(18U, subjects().size());
  for (const Subject& subject : subjects())
    EXPECT_LT(l2_distance(subject.output(), subject.op()->apply(subject.input()).values), float32_layers)
        << subject.name;
}

TEST(FnoOptions, ChangeWhatANetworkComputes) {
  // The same weights without the option, where they are those of another network.
  for (const char* name : {"instance_norm", "relu", "silu", "stabilizer"}) {
    const Subject subject{name};
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
  for (const Subject& subject : subjects()) {
    const auto op = subject.op(networks::Precision::float64);
    const FieldBatch inputs = subject.input(), outputs = op->apply(inputs);
    for (const std::int64_t point : {std::int64_t{0}, inputs.domain.centre(), inputs.domain.points() - 1}) {
      const std::vector<double> values = op->values_at(inputs, Query{.point = point});
      for (std::int64_t index = 0; index < inputs.batch; ++index)
        EXPECT_EQ(
            "", mismatch(outputs.field(index)[static_cast<std::size_t>(point)], values[static_cast<std::size_t>(index)],
                         rounding(1e4, 1)))  // other order of the same sums
            << subject.name;
    }
  }
}

// Of the sum of squares, with respect to every parameter: the kernels and LibTorch's own reverse pass.
TEST(FnoOptions, HaveTheSameGradientsByKernelsAndByLibTorch) {
  for (const Subject& subject : subjects()) {
    const auto network = operators::load_network(subject.file(), torch::kFloat64);
    std::vector<torch::Tensor> parameters;
    for (operators::Parameter& parameter : network->parameters())
      parameters.push_back(parameter.value.set_requires_grad(true));
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
  const std::vector<std::string> covered = {"batch_norm", "cp",     "gates",        "no_embedding",
                                            "no_skips",   "ratios", "tensor_train", "tucker"};
  for (const Subject& subject : subjects()) {
    const auto with = subject.op(), without = subject.op(networks::Precision::float32, false);
    const std::string path = with->coalition_path();
    const bool by_engine = std::ranges::find(covered, subject.name) != covered.end();
    EXPECT_EQ(by_engine, path.starts_with("engine")) << subject.name << ": " << path;
    if (!by_engine) {
      EXPECT_NE(std::string::npos, path.find("the engines have no ")) << path;
      continue;
    }
    ScenarioRule rule;
    rule.players = ScenarioRule::Players::blocks;
    rule.blocks = 4;
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
  for (const Subject& subject : subjects())
    EXPECT_EQ(subject.name != "instance_norm" && subject.name != "group_norm", subject.op()->has_mean_field())
        << subject.name;
}

TEST(FnoOptions, ExpandFactorsWhenAFileIsRead) {
  for (const char* name : {"tucker", "cp", "tensor_train"}) {
    const Subject whole{name}, factors{std::string(name) + "_factors"};
    EXPECT_LT(l2_distance(whole.output(), factors.op()->apply(whole.input()).values), float32_layers) << name;
    const auto network = operators::load_network(factors.file(), torch::kFloat32);
    EXPECT_EQ(operators::load_network(whole.file(), torch::kFloat32)->config(), network->config()) << name;
  }
}

TEST(FnoOptions, RefuseFactorsThatDoNotFit) {
  const fs::path changed = fs::temp_directory_path() / ("opshap_factors_" + std::to_string(getpid()) + ".safetensors");
  for (const char* name : {"tucker", "cp", "tensor_train"}) {
    data::Safetensors content = data::read_safetensors(Subject{std::string(name) + "_factors"}.file());
    content.tensors.erase("fno_blocks.convs.1.weight.factors.factor_1");
    data::write_safetensors(changed, content);
    EXPECT_THROW(operators::load_network(changed, torch::kFloat32), DataError) << name;
  }
  fs::remove(changed);
}

TEST(FnoOptions, AreReadBackAsWritten) {
  for (const Subject& subject : subjects()) {
    const auto config = operators::FnoConfig::parse(operators::load_network(subject.file(), torch::kFloat32)->config());
    EXPECT_EQ(config, operators::FnoConfig::parse(config)) << subject.name;
  }
  EXPECT_EQ(std::string::npos, networks::NetworkConfig(operators::FnoConfig{}).json.find("norm"));
}

TEST(FnoOptions, AreNamedWithTheirValueWhereTheyAreRefused) {
  const std::vector<std::string> refused = {R"("resolution_scaling_factor": 2)",
                                            R"("preactivation": true)",
                                            R"("separable": true)",
                                            R"("complex_data": true)",
                                            R"("norm": "ada_in")",
                                            R"("non_linearity": "elu")",
                                            R"("fno_skip": "id")",
                                            R"("stabilizer": "sigmoid")",
                                            R"("fno_block_precision": "mixed")",
                                            R"("factorization": "Tree")",
                                            R"("max_n_modes": [8])"};
  for (const std::string& option : refused) {
    try {
      operators::FnoConfig::parse({"{" + option + "}"});
      ADD_FAILURE() << option << " was taken";
    } catch (const DataError& error) {
      std::string shown;  // key=value, without the spaces and quotes of JSON
      for (const char c : option)
        if (c != '"' && c != ' ') shown += c == ':' ? '=' : c;
      std::string message = error.what();
      std::erase(message, '"');
      EXPECT_NE(std::string::npos, message.find(shown)) << message;
    }
  }
  EXPECT_THROW(operators::make_network({R"({"projection_channel_ratio": 0})"}, torch::kFloat32), DataError);
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
