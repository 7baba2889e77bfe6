// `opshap operator` from the command line.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "support/networks.hpp"
#include "support/refusal.hpp"
#include "support/staying_program.hpp"
#include "support/weight_files.hpp"

namespace opshap {
namespace {

class OperatorCommands : public StayingProgram {};

TEST_F(OperatorCommands, GoldenValuesAreOfTheDeviceThatIsAskedFor) {
  const std::string config = file("config.json", R"({"model": "fno", "n_modes": [4], "hidden_channels": 6})");
  const std::string golden = "operator golden " + config + " --input-shape 1,1,16 --device ";
  EXPECT_EQ(0, opshap(golden + "cpu").code);
  expect_refusal(golden + "gpu", 2, "--device=gpu");
  expect_refusal(golden + "cuda:99", 4, "--device=cuda:99");
}

TEST_F(OperatorCommands, InspectSaysWhatAFileHolds) {
  const auto network = operators::make_network(
      operators::FnoConfig{.n_modes = {4}, .hidden_channels = 6, .n_layers = 2}, torch::kFloat32);
  operators::initialise(*network, 1);
  network->set_native_domain(Domain::grid({Axis::cells(32)}));
  operators::save_network(*network, path("fno.safetensors"));
  const Json found = answer("operator inspect " + path("fno.safetensors"));
  EXPECT_EQ("fno 1D, width 6, 4 modes, 2 layers", found["operator"]);
  EXPECT_EQ(6, found["config"]["hidden_channels"]);
  EXPECT_EQ(network->parameters().size(), found["parameters"]);
  EXPECT_TRUE(has(found["domain"].get<std::string>(), "32 points")) << found["domain"];
  EXPECT_EQ(0u, found["coalitions"].get<std::string>().find("engine")) << found["coalitions"];
  EXPECT_FALSE(found.contains("grids"));
}

TEST_F(OperatorCommands, InspectTriesAScriptOnGrids) {
  torch::jit::Module module("model");
  module.register_parameter("weight", torch::full({1, 1, 1}, 0.5f), false);
  module.define(
      "def forward(self, x: Tensor) -> Tensor:\n    assert x.size(2) < 200, \"too many points\"\n"
      "    return torch.conv1d(x, self.weight)\n");
  module.save(path("model.pt"));
  const Outcome run = done("operator inspect " + path("model.pt"));
  for (const char* words : {"grid [64]: taken, changes by 0 on twice as many points", "grid [256]: not taken (",
                            "too many points", "parameters: 1\nreal_numbers: 1\n"})
    EXPECT_TRUE(has(run.out, words));
}

// TorchScript's convolution in the plane takes [C, H, W] without a batch: a line of 16 channels looks right to it.
TEST_F(OperatorCommands, TheInputSaysWhatAScriptTakesAndItsCodeIsRemarkedOnOnce) {
  torch::jit::Module module("model");
  module.register_parameter("kernel", torch::arange(9, torch::kFloat32).view({1, 1, 3, 3}) / 9, false);
  module.define(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    return torch.gelu(torch.conv2d(x, self.kernel, None, [1, 1], [1, 1]))\n");
  module.save(path("cnn.pt"));
  std::vector<double> values(256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  data::write_npy(path("u.npy"), {{16, 16}, data::Dtype::float64, values});
  const std::string question = "attribute --operator " + path("cnn.pt") + " --input " + path("u.npy") +
                               " --query 8,8 --players 4 --method exact --json";
  const Outcome run = fresh(question), trusted = fresh(question + " --trust");
  ASSERT_EQ(0, run.code) << run.err;
  ASSERT_EQ(0, trusted.code) << trusted.err;
  EXPECT_EQ(4u, Json::parse(run.out)["values"].size());
  const std::size_t note = run.err.find("is a TorchScript archive: code, which runs here with your rights");
  ASSERT_NE(std::string::npos, note) << run.err;
  EXPECT_EQ(std::string::npos, run.err.find("is a TorchScript archive", note + 1)) << "once";
  EXPECT_EQ("", trusted.err);
  const Outcome inspected = fresh("operator inspect " + path("cnn.pt") + " --input " + path("u.npy") + " --json");
  ASSERT_EQ(0, inspected.code) << inspected.err;
  EXPECT_EQ(2, Json::parse(inspected.out)["dimension"]);
  EXPECT_EQ((std::vector<int>{16, 16}), Json::parse(inspected.out)["grids"][1]["shape"]);
  EXPECT_TRUE(has(inspected.err, "TorchScript archive: code"));
}

// The model of an archive can read files. In a sandbox it runs in a process that sees none of ours.
TEST_F(OperatorCommands, AnArchiveInASandboxGivesTheSameAndSeesNothing) {
  torch::jit::Module module("model");
  module.define("def forward(self, x: Tensor) -> Tensor:\n    return torch.gelu(x + torch.roll(x, [1], [2]))\n");
  module.save(path("gelu.pt"));
  data::write_npy(path("u.npy"), {{6}, data::Dtype::float64, std::vector<double>{1, -2, 0.5, 3, -1, 2}});
  const auto question = [&](const std::string& archive, const std::string& more) {
    return "attribute --operator " + path(archive) + " --input " + path("u.npy") + " --json --trust " + more;
  };
  Server sandboxed;  // a process keeps to a sandbox for all its commands
  for (const std::string asked : {"--query 2 --method integrated_gradients", "--target mean:1..4 --method exact"}) {
    const Outcome inside = sandboxed.run(question("gelu.pt", asked + " --sandbox"));
    if (inside.code == 4) GTEST_SKIP() << "bubblewrap cannot be used here";
    const Outcome outside = opshap(question("gelu.pt", asked));
    ASSERT_EQ(0, inside.code) << inside.err;
    ASSERT_EQ(0, outside.code) << outside.err;
    EXPECT_EQ(Json::parse(outside.out)["values"], Json::parse(inside.out)["values"]) << asked;
    EXPECT_EQ("peer:archive", Json::parse(inside.out)["path"]);
  }
  file("secret", "abcd");
  torch::jit::Module spy("spy");
  spy.define("def forward(self, x: Tensor) -> Tensor:\n    return x + torch.from_file(\"" + path("secret") +
             "\", False, 1, dtype=6)\n");
  spy.save(path("spy.pt"));
  const Outcome seen = opshap(question("spy.pt", "--query 2 --method exact")),
                hidden = sandboxed.run(question("spy.pt", "--query 2 --method exact --sandbox"));
  EXPECT_EQ(0, seen.code) << seen.err;
  EXPECT_NE(0, hidden.code) << hidden.out;
  EXPECT_NE(7, hidden.code) << hidden.err;
}

TEST_F(OperatorCommands, InspectSaysTheShiftAndTheNormalisers) {
  const auto network = operators::make_network(
      operators::FnoConfig{.n_modes = {4, 4}, .hidden_channels = 6, .n_layers = 1}, torch::kFloat32);
  network->set_normalisation({.input = {{.shape = {1, 1, 1, 1}, .mean = {3}, .std = {2}, .eps = 0}}, .output = {}});
  operators::save_network(*network, path("fno.safetensors"));
  const Json found = answer("operator inspect " + path("fno.safetensors"));
  EXPECT_EQ("fftshift", found["inverse_shift"]);
  EXPECT_EQ("input for all", found["normalisers"]);
}

/// A file of weights as it comes from a state_dict, without a CONFIG.
class ImportedOperators : public OperatorCommands {
 protected:
  static constexpr const char* config =
      R"({"n_modes": [4], "hidden_channels": 6, "n_layers": 1, "norm": "batch_norm"})";
  static constexpr const char* spectral = "fno_blocks.convs.0.weight.tensor";

  void SetUp() override {
    OperatorCommands::SetUp();
    const auto network = operators::make_network({config}, torch::kFloat32);
    operators::initialise(*network, 1);
    operators::save_network(*network, path("original.safetensors"));
    write_bare("original.safetensors", [](data::Safetensors&) {});
  }

  /// bare.safetensors: the tensors of a file after a change.
  void write_bare(const std::filesystem::path& from, const std::function<void(data::Safetensors&)>& change) const {
    data::Safetensors content = data::read_safetensors(folder_ / from);
    content.metadata = {{"format", "pt"}};
    change(content);
    data::write_safetensors(path("bare.safetensors"), content);
  }

  std::string import(const std::string& settings, const std::string& from = "bare.safetensors") const {
    return "operator import " + path(from) + " --config '" + settings + "' --out " + path("made.safetensors");
  }
};

TEST_F(ImportedOperators, AreThoseOfTheirTensorsAndTheirConfig) {
  write_bare("original.safetensors", [](data::Safetensors& content) {
    data::StoredTensor counter{.shape = {}, .dtype = "I64", .bytes = std::vector<std::byte>(8)};
    content.tensors.emplace("fno_blocks.norm.0.norm.num_batches_tracked", counter);
    data::StoredTensor& weight = content.tensors.at(spectral);
    weight.dtype = "C64";
    weight.shape.pop_back();
  });
  for (const std::string& settings : {std::string(config), file("config.json", config)}) {
    EXPECT_EQ("fno 1D, width 6, 4 modes, 1 layers", answer(import(settings))["operator"]);
    EXPECT_EQ(read_file(path("original.safetensors")), read_file(path("made.safetensors")));
    std::filesystem::remove(path("made.safetensors"));
  }
}

TEST_F(ImportedOperators, MayHaveFactorsAndNamesOfOlderVersions) {
  const std::filesystem::path references = std::filesystem::path(OPSHAP_SOURCE_DIR) / "reference_data";
  const auto imported = [&](const std::string& from, const std::function<void(data::Safetensors&)>& change) {
    write_bare(references / from, change);
    const Outcome run = done(import(data::read_safetensors(references / from).metadata.at("config")));
    return operators::load_network(path("made.safetensors"), torch::kFloat32);
  };
  const auto tucker = imported("fno_options/tucker_factors.safetensors", [](data::Safetensors&) {});
  const auto dense = operators::load_network(references / "fno_options/tucker.safetensors", torch::kFloat32);
  ASSERT_EQ(dense->parameters().size(), tucker->parameters().size());
  for (std::size_t i = 0; i < dense->parameters().size(); ++i) {
    // Sums of at most 6·6·4·3 products in float32.
    constexpr double sums = 432 * 0x1p-24;
    EXPECT_TRUE(torch::allclose(dense->parameters()[i].value, tucker->parameters()[i].value, sums, sums))
        << dense->parameters()[i].name;
  }

  const std::string file = "neuraloperator/local_no_differences.safetensors";
  const auto old =
      imported(file, [](data::Safetensors& content) { rename_tensors(content, "local_no_blocks.", "fno_blocks."); });
  expect_same_parameters(*operators::load_network(references / file, torch::kFloat32), *old);
}

TEST_F(ImportedOperators, AreRefusedWithAllThatDoesNotFit) {
  expect_refusal("operator import " + path("bare.safetensors"), 2, "--out");
  expect_refusal("operator import " + path("bare.safetensors") + " --out " + path("made.safetensors"), 2, "--config");
  expect_refusal(import(config, "original.safetensors"), 2, "Leave it out");
  expect_refusal(import(R"({"model": "fnoo"})"), 2, "fnoo");
  expect_refusal(import(path("no.json")), 3, "no.json");
  expect_refusal(import(R"({"n_mode": [4]})"), 3, "Did you mean n_modes?");
  expect_refusal("operator inspect " + path("bare.safetensors"), 3, "operator import");

  const std::string without_norm = R"({"n_modes": [4], "hidden_channels": 6, "n_layers": 2})";
  for (const char* name : {"missing: fno_blocks.channel_mlp.1.fcs.0.bias", "fno_blocks.fno_skips.1.conv.weight; ",
                           "unexpected: fno_blocks.norm.0.norm.bias", "fno_blocks.norm.1.norm.weight)"})
    expect_refusal(import(without_norm), 3, name);
  const std::string other_sizes = R"({"n_modes": [8], "hidden_channels": 6, "in_channels": 2, "n_layers": 1, )"
                                  R"("norm": "batch_norm"})";
  for (const char* name : {"fno_blocks.convs.0.weight.tensor=F32 [6,6,3,2] where C64 [6,6,5] or F32 [6,6,5,2]",
                           "lifting.fcs.0.weight=F32 [12,2,1] where F32 [12,3,1]"})
    expect_refusal(import(other_sizes), 3, name);
}

// A network of this config has 275 gigabytes of weights.
TEST_F(ImportedOperators, AreRefusedBeforeMemoryIsTaken) {
  expect_refusal(import(R"({"n_modes": [4096], "hidden_channels": 4096, "n_layers": 1})"), 3,
                 "fno_blocks.convs.0.weight.tensor=F32 [6,6,3,2] where C64 [4096,4096,2049]");
}

TEST_F(ImportedOperators, ThatGiveNoFiniteNumbersAreRefusedWhenTheyRun) {
  data::Safetensors content = data::read_safetensors(path("original.safetensors"));
  for (const char* name : {"lifting.fcs.0.weight", "lifting.fcs.1.weight"}) {
    std::vector<std::byte>& bytes = content.tensors.at(name).bytes;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      const float large = 1e30F;
      std::memcpy(bytes.data() + at, &large, sizeof large);
    }
  }
  data::write_safetensors(path("large.safetensors"), content);
  data::write_npy(path("u.npy"), {.shape = {8}, .dtype = data::Dtype::float32, .values = std::vector<double>(8, 1.0)});
  expect_refusal("operator run " + path("large.safetensors") + " --input " + path("u.npy") + " --out " + path("y.npy"),
                 3, "operator run: output=");
}

TEST_F(ImportedOperators, AreRefusedForTensorsThatAreNoWeights) {
  const auto refused = [this](const std::string& why, const std::function<void(data::Safetensors&)>& change) {
    write_bare("original.safetensors", change);
    expect_refusal(import(config), 3, why);
  };
  refused(std::string(spectral) + "=F32 [6,6,3] where", [](data::Safetensors& content) {  // the real parts alone
    data::StoredTensor& tensor = content.tensors.at(spectral);
    tensor.shape.pop_back();
    tensor.bytes.resize(tensor.bytes.size() / 2);
  });
  refused("lifting.fcs.1.weight=C64 [6,6,1] where F32 [6,12,1]", [](data::Safetensors& content) {
    data::StoredTensor& tensor = content.tensors.at("lifting.fcs.1.weight");
    tensor = {.shape = {6, 6, 1}, .dtype = "C64", .bytes = tensor.bytes};
  });
  refused("whole numbers", [](data::Safetensors& content) {
    data::StoredTensor& tensor = content.tensors.at("lifting.fcs.0.bias");
    tensor = {.shape = {6}, .dtype = "I64", .bytes = tensor.bytes};
  });
  refused("projection.fcs.0.bias", [](data::Safetensors& content) {
    const float bad = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(content.tensors.at("projection.fcs.0.bias").bytes.data(), &bad, sizeof bad);
  });
}

// As the state_dict of a data processor has them.
TEST_F(ImportedOperators, KeepTheirNormalisers) {
  write_bare("original.safetensors", [](data::Safetensors& content) {
    for (const char* name : {"out_normalizer.mean", "out_normalizer.std"}) {
      const float number = 2.5F;
      data::StoredTensor& tensor = content.tensors[name];
      tensor = {.shape = {1, 1, 1}, .dtype = "F32", .bytes = std::vector<std::byte>(sizeof number)};
      std::memcpy(tensor.bytes.data(), &number, sizeof number);
    }
  });
  expect_refusal(import(config), 3, "has no normalization.output");
  Json said = Json::parse(config);
  said["normalization"]["output"]["eps"] = 1e-7;
  done(import(said.dump()));
  const data::Safetensors made = data::read_safetensors(path("made.safetensors"));
  EXPECT_EQ(1e-7, Json::parse(made.metadata.at("config"))["normalization"]["output"]["eps"]);
  EXPECT_EQ(made.tensors.at("out_normalizer.mean").bytes,
            data::read_safetensors(path("bare.safetensors")).tensors.at("out_normalizer.mean").bytes);
  write_bare("original.safetensors", [](data::Safetensors&) {});
  expect_refusal(import(said.dump()), 3, "out_normalizer.mean (is missing");
}

TEST_F(ImportedOperators, ArePicklesNeverAndTorchScriptNotNeeded) {
  file("old.pth", std::string("\x80\x02\x8a\x0al", 5) + "a pickle of torch before 1.6");
  expect_refusal(import(config, "old.pth"), 3, "tools/export_model.py");
  const auto saved = torch::jit::pickle_save(torch::ones({3}));
  file("saved.pt", std::string(saved.begin(), saved.end()));
  expect_refusal(import(config, "saved.pt"), 3, "tools/export_model.py");
  torch::jit::Module module("model");
  module.define("def forward(self, x: Tensor) -> Tensor:\n    return x\n");
  module.save(path("script.pt"), {{"opshap.json", R"({"dimension": 1, "in_channels": 1})"}});
  expect_refusal(import(config, "script.pt"), 3, "--operator");
}

}  // namespace
}  // namespace opshap
