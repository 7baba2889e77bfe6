// Weights of operators in files: to the bit and back, and nothing that does not fit. CONFIGs of networks: read back as
// written, and refused by what is wrong with them.

#include "support/weight_files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "operators/fno.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/torch.hpp"
#include "operators/weights.hpp"
#include "support/mutations.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"

namespace opshap {
namespace {

operators::FnoConfig small_config() { return {.n_modes = {6, 4}, .hidden_channels = 4, .n_layers = 2}; }

constexpr const char* spectral = "fno_blocks.convs.1.weight.tensor";

class WeightFiles : public WeightsFolder {
 protected:
  void SetUp() override {
    WeightsFolder::SetUp();
    operators::initialise(*network_, 3);
    operators::save_network(*network_, file_);
  }

  const std::unique_ptr<operators::Network> network_ = operators::make_network(small_config(), torch::kFloat32);
};

TEST_F(WeightFiles, AreReadBackToTheBit) {
  const auto loaded = operators::load_network(file_, torch::kFloat32);
  EXPECT_EQ(networks::NetworkConfig(small_config()), loaded->config());
  expect_same_parameters(*network_, *loaded);
  operators::save_network(*loaded, changed_);
  EXPECT_EQ(read_file(file_), read_file(changed_));
}

TEST_F(WeightFiles, KeepImaginaryPartsInDoublePrecision) {
  const auto single = operators::load_network(file_, torch::kFloat32),
             twice = operators::load_network(file_, torch::kFloat64);
  operators::save_network(*twice, changed_);
  EXPECT_EQ("F64", data::read_safetensors(changed_).tensors.at(spectral).dtype);
  const auto again = operators::load_network(changed_, torch::kFloat64);
  for (std::size_t i = 0; i < single->parameters().size(); ++i) {
    const operators::Parameter& parameter = twice->parameters()[i];
    EXPECT_TRUE(torch::equal(single->parameters()[i].value.to(torch::kFloat64), parameter.value)) << parameter.name;
    EXPECT_TRUE(torch::equal(parameter.value, again->parameters()[i].value)) << parameter.name;
    EXPECT_TRUE(!parameter.complex || parameter.value.select(-1, 1).abs().min().item<double>() > 0) << parameter.name;
  }
}

TEST_F(WeightFiles, MayHoldComplexTensors) {
  EXPECT_EQ("", refused_after([](data::Safetensors& content) {
              data::StoredTensor& tensor = content.tensors.at(spectral);
              tensor.dtype = "C64";
              tensor.shape.pop_back();
            }));
  operators::save_network(*operators::load_network(changed_, torch::kFloat32), changed_);
  EXPECT_EQ(read_file(file_), read_file(changed_));
}

TEST_F(WeightFiles, WithMissingOrUnexpectedTensorsAreRefusedByName) {
  const std::string message = refused_after(
      [](data::Safetensors& content) { rename_tensors(content, "lifting.fcs.0.bias", "lifting.fcs.9.bias"); });
  EXPECT_TRUE(has(message, "missing: lifting.fcs.0.bias"));
  EXPECT_TRUE(has(message, "unexpected: lifting.fcs.9.bias"));
}

TEST_F(WeightFiles, WithOtherShapesAreRefused) {
  const std::string message = refused_after([](data::Safetensors& content) {
    std::vector<std::int64_t>& shape = content.tensors.at(spectral).shape;
    std::swap(shape[2], shape[3]);
  });
  EXPECT_TRUE(has(message, spectral));
}

TEST_F(WeightFiles, WithNumbersThatAreNotFiniteAreRefused) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::string message = refused_after([bad](data::Safetensors& content) {
      std::memcpy(content.tensors.at("projection.fcs.0.bias").bytes.data() + 4, &bad, sizeof bad);
    });
    EXPECT_TRUE(has(message, "projection.fcs.0.bias"));
  }
}

TEST_F(WeightFiles, WithoutAProperConfigAreRefused) {
  const auto with_config = [this](const std::string& text) {
    return refused_after([&](data::Safetensors& content) { content.metadata["config"] = text; });
  };
  EXPECT_NE("", refused_after([](data::Safetensors& content) { content.metadata.erase("config"); }));
  EXPECT_NE("", with_config("[]"));
  EXPECT_NE("", with_config(R"({"hidden_channels": 1e3})"));
  EXPECT_TRUE(has(with_config(R"({"hiden_channels": 4})"), "Did you mean hidden_channels?"));
}

// reference_data/neuraloperator.md says how the files were made.
double distance_from_neuraloperator(const std::string& file, const std::string& fields) {
  const auto op = operators::load_operator(OPSHAP_SOURCE_DIR "/reference_data/neuraloperator/" + file);
  return distance_from_reference(*op, "neuraloperator/" + fields + "_");
}

TEST(FilesOfNeuraloperator, ThatNameNoPaddingAreNotPadded) {
  EXPECT_LT(distance_from_neuraloperator("plain.safetensors", "plain"), float32_layers);
  EXPECT_LT(distance_from_neuraloperator("exported.safetensors", "plain"), float32_layers);
}

TEST(FilesOfNeuraloperator, ThatNameTheirPaddingArePadded) {
  EXPECT_LT(distance_from_neuraloperator("padded.safetensors", "padded"), float32_layers);
  // Both networks have the same weights, so the padding alone is what tells them apart.
  EXPECT_GT(distance_from_neuraloperator("padded.safetensors", "plain"), 100 * float32_layers);
}

// On an odd first axis the two shifts differ by far more than rounding, in every architecture that has them.
TEST(OddAxes, AreThoseOfNeuraloperatorWithEitherShift) {
  const std::string folder = OPSHAP_SOURCE_DIR "/reference_data/neuraloperator/odd";
  for (const nlohmann::ordered_json& each : nlohmann::ordered_json::parse(read_file(folder + ".json"))) {
    const auto name = each["name"].get<std::string>();
    const auto output_of = [&](nlohmann::ordered_json config) {
      const FieldBatch output = operators::golden_output(
          {config.dump()}, each["shape"].get<std::vector<std::int64_t>>(), networks::Precision::float64);
      return output.values;  // one field of one channel, so the order is the reference's
    };
    const auto with = [&](const char* shift) {
      nlohmann::ordered_json config = each["config"];
      config["inverse_shift"] = shift;
      return output_of(config);
    };
    const auto expected = [&](const std::string& shift) {
      return data::read_npy(folder + "_" + name + "_" + shift + ".npy").reals(name);
    };
    EXPECT_LT(l2_distance(expected("fftshift"), with("fftshift")), float32_layers) << name;
    EXPECT_LT(l2_distance(expected("ifftshift"), with("ifftshift")), float32_layers) << name;
    EXPECT_EQ(with("fftshift"), output_of(each["config"])) << name << ": what a CONFIG means that does not say it";
    EXPECT_GT(l2_distance(expected("fftshift"), with("ifftshift")), 100 * float32_layers) << name;
  }
}

// By the names that their state_dicts have in neuraloperator 2.0.0, whatever the config says.
TEST_F(WeightFiles, OfModelsThatAreNotHereAreNamedForWhatTheyAre) {
  const auto with_tensor = [this](const std::string& name) {
    return refused_after([&](data::Safetensors& content) { content.tensors[name] = content.tensors.begin()->second; });
  };
  for (const auto& [name, model] : Refusals<>{{"fno_blocks.0.convs.0.bias", "UNO"},
                                              {"horizontal_skips.0.conv.weight", "UNO"},
                                              {"attention_layers.0.Key.convs.0.bias", "CODANO"},
                                              {"gno.channel_mlp.fcs.0.weight", "FNOGNO"}}) {
    EXPECT_TRUE(has(with_tensor(name), "holds the tensors of neuraloperator's " + model));
    EXPECT_TRUE(has(with_tensor(name), "peer:FOLDER"));
  }
  // Two modes of four on the last axis, where an FNO has three.
  const std::string sphere = refused_after([](data::Safetensors& content) {
    for (auto& [name, tensor] : content.tensors) {
      if (!name.ends_with("weight.tensor")) continue;
      tensor.bytes.resize(tensor.bytes.size() / 3 * 2);
      tensor.shape[3] = 2;
    }
  });
  EXPECT_TRUE(has(sphere, "holds the tensors of neuraloperator's SFNO"));
}

/// The first config with a shift in it: of the network, or of the one inside of a density.
std::string shift_of(const networks::NetworkConfig& config) {
  const auto json = nlohmann::ordered_json::parse(config.json);
  return (json.contains("network") ? json["network"] : json).value("inverse_shift", "");
}

TEST_F(WeightFiles, SayWhichShiftTheyHave) {
  for (const auto shift : {operators::InverseShift::fftshift, operators::InverseShift::ifftshift}) {
    operators::FnoConfig config = small_config();
    config.inverse_shift = shift;
    operators::save_network(*operators::make_network(config, torch::kFloat32), file_);
    EXPECT_EQ(operators::to_string(shift), shift_of(operators::load_network(file_, torch::kFloat32)->config()));
  }
}

// A training here has always had ifftshift, and has written its domain; whatever else says nothing is neuraloperator's.
TEST_F(WeightFiles, OfBeforeHaveTheShiftOfThoseWhoTrainedThem) {
  const auto shift_without_key = [&](const networks::NetworkConfig& config, bool domain) {
    const auto network = operators::make_network(config, torch::kFloat32);
    if (domain) network->set_native_domain(Domain::unit({8, 8}));
    operators::save_network(*network, file_);
    EXPECT_EQ("", refused_after([](data::Safetensors& content) {
                auto json = nlohmann::ordered_json::parse(content.metadata["config"]);
                (json.contains("network") ? json["network"] : json).erase("inverse_shift");
                content.metadata["config"] = json.dump();
              }));
    return shift_of(operators::load_network(changed_, torch::kFloat32)->config());
  };
  EXPECT_EQ("fftshift", shift_without_key(small_config(), false));
  EXPECT_EQ("ifftshift", shift_without_key(small_config(), true));
  const networks::NetworkConfig explainer =
      operators::fitted({.model = "density", .json = R"({"network": {"modes": 4, "width": 4, "layers": 1, "padding": 0,
                                                   "padding_mode": "symmetric"}})"},
                        {.dimension = 2});
  EXPECT_EQ("ifftshift", shift_of(explainer));
  EXPECT_EQ("ifftshift", shift_without_key(explainer, false));
  EXPECT_EQ("", shift_without_key({R"({"model": "mwt"})"}, false)) << "has none, and the key would be unknown to it";
}

void make(const std::string& config) { operators::make_network({config}, torch::kFloat32); }

TEST(Configs, OfAnFnoAreRefusedByWhatIsWrong) {
  const std::string deep(1000000, '[');
  expect_refusals<DataError>(
      Refusals<>{{"", ""},
                 {"[", ""},
                 {"3", ""},
                 {deep, ""},
                 {R"({"n_modes": []})", "n_modes"},
                 {R"({"n_modes": [16, 16, 16]})", "n_modes"},
                 {R"({"n_modes": [0]})", "n_modes"},
                 {R"({"n_layers": -1})", "n_layers"},
                 {R"({"n_layers": 99999999999999999999})", "n_layers"},
                 {R"({"domain_padding": -1})", "domain_padding"},
                 {R"({"domain_padding": [0.1, 0.2]})", "domain_padding"},
                 {R"({"n_modes": [4, 4], "domain_padding": [0.1, -1]})", "domain_padding"},
                 {R"({"n_modes": [4, 4], "domain_padding": [0.1, 0.2, 0.3]})", "domain_padding"},
                 {R"({"n_modes": [4, 4], "domain_padding": []})", "domain_padding"},
                 {R"({"domain_padding_mode": "both"})", "domain_padding_mode"},
                 {R"({"model": 3})", "model"},
                 {R"({"in_channels": 1.5})", "in_channels"},
                 {R"({"n_modes": [4, 4], "quadrature": "volumes", "inverse_shift": "fftshift"})", "inverse_shift"},
                 {R"({"n_modes": [4, 4], "inverse_shift": "none"})", "inverse_shift"},
                 {R"({"resolution_scaling_factor": 2})", "resolution_scaling_factor=2"},
                 {R"({"preactivation": true})", "preactivation=true"},
                 {R"({"separable": true})", "separable=true"},
                 {R"({"complex_data": true})", "complex_data=true"},
                 {R"({"norm": "ada_in"})", "norm=ada_in"},
                 {R"({"non_linearity": "elu"})", "non_linearity=elu"},
                 {R"({"fno_skip": "id"})", "fno_skip=id"},
                 {R"({"stabilizer": "sigmoid"})", "stabilizer=sigmoid"},
                 {R"({"fno_block_precision": "mixed"})", "fno_block_precision=\"mixed\""},
                 {R"({"factorization": "Tree"})", "factorization=Tree"},
                 {R"({"max_n_modes": [8]})", "max_n_modes=[8]"}},
      [](const std::string& text) { operators::FnoConfig::parse({text}); });
}

TEST(Configs, AreRefusedByWhatIsWrong) {
  const auto with = [](const std::string& model) {
    return [=](const std::string& more) { make(R"({"model": ")" + model + "\"" + more + "}"); };
  };
  expect_refusals<DataError>(Refusals<>{{R"(, "projection_channel_ratio": 0)", "projection_channel_ratio"}},
                             with("fno"));
  expect_refusals<DataError>(
      Refusals<>{{"", "default_in_shape"},
                 {R"(, "default_in_shape": [64])", "two whole numbers"},
                 {R"(, "default_in_shape": [64, 32])", "no square"},
                 {R"(, "default_in_shape": [48, 48])", "no power of two"},
                 {R"(, "default_in_shape": [1, 1])", "no power of two"},
                 {R"(, "default_in_shape": [32, 32], "n_modes": [16])", "two axes"},
                 {R"(, "default_in_shape": [32, 32], "disco_layers": [true])", "disco_layers"},
                 {R"(, "default_in_shape": [32, 32], "diff_layers": 1)", "diff_layers"},
                 {R"(, "default_in_shape": [32, 32], "disco_kernel_shape": [3, 3])", "disco_kernel_shape"}},
      with("local_no"));
  expect_refusals<DataError>(Refusals<>{{R"(, "in_channels": 2)", "fno_in_channels"},
                                        {R"(, "in_radius": 0)", "in_radius"},
                                        {R"(, "n_modes": [16])", "two axes"},
                                        {R"(, "latent_shape": [64, 1])", "latent_shape"},
                                        {R"(, "mesh_box": [0, 1, 1, 1])", "mesh_box"},
                                        {R"(, "domain_padding": 0.5)", "domain_padding"},
                                        {R"(, "in_transform": "cubic")", "in_transform"}},
                             with("gino"));
  expect_refusals<DataError>(Refusals<>{{R"(, "k": 0)", "k=0"},
                                        {R"(, "k": 17)", "k=17"},
                                        {R"(, "L": 1)", "L"},
                                        {R"(, "n_modes": [16])", "n_modes"},
                                        {R"(, "positional_embedding": 3)", "positional_embedding"}},
                             with("mwt"));
  expect_refusals<DataError>(Refusals<>{{R"(, "query": "corner")", "query=\"corner\""},
                                        {R"(, "query": [0, 0, 0])", "query="},
                                        {R"(, "atom": 1)", "atom=1 (needs true or false)"},
                                        {R"(, "coordinates": "polar")", "coordinates=polar"},
                                        {R"(, "network": 3)", "JSON object"},
                                        {R"(, "network": {"model": "fno", "quadrature": "midpoint"})",
                                         "quadrature=midpoint (not one of points, volumes)"},
                                        {R"(, "atoms": true)", "Did you mean atom"}},
                             with("density"));
  with("local_no")(R"(, "disco_layers": false, "diff_layers": false)");
  with("local_no")(R"(, "disco_layers": false, "default_in_shape": [48, 20])");
  with("gino")(R"(, "nodes": 100, "domain_padding": 0)");
}

// neuraloperator's models that are not here are named as such: they can be explained as peers.
TEST(Configs, OfModelsThatAreNotHereAreRefused) {
  expect_refusals<InvalidArgument>(
      Refusals<>{{"uno", "peer:FOLDER"}, {"SFNO", "peer:FOLDER"}, {"CODANO", "peer:FOLDER"}, {"fnoo", "fno"}},
      [](const std::string& model) { make(R"({"model": ")" + model + "\"}"); });
  EXPECT_THROW(operators::untrained_operator({R"({"model": "fnoo"})"}, 1), InvalidArgument);
  EXPECT_THROW(operators::untrained_operator({}, 1, networks::Precision::float32, "gpu"), InvalidArgument);
}

TEST(FnoConfig, HasNoShiftOfNeuraloperatorWithVolumes) {
  EXPECT_NO_THROW(operators::FnoConfig::parse({R"({"n_modes": [4, 4], "quadrature": "volumes"})"}));
}

TEST(FnoConfig, IsReadBackAsWritten) {
  const operators::FnoConfig config{.n_modes = {12, 8},
                                    .hidden_channels = 10,
                                    .n_layers = 2,
                                    .in_channels = 3,
                                    .out_channels = 2,
                                    .domain_padding = 0.25,
                                    .domain_padding_mode = "one-sided"};
  EXPECT_EQ(config, operators::FnoConfig::parse(config));
  operators::FnoConfig of_axes = config;
  of_axes.domain_padding = std::vector{0.1, 0.25};
  EXPECT_EQ(of_axes, operators::FnoConfig::parse(of_axes));
  EXPECT_EQ(operators::FnoConfig{}, operators::FnoConfig::parse({"{}"}));
  EXPECT_EQ(0, operators::FnoConfig::parse({R"({"domain_padding": null})"}).domain_padding);
  EXPECT_EQ(0, operators::FnoConfig::parse({"{}"}).domain_padding);
}

// Configs from outside, changed at a few places: each is a network or refused by name, before it takes the memory that
// it asks for.
TEST(HostileConfigs, AreTakenOrRefused) {
  const std::vector<std::string> seeds = {
      R"({"model":"fno","n_modes":[4],"hidden_channels":4,"n_layers":2,"in_channels":1,"out_channels":1,"domain_padding":0.5})",
      R"({"model":"fno","n_modes":[2,3],"hidden_channels":2,"n_layers":1,"in_channels":2,"out_channels":1})",
      R"({"model":"local_no","n_modes":[4,4],"hidden_channels":4,"n_layers":1,"in_channels":1,"out_channels":1,"default_in_shape":[8,8]})",
      R"({"model":"mwt","c":2,"k":2,"alpha":2,"n_cz":1,"in_channels":1,"out_channels":1})",
      R"({"model":"gino","n_modes":[2,2],"hidden_channels":4,"n_layers":1,"in_channels":1,"out_channels":1})"};
  survive("config", seeds, [&](const std::string& text) { operators::make_network({text}, torch::kFloat32); });
}

}  // namespace
}  // namespace opshap
