// CONFIGs of networks: read back as written, and refused by what is wrong with them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/torch.hpp"
#include "operators/weights.hpp"
#include "support/mutations.hpp"
#include "support/refusal.hpp"

namespace opshap {
namespace {

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
