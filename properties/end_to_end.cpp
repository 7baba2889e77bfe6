// A user's model of each architecture, from its file to its attributions: the program gives what Python gave.
// reference_data/end_to_end.md says how the fixtures were made.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "support/program.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using Json = nlohmann::json;

const std::string fixtures = std::string(OPSHAP_SOURCE_DIR) + "/reference_data/end_to_end/";

Json cases() {
  const Json table = Json::parse(read_file(fixtures + "cases.json"));
  require<DataError>(table["version"] == 1, "end_to_end: version=", table["version"].dump(),
                     " (expected 1). Update the test.");
  return table["cases"];
}

class EndToEnd : public Program {
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
    const Outcome run =
        opshap("attribute --operator " + model(fixture) + mesh + " --input " + start + "_input.npy --partition " +
               start + "_players.npy --query " + query + " --json --method " + method);
    EXPECT_EQ(0, run.code) << name << "\n" << run.err;
    return run.code == 0 ? Json::parse(run.out) : Json();
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
  const auto numbers = [&](const std::string& name) {
    const data::NpyArray array = data::read_npy(models / name);
    return array.reals(name);
  };
  int tried = 0;
  for (const Json& fixture : Json::parse(read_file(models / "cases.json"))) {
    const std::string name = fixture.at("name"), stem = (models / name).string();
    std::string query;
    for (const Json& index : fixture.at("query")) query += (query.empty() ? "" : ",") + index.dump();
    const std::string ask = "attribute --operator " + stem + ".safetensors --input " + stem + ".u.npy --baseline " +
                            stem + ".b.npy --query " + query + " --players " + fixture.at("players").dump() +
                            " --method exact --json";
    const std::vector<double> exact = numbers(name + ".exact.npy");
    // Python computes in float64, we in float32: 5e-5 of the largest value is what users may rely on.
    const Tolerance tolerance{.bound = 5e-5 * largest(exact), .reason = "float32"};
    for (const char* path : {"", " --no-engine"}) {
      const Outcome outcome = done(ask + path);
      EXPECT_EQ("", mismatch(exact, Json::parse(outcome.out).at("values").get<std::vector<double>>(), tolerance))
          << name << path;
    }
    ++tried;
  }
  EXPECT_EQ(3, tried);
}

// Values of a target are the same sum of those of its queries.
TEST_F(EndToEnd, TargetsAreWeightedSumsOfQueries) {
  const std::string stem = OPSHAP_SOURCE_DIR "/reference_data/normalised_models/line_channels";
  const std::string ask = "attribute --operator " + stem + ".safetensors --input " + stem + ".u.npy --baseline " +
                          stem + ".b.npy --players 5 --method exact --json";
  const auto values_of = [&](const std::string& more) {
    const Outcome outcome = opshap(ask + more);
    EXPECT_EQ(0, outcome.code) << more << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out) : Json();
  };
  const Json all = values_of(" --query all");
  const auto of_queries = all.at("values").at(0).get<std::vector<std::vector<double>>>();
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
    same(sum(mean), values_of(std::string(" --target mean:5..9") + engine).at("values"), 1);
    same(sum(weights), values_of(" --target " + path("w.npy") + engine).at("values"), 3);
  }
  const Json two = values_of(" --target " + path("both.npy"));
  EXPECT_EQ((std::vector<std::string>{path("both.npy") + "[0]", path("both.npy") + "[1]"}), two.at("targets"));
  same(sum(weights), two.at("values").at(0).at(0), 3);
  same(sum(second), two.at("values").at(0).at(1), static_cast<double>(points));
  const Json named = values_of(" --target mean:5..9 " + path("w.npy"));
  same(sum(mean), named.at("values").at(0).at(0), 1);
  EXPECT_EQ("mean:5..9", named.at("targets").at(0));
  EXPECT_EQ("the value at point 13 (0.65), channel 0", values_of(" --query 13").at("explained"));
  data::write_npy(path("mask.npy"), {{count}, data::Dtype::int64, std::vector<std::int64_t>(points, 1)});
  same(sum(second), values_of(" --target " + path("mask.npy")).at("values"), static_cast<double>(points));
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

}  // namespace
}  // namespace opshap
