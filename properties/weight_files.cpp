// Weights of operators in files: to the bit and back, and nothing that does not fit.

#include "support/weight_files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
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
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

operators::FnoConfig small_config() { return {.n_modes = {6, 4}, .hidden_channels = 4, .n_layers = 2}; }

constexpr const char* spectral = "fno_blocks.convs.1.weight.tensor";

class WeightFiles : public WeightsFolder {
 protected:
  void SetUp() override {
    WeightsFolder::SetUp();
    const auto network = operators::make_network(small_config(), torch::kFloat32);
    operators::initialise(*network, 3);
    operators::save_network(*network, file_);
  }
};

TEST_F(WeightFiles, AreReadBackToTheBit) {
  const auto loaded = operators::load_network(file_, torch::kFloat32);
  EXPECT_EQ(networks::NetworkConfig(small_config()), loaded->config());
  const auto original = operators::make_network(small_config(), torch::kFloat32);
  operators::initialise(*original, 3);
  ASSERT_EQ(original->parameters().size(), loaded->parameters().size());
  for (std::size_t i = 0; i < original->parameters().size(); ++i) {
    EXPECT_EQ(original->parameters()[i].name, loaded->parameters()[i].name);
    EXPECT_TRUE(torch::equal(original->parameters()[i].value, loaded->parameters()[i].value))
        << loaded->parameters()[i].name;
  }
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
  const std::string message = refused_after([](data::Safetensors& content) {
    data::StoredTensor& tensor = content.tensors.at(spectral);
    tensor.dtype = "C64";
    tensor.shape.pop_back();
  });
  EXPECT_EQ("", message);
  operators::save_network(*operators::load_network(changed_, torch::kFloat32), changed_);
  EXPECT_EQ(read_file(file_), read_file(changed_));
}

TEST_F(WeightFiles, WithMissingOrUnexpectedTensorsAreRefusedByName) {
  const std::string message = refused_after([](data::Safetensors& content) {
    auto node = content.tensors.extract("lifting.fcs.0.bias");
    node.key() = "lifting.fcs.9.bias";
    content.tensors.insert(std::move(node));
  });
  EXPECT_TRUE(contains(message, "missing: lifting.fcs.0.bias"));
  EXPECT_TRUE(contains(message, "unexpected: lifting.fcs.9.bias"));
}

TEST_F(WeightFiles, WithOtherShapesAreRefused) {
  const std::string message = refused_after([](data::Safetensors& content) {
    std::vector<std::int64_t>& shape = content.tensors.at(spectral).shape;
    std::swap(shape[2], shape[3]);
  });
  EXPECT_TRUE(contains(message, spectral));
}

TEST_F(WeightFiles, WithNumbersThatAreNotFiniteAreRefused) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::string message = refused_after([bad](data::Safetensors& content) {
      std::memcpy(content.tensors.at("projection.fcs.0.bias").bytes.data() + 4, &bad, sizeof bad);
    });
    EXPECT_TRUE(contains(message, "projection.fcs.0.bias"));
  }
}

TEST_F(WeightFiles, WithoutAProperConfigAreRefused) {
  const auto with_config = [this](const std::string& text) {
    return refused_after([&](data::Safetensors& content) { content.metadata["config"] = text; });
  };
  EXPECT_NE("", refused_after([](data::Safetensors& content) { content.metadata.erase("config"); }));
  EXPECT_NE("", with_config("[]"));
  EXPECT_NE("", with_config(R"({"hidden_channels": 1e3})"));
  const std::string message = with_config(R"({"hiden_channels": 4})");
  EXPECT_TRUE(contains(message, "Did you mean hidden_channels?"));
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
    EXPECT_TRUE(contains(with_tensor(name), "holds the tensors of neuraloperator's " + model));
    EXPECT_TRUE(contains(with_tensor(name), "peer:FOLDER"));
  }
  // Two modes of four on the last axis, where an FNO has three.
  const std::string sphere = refused_after([](data::Safetensors& content) {
    for (auto& [name, tensor] : content.tensors) {
      if (!name.ends_with("weight.tensor")) continue;
      tensor.bytes.resize(tensor.bytes.size() / 3 * 2);
      tensor.shape[3] = 2;
    }
  });
  EXPECT_TRUE(contains(sphere, "holds the tensors of neuraloperator's SFNO"));
}

/// The first config with a shift in it: of the network, or of the one inside of a density.
std::string shift_of(const networks::NetworkConfig& config) {
  const auto json = nlohmann::ordered_json::parse(config.json);
  return (json.contains("network") ? json["network"] : json).value("inverse_shift", "");
}

TEST_F(WeightFiles, SayWhichShiftTheyHave) {
  const auto config_of = [](const fs::path& file) { return operators::load_network(file, torch::kFloat32)->config(); };
  for (const auto shift : {operators::InverseShift::fftshift, operators::InverseShift::ifftshift}) {
    operators::FnoConfig config = small_config();
    config.inverse_shift = shift;
    operators::save_network(*operators::make_network(config, torch::kFloat32), file_);
    EXPECT_EQ(operators::to_string(shift), shift_of(config_of(file_)));
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

}  // namespace
}  // namespace opshap
