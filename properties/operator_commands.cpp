// `opshap operator` from the command line.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <nlohmann/json.hpp>

#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

using Json = nlohmann::json;

class OperatorCommands : public Program {};

TEST_F(OperatorCommands, InspectSaysWhatAFileHolds) {
  const auto network = operators::make_network(
      operators::FnoConfig{.n_modes = {4}, .hidden_channels = 6, .n_layers = 2}, torch::kFloat32);
  operators::initialise(*network, 1);
  network->set_native_domain(Domain::grid({Axis::cells(32)}));
  operators::save_network(*network, path("fno.safetensors"));
  const Outcome run = opshap("operator inspect " + path("fno.safetensors") + " --json");
  ASSERT_EQ(0, run.code) << run.err;
  const Json found = Json::parse(run.out);
  EXPECT_EQ("fno 1D, width 6, 4 modes, 2 layers", found["operator"]);
  EXPECT_EQ(6, found["config"]["hidden_channels"]);
  EXPECT_EQ(network->parameters().size(), found["parameters"]);
  EXPECT_NE(std::string::npos, found["domain"].get<std::string>().find("32 points")) << found["domain"];
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
  const Outcome run = opshap("operator inspect " + path("model.pt"));
  ASSERT_EQ(0, run.code) << run.err;
  EXPECT_NE(std::string::npos, run.out.find("grid [64]: taken, changes by 0 on twice as many points")) << run.out;
  EXPECT_NE(std::string::npos, run.out.find("grid [256]: not taken (")) << run.out;
  EXPECT_NE(std::string::npos, run.out.find("too many points")) << run.out;
}

}  // namespace
}  // namespace opshap
