// Operators on meshes from the command line. The operator is a TorchScript model of a mesh that is written here.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "data/mesh_file.hpp"
#include "data/npy.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "support/program.hpp"
#include "support/refusal.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// As rounding(), of float32 numbers.
Tolerance single_rounding(double operations, double scale) { return rounding(operations * 0x1p29, scale); }

class MeshCommands : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    mesh_ = data::read_mesh(plate());
    for (std::int64_t point = 0; point < mesh_.size(); ++point)
      u_.push_back(std::sin(3 * mesh_.coordinate(point, 0)) + mesh_.coordinate(point, 1));
    data::write_npy(path("u.npy"), {{mesh_.size()}, data::Dtype::float64, u_});
    write_model();
  }

  static std::string plate() { return std::string(OPSHAP_SOURCE_DIR) + "/reference_data/meshes/plate_4_1.msh"; }

  /// G(u)(x) = u(x)·∫u over the plate, by the nodes' volumes.
  void write_model() const {
    torch::jit::Module module("model");
    const torch::Tensor volumes = torch::tensor(mesh_.volumes, torch::kFloat64).to(torch::kFloat32);
    module.register_buffer("volumes", volumes.view({1, 1, mesh_.size()}));
    module.define(
        "def forward(self, u: Tensor) -> Tensor:\n"
        "    return u * (u * self.volumes).sum(dim=2, keepdim=True)\n");
    const char* const said = R"({"mesh":true,"dimension":2,"in_channels":1,"out_channels":1})";
    module.save(path("model.pt"), {{"opshap.json", said}});
  }

  std::string attribute(const std::string& more) const {
    return "attribute --operator " + path("model.pt") + " --mesh " + plate() + " --input " + path("u.npy") + " " + more;
  }

  /// The exact values: with a(S) = ∫ over S of u, v(S) = u(q)·[q ∈ S]·a(S). A pair of players with the query's own has
  /// half of u(q)·a(i) each; the query's player has its own square too.
  std::vector<double> expected(const std::vector<int>& player_of, std::size_t players, std::size_t query) const {
    std::vector<double> own(players, 0.0);
    for (std::size_t point = 0; point < u_.size(); ++point)
      own[static_cast<std::size_t>(player_of[point])] += u_[point] * mesh_.volumes[point];
    const auto asked = static_cast<std::size_t>(player_of[query]);
    std::vector<double> values(players);
    for (std::size_t player = 0; player < players; ++player) {
      if (player == asked) continue;
      values[player] = u_[query] * own[player] / 2;
      values[asked] += values[player];
    }
    values[asked] += u_[query] * own[asked];
    return values;
  }

  Mesh mesh_;
  std::vector<double> u_;
};

TEST_F(MeshCommands, BlocksOfAMeshHaveTheirClosedFormValues) {
  const Outcome run = done(attribute("--query 40 --players 16 --method exact --json"));
  const Json found = Json::parse(run.out);
  EXPECT_EQ(16, found["blocks"]);
  const auto block_of_player = found["block_of_player"].get<std::vector<int>>();
  ASSERT_EQ(found["players"], block_of_player.size());
  // The blocks' numbers by their definition, on the box [0, 2] x [0, 1].
  std::vector<int> player_of;
  for (std::int64_t point = 0; point < mesh_.size(); ++point) {
    const int column = std::min(3, static_cast<int>(2 * mesh_.coordinate(point, 0))),
              row = std::min(3, static_cast<int>(4 * mesh_.coordinate(point, 1)));
    const auto player = std::ranges::find(block_of_player, 4 * row + column);
    ASSERT_NE(block_of_player.end(), player);
    player_of.push_back(static_cast<int>(player - block_of_player.begin()));
  }
  const auto values = found["values"].get<std::vector<double>>();
  EXPECT_EQ("", mismatch(expected(player_of, values.size(), 40), values, single_rounding(200, 4)));
}

TEST_F(MeshCommands, LabelsPositionsBatchesAndBaselinesWork) {
  std::vector<std::int64_t> labels;
  std::vector<int> player_of;
  for (std::int64_t point = 0; point < mesh_.size(); ++point)
    labels.push_back(mesh_.coordinate(point, 0) < 0.7 ? 1 : 0);
  player_of.assign(labels.begin(), labels.end());
  data::write_npy(path("labels.npy"), {{mesh_.size()}, data::Dtype::int64, labels});
  std::vector<double> two = u_;
  two.insert(two.end(), u_.begin(), u_.end());
  for (std::size_t i = u_.size(); i < two.size(); ++i) two[i] *= 2;
  data::write_npy(path("two.npy"), {{2, 1, mesh_.size()}, data::Dtype::float64, two});
  const std::size_t query = 17;
  const std::string at = std::to_string(mesh_.coordinate(query, 0)) + "," + std::to_string(mesh_.coordinate(query, 1));
  const Outcome run = done("attribute --operator " + path("model.pt") + " --mesh " + plate() + " --input " +
                           path("two.npy") + " --partition " + path("labels.npy") + " --query-at " + at +
                           " --method exact --json --out " + path("v.npy"));
  const Json found = Json::parse(run.out);
  EXPECT_FALSE(found.contains("blocks"));
  EXPECT_EQ(std::vector<std::int64_t>{static_cast<std::int64_t>(query)},
            found["queries"].get<std::vector<std::int64_t>>());
  const std::vector<double> once = expected(player_of, 2, query), four_times = {4 * once[0], 4 * once[1]};
  EXPECT_EQ("", mismatch(once, found["values"][0].get<std::vector<double>>(), single_rounding(200, 4)));
  EXPECT_EQ("", mismatch(four_times, found["values"][1].get<std::vector<double>>(), single_rounding(200, 16)));
  EXPECT_EQ((std::vector<std::int64_t>{2, 2}), data::read_npy(path("v.npy")).shape);

  const Outcome nothing = done(attribute("--query 3 --players 1 --method exact --json --baseline " + path("u.npy")));
  EXPECT_EQ(0.0, Json::parse(nothing.out)["values"][0]) << "the baseline is the input";
}

TEST_F(MeshCommands, AnAttributionIsDrawnWithItsNumbers) {
  const Outcome run =
      done(attribute("--query 40 --players 64 --method integrated_gradients --nodes 4 --figure ") + path("f.svg"));
  EXPECT_TRUE(contains(run.out, "blocks of the mesh hold points and play"));
  EXPECT_TRUE(contains(read_file(path("f.svg")), "<svg"));
  const std::string numbers = read_file(path("f.csv"));
  EXPECT_EQ(1 + mesh_.size(), std::ranges::count(numbers, '\n'));
}

TEST_F(MeshCommands, AnOperatorRunsOnAMesh) {
  const Outcome run = done("operator run " + path("model.pt") + " --mesh " + plate() + " --input " + path("u.npy") +
                           " --out " + path("y.npy"));
  const data::NpyArray output = data::read_npy(path("y.npy"));
  EXPECT_EQ((std::vector<std::int64_t>{1, 1, mesh_.size()}), output.shape);
  const double whole = std::inner_product(u_.begin(), u_.end(), mesh_.volumes.begin(), 0.0);
  std::vector<double> answer;
  for (const double value : u_) answer.push_back(value * whole);
  EXPECT_EQ("", mismatch(answer, output.reals("test"), single_rounding(200, 8)));
}

TEST_F(MeshCommands, WhatDoesNotFitIsRefused) {
  data::write_npy(path("long.npy"), {{80}, data::Dtype::float64, std::vector<double>(80, 1.0)});
  const std::string op = "attribute --operator " + path("model.pt") + " --method exact --players 4 ";
  expect_refusal(op + "--query 0 --mesh " + plate() + " --input " + path("long.npy"), 2, "values=80");
  expect_refusal(op + "--query 0 --input " + path("u.npy"), 2, "shape=[76]");
  expect_refusal(op + "--mesh " + plate() + " --input " + path("u.npy") + " --query 76", 2, "index=76");
  expect_refusal(op + "--query 0 --mesh " + path("u.npy") + " --input " + path("u.npy"), 2, "shape=[76]");
  expect_refusal(op + "--query 0 --mesh " + path("no.msh") + " --input " + path("u.npy"), 3, "no.msh");
  expect_refusal("attribute --game unanimity_sum --players 4 --method exact --mesh " + plate(), 2, "--mesh");

  data::write_npy(path("grid.npy"), {{8, 8}, data::Dtype::float64, std::vector<double>(64, 1.0)});
  expect_refusal(op + "--query 0,0 --input " + path("grid.npy"), 2, "the model works on meshes");
  torch::jit::Module identity("model");
  identity.define("def forward(self, u: Tensor) -> Tensor:\n    return u\n");
  identity.save(path("grid.pt"), {{"opshap.json", R"({"dimension":2,"in_channels":1})"}});
  expect_refusal("attribute --operator " + path("grid.pt") + " --mesh " + plate() + " --input " + path("u.npy") +
                     " --query 0 --players 4 --method exact",
                 2, "the model works on grids");

  const auto network = operators::make_network(
      operators::FnoConfig{.n_modes = {4, 4}, .hidden_channels = 6, .n_layers = 2}, torch::kFloat32);
  operators::initialise(*network, 1);
  operators::save_network(*network, path("fno.safetensors"));
  expect_refusal("attribute --operator " + path("fno.safetensors") + " --mesh " + plate() + " --input " +
                     path("u.npy") + " --query 0 --players 4 --method exact",
                 2, "fno 2D, width 6");
}

}  // namespace
}  // namespace opshap
