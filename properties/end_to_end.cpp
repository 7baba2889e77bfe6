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
      const Outcome outcome = opshap(ask + path);
      ASSERT_EQ(0, outcome.code) << outcome.err;
      EXPECT_EQ("", mismatch(exact, Json::parse(outcome.out).at("values").get<std::vector<double>>(), tolerance))
          << name << path;
    }
    ++tried;
  }
  EXPECT_EQ(3, tried);
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
