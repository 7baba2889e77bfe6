// A user's model, from its file to its attributions. One of each architecture: the program gives what Python gave
// (reference_data/end_to_end.md says how the fixtures were made). One on a mesh, a TorchScript model that is written
// here.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/mesh_file.hpp"
#include "data/npy.hpp"
#include "operators/fno.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "support/staying_program.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

const std::string fixtures = std::string(OPSHAP_SOURCE_DIR) + "/reference_data/end_to_end/";

Json cases() {
  const Json table = Json::parse(read_file(fixtures + "cases.json"));
  require<DataError>(table["version"] == 1, "end_to_end: version=", table["version"].dump(),
                     " (expected 1). Update the test.");
  return table["cases"];
}

class EndToEnd : public StayingProgram {
 protected:
  /// The model's file. One without a file has the weights of golden values.
  std::string model(const Json& fixture) const {
    const std::string name = fixture["name"];
    if (!fixture.contains("config")) return fixtures + name + ".safetensors";
    const auto network = operators::make_network({fixture["config"].dump()}, torch::kFloat32);
    operators::set_golden_parameters(*network);
    operators::save_network(*network, path(name + ".safetensors"));
    return path(name + ".safetensors");
  }

  Json attributed(const Json& fixture, const std::string& method) const {
    const std::string name = fixture["name"], start = fixtures + name;
    std::string query;
    for (const int index : fixture["query"]) query += (query.empty() ? "" : ",") + std::to_string(index);
    const std::string mesh = fixture.contains("config") ? " --mesh " + start + "_mesh.npy" : "";
    return answer("attribute --operator " + model(fixture) + mesh + " --input " + start + "_input.npy --partition " +
                  start + "_players.npy --query " + query + " --method " + method);
  }
};

/// Both sides evaluate the network in float32: a dozen layers, each with the rounding of a sum over channels and
/// points. A marginal contribution has two values. The weights of a player's marginal contributions sum to 1, and so do
/// those of a path's gradients, each of which goes through all layers twice.
Tolerance float32_values(const Json& fixture) {
  constexpr double roundings = 40, single = 0x1p29;  // 2^-23 in units of 2^-52
  return rounding(roundings * single, fixture["largest_value"]);
}

void expect_same(const Json& fixture, const char* key, const Json& found) {
  ASSERT_TRUE(found.contains("values")) << fixture["name"];
  const Tolerance tolerance = float32_values(fixture);
  EXPECT_EQ("",
            mismatch(fixture[key].get<std::vector<double>>(), found["values"].get<std::vector<double>>(), tolerance))
      << fixture["name"];
  EXPECT_EQ("", mismatch(fixture["empty"].get<double>(), found["empty"].get<double>(), tolerance)) << fixture["name"];
  EXPECT_EQ("", mismatch(fixture["grand"].get<double>(), found["grand"].get<double>(), tolerance)) << fixture["name"];
  // The fixture tells the two methods apart, and a player from the next.
  EXPECT_GT(largest(fixture[key].get<std::vector<double>>()), 100 * tolerance.bound) << fixture["name"];
}

TEST_F(EndToEnd, ShapleyValuesAreThoseOfAllCoalitionsInPython) {
  ASSERT_EQ(5U, cases().size());
  for (const Json& fixture : cases()) {
    expect_same(fixture, "shapley_values", attributed(fixture, "exact"));
    expect_same(fixture, "shapley_values", attributed(fixture, "exact --no-engine"));
  }
}

// Models of neuraloperator's own tutorial, with its normalisers: fields, baselines and values in physical units.
TEST_F(EndToEnd, ModelsWithNormalisersAreExplainedInPhysicalUnits) {
  const std::filesystem::path models = std::filesystem::path(OPSHAP_SOURCE_DIR) / "reference_data/normalised_models";
  const auto numbers = [&](const std::string& name) { return data::read_npy(models / name).reals(name); };
  int tried = 0;
  for (const Json& fixture : Json::parse(read_file(models / "cases.json"))) {
    const std::string name = fixture.at("name"), stem = (models / name).string();
    std::string query;
    for (const Json& index : fixture.at("query")) query += (query.empty() ? "" : ",") + index.dump();
    const std::string ask = "attribute --operator " + stem + ".safetensors --input " + stem + ".u.npy --baseline " +
                            stem + ".b.npy --query " + query + " --players " + fixture.at("players").dump() +
                            " --method exact";
    const std::vector<double> exact = numbers(name + ".exact.npy");
    // Python computes in float64, we in float32: 5e-5 of the largest value is what users may rely on.
    const Tolerance tolerance{.bound = 5e-5 * largest(exact), .reason = "float32"};
    for (const char* path : {"", " --no-engine"})
      EXPECT_EQ("", mismatch(exact, answer(ask + path).at("values").get<std::vector<double>>(), tolerance))
          << name << path;
    ++tried;
  }
  EXPECT_EQ(3, tried);
}

// Each question has its own steps. Of eighty every second one is measured, and the next one is answered by its method.
TEST_F(EndToEnd, WithoutAMethodEachQuestionIsAnsweredByItsOwnStepsOrThoseOfTheOneBefore) {
  const std::string stem = OPSHAP_SOURCE_DIR "/reference_data/normalised_models/line_channels";
  const auto ask = [&](const std::string& input, const std::string& query) {
    return done("attribute --operator " + stem + ".safetensors --input " + input + " --baseline " + stem +
                ".b.npy --tolerance 0.2 --json --query " + query);
  };
  const Json one = Json::parse(ask(stem + ".u.npy", "3").out), all = Json::parse(ask(stem + ".u.npy", "all").out);
  EXPECT_EQ(one["steps"].back()["method"], one["method"]);
  EXPECT_EQ(one["steps"].back()["error_bar"], one["error_bar"]);
  EXPECT_EQ(one["method"], all["methods"][0][3]);
  EXPECT_EQ(one["error_bar"], all["error_bar"][0][3]);
  EXPECT_EQ(one["values"], all["values"][0][3]);

  const data::NpyArray field = data::read_npy(stem + ".u.npy");
  std::vector<double> four;
  for (int copy = 0; copy < 4; ++copy)
    for (const double value : field.reals("u")) four.push_back(value);
  data::write_npy(path("four.npy"), {{4, 2, 20}, data::Dtype::float64, four});
  const Outcome outcome = ask(path("four.npy"), "all");
  const Json many = Json::parse(outcome.out);
  int answers = 0, measured = 0;
  for (const Json& step : many["steps"]) {
    answers += step["answers"].get<int>();
    EXPECT_TRUE(has(outcome.err, "attribute: " + step["method"].get<std::string>() + ": relative error"));
  }
  EXPECT_EQ(80, answers);
  for (std::size_t query = 0; query < 20; ++query) {
    const Json& method = many["methods"][3][query];
    measured += !many["error_bar"][3][query].is_null();
    EXPECT_EQ(all["methods"][0][query - query % 2], method) << query;
    if (query % 2 == 0 || method == all["methods"][0][query]) {
      EXPECT_EQ(all["values"][0][query], many["values"][3][query]) << query;
    }
    if (query % 2 == 0) {
      EXPECT_EQ(all["error_bar"][0][query], many["error_bar"][3][query]) << query;
    }
  }
  EXPECT_LT(measured, 20);
  const auto total = [](const Json& counts) {
    const auto numbers = counts.get<std::vector<int>>();
    return std::accumulate(numbers.begin(), numbers.end(), 0);
  };
  EXPECT_LT(total(many["gradients"][3]), total(all["gradients"][0]));
}

// Values of a target are the same sum of those of its queries.
TEST_F(EndToEnd, TargetsAreWeightedSumsOfQueries) {
  const std::string stem = OPSHAP_SOURCE_DIR "/reference_data/normalised_models/line_channels";
  const std::string ask = "attribute --operator " + stem + ".safetensors --input " + stem + ".u.npy --baseline " +
                          stem + ".b.npy --players 5 --method exact";
  const auto of_queries = answer(ask + " --query all").at("values").at(0).get<std::vector<std::vector<double>>>();
  const std::size_t points = of_queries.size();
  std::vector<double> weights(points, 0.0), second(points, 1.0);
  weights[1] = 2;
  weights[points - 1] = -0.5;
  const auto sum = [&](const std::vector<double>& of) {
    std::vector<double> found(5);
    for (std::size_t point = 0; point < points; ++point)
      for (std::size_t player = 0; player < 5; ++player) found[player] += of[point] * of_queries[point][player];
    return found;
  };
  std::vector<double> mean(points, 0.0);
  for (std::size_t point = 5; point < 9; ++point) mean[point] = 0.25;
  const auto count = static_cast<std::int64_t>(points);
  data::write_npy(path("w.npy"), {{count}, data::Dtype::float64, weights});
  data::write_npy(path("wide.npy"), {{1, count + 1}, data::Dtype::float64, std::vector<double>(points + 1, 1.0)});
  std::vector<double> both = weights;
  both.insert(both.end(), second.begin(), second.end());
  data::write_npy(path("both.npy"), {{2, 1, count}, data::Dtype::float64, both});
  // Float32 of the whole network: 5e-5 of the largest value, as above, for each of the numbers that are added up.
  const auto same = [&](const std::vector<double>& expected, const Json& found, double number) {
    EXPECT_EQ("", mismatch(expected, found.get<std::vector<double>>(),
                           Tolerance{.bound = 5e-5 * number * largest(of_queries[3]), .reason = "float32"}));
  };
  for (const char* engine : {"", " --no-engine"}) {
    same(sum(mean), answer(ask + " --target mean:5..9" + engine).at("values"), 1);
    same(sum(weights), answer(ask + " --target " + path("w.npy") + engine).at("values"), 3);
  }
  const Json two = answer(ask + " --target " + path("both.npy"));
  EXPECT_EQ((std::vector<std::string>{path("both.npy") + "[0]", path("both.npy") + "[1]"}), two.at("targets"));
  same(sum(weights), two.at("values").at(0).at(0), 3);
  same(sum(second), two.at("values").at(0).at(1), static_cast<double>(points));
  const Json named = answer(ask + " --target mean:5..9 " + path("w.npy"));
  same(sum(mean), named.at("values").at(0).at(0), 1);
  EXPECT_EQ("mean:5..9", named.at("targets").at(0));
  EXPECT_EQ("the value at point 13 (0.65), channel 0", answer(ask + " --query 13").at("explained"));
  data::write_npy(path("mask.npy"), {{count}, data::Dtype::int64, std::vector<std::int64_t>(points, 1)});
  same(sum(second), answer(ask + " --target " + path("mask.npy")).at("values"), static_cast<double>(points));
  const std::string twice = " --out " + path("same.csv") + " --figure " + path("same.svg");
  expect_refusal(ask + " --query 3" + twice, 2, "the figure's numbers have that name");
  expect_refusal(ask + " --qurey 3", 2, "Did you mean --query?");
  expect_refusal(ask + " --target mean:5..9 --query 3", 2, "--target, --query");
  expect_refusal(ask + " --target mean:5..99", 2, "0.." + std::to_string(points - 1));
  expect_refusal(ask + " --target " + path("wide.npy"), 2, "a weight for each");
  expect_refusal(ask + " --target " + path("none.npy"), 3, "none.npy");
  expect_refusal("reference" + ask.substr(9, ask.find(" --method") - 9) + " --target mean:5..9 mean:1..2", 2,
                 "2 targets");
}

TEST_F(EndToEnd, IntegratedGradientsAreThoseOfPython) {
  for (const Json& fixture : cases()) {
    const std::string nodes = std::to_string(fixture["nodes"].get<int>());
    expect_same(fixture, "integrated_gradients",
                attributed(fixture, "integrated_gradients --rule midpoint --nodes " + nodes));
  }
}

/// As rounding(), of float32 numbers.
Tolerance single_rounding(double operations, double scale) { return rounding(operations * 0x1p29, scale); }

class MeshCommands : public StayingProgram {
 protected:
  void SetUp() override {
    Program::SetUp();
    mesh_ = data::read_mesh(plate());
    for (std::int64_t point = 0; point < mesh_.size(); ++point)
      u_.push_back(std::sin(3 * mesh_.coordinate(point, 0)) + mesh_.coordinate(point, 1));
    data::write_npy(path("u.npy"), {{mesh_.size()}, data::Dtype::float64, u_});
    // G(u)(x) = u(x)·∫u over the plate, by the nodes' volumes.
    torch::jit::Module module("model");
    const torch::Tensor volumes = torch::tensor(mesh_.volumes, torch::kFloat64).to(torch::kFloat32);
    module.register_buffer("volumes", volumes.view({1, 1, mesh_.size()}));
    module.define(
        "def forward(self, u: Tensor) -> Tensor:\n"
        "    return u * (u * self.volumes).sum(dim=2, keepdim=True)\n");
    const char* const said = R"({"mesh":true,"dimension":2,"in_channels":1,"out_channels":1})";
    module.save(path("model.pt"), {{"opshap.json", said}});
  }

  static std::string plate() { return std::string(OPSHAP_SOURCE_DIR) + "/reference_data/meshes/plate_4_1.msh"; }

  std::string attribute(const std::string& more, const char* input = "u.npy") const {
    return "attribute --operator " + path("model.pt") + " --mesh " + plate() + " --input " + path(input) + " " + more;
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
  const Json found = answer(attribute("--query 40 --players 16 --method exact"));
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
  for (std::int64_t point = 0; point < mesh_.size(); ++point)
    labels.push_back(mesh_.coordinate(point, 0) < 0.7 ? 1 : 0);
  const std::vector<int> player_of(labels.begin(), labels.end());
  data::write_npy(path("labels.npy"), {{mesh_.size()}, data::Dtype::int64, labels});
  std::vector<double> two = u_;
  for (const double value : u_) two.push_back(2 * value);
  data::write_npy(path("two.npy"), {{2, 1, mesh_.size()}, data::Dtype::float64, two});
  const std::size_t query = 17;
  const std::string at = std::to_string(mesh_.coordinate(query, 0)) + "," + std::to_string(mesh_.coordinate(query, 1));
  const Json found = answer(attribute(
      "--partition " + path("labels.npy") + " --query-at " + at + " --method exact --out " + path("v.npy"), "two.npy"));
  EXPECT_FALSE(found.contains("blocks"));
  EXPECT_EQ(std::vector<std::int64_t>{static_cast<std::int64_t>(query)},
            found["queries"].get<std::vector<std::int64_t>>());
  const std::vector<double> once = expected(player_of, 2, query), four_times = {4 * once[0], 4 * once[1]};
  EXPECT_EQ("", mismatch(once, found["values"][0].get<std::vector<double>>(), single_rounding(200, 4)));
  EXPECT_EQ("", mismatch(four_times, found["values"][1].get<std::vector<double>>(), single_rounding(200, 16)));
  EXPECT_EQ((std::vector<std::int64_t>{2, 2}), data::read_npy(path("v.npy")).shape);

  EXPECT_EQ(0.0, answer(attribute("--query 3 --players 1 --method exact --baseline " + path("u.npy")))["values"][0])
      << "the baseline is the input";
}

TEST_F(MeshCommands, AnAttributionIsDrawnWithItsNumbers) {
  const Outcome run =
      done(attribute("--query 40 --players 64 --method integrated_gradients --nodes 4 --figure ") + path("f.svg"));
  EXPECT_TRUE(has(run.out, "blocks of the mesh hold points and play"));
  EXPECT_TRUE(has(read_file(path("f.svg")), "<svg"));
  EXPECT_EQ(1 + mesh_.size(), std::ranges::count(read_file(path("f.csv")), '\n'));
}

/// The numbers of an array of a .vtu file.
std::vector<double> vtu_array(const std::string& text, const std::string& name) {
  const std::size_t head = text.find("Name=\"" + name + "\""), begin = text.find('\n', head);
  std::istringstream numbers(text.substr(begin, text.find("</DataArray>", head) - begin));
  return {std::istream_iterator<double>(numbers), std::istream_iterator<double>()};
}

TEST_F(MeshCommands, AnAttributionIsWrittenForParaView) {
  const auto values = answer(attribute("--query 40 --players 16 --method exact --out " + path("v.vtu")))["values"]
                          .get<std::vector<double>>();
  const std::string text = read_file(path("v.vtu"));
  EXPECT_EQ(std::vector<double>(mesh_.cells.begin(), mesh_.cells.end()), vtu_array(text, "connectivity"));
  EXPECT_EQ(u_, vtu_array(text, "input 0"));
  const std::vector<double> players = vtu_array(text, "player"), found = vtu_array(text, "attribution"),
                            densities = vtu_array(text, "attribution density"), points = vtu_array(text, "Points");
  ASSERT_EQ(u_.size(), players.size());
  std::vector<double> areas(values.size(), 0), sums(values.size(), 0);
  for (std::size_t node = 0; node < players.size(); ++node) {
    const auto player = static_cast<std::size_t>(players[node]);
    EXPECT_EQ(values[player], found[node]);
    EXPECT_EQ(mesh_.points[2 * node], points[3 * node]);
    areas[player] += mesh_.volumes[node];
    sums[player] += densities[node] * mesh_.volumes[node];
  }
  EXPECT_EQ("", mismatch(values, sums, rounding(static_cast<double>(u_.size()), 10)))
      << "a density is over the player's area";
  expect_refusal(attribute("--query all --players 16 --method exact --out " + path("w.vtu")), 2, "one of each");
  expect_refusal("attribute --game unanimity_sum --players 4 --method exact --out " + path("w.vtu"), 2, "no mesh");
  EXPECT_FALSE(fs::exists(path("w.vtu")));
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
  expect_refusal(attribute("--method exact --players 4 --query 0", "long.npy"), 2, "values=80");
  expect_refusal(op + "--query 0 --input " + path("u.npy"), 2, "shape=[76]");
  expect_refusal(attribute("--method exact --players 4 --query 76"), 2, "index=76");
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
