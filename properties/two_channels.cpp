// Two input channels in the plane, one output channel, nothing periodic: the whole chain from a problem to its report,
// and a trained explainer on a user's own field.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "runs/results.hpp"
#include "support/one_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

constexpr const char* profile = "two_channels.toml";

class TwoChannels : public OneRun<&profile> {
 protected:
  /// Asks the trained explainer about a field.
  static std::string explained(const std::string& input) {
    return "attribute --operator " + weights("backbone") + " --explainer " + weights("explainer") + " --input " + input;
  }
  /// A smooth field of the two channels on 8 x 8 points.
  std::string field(const std::vector<std::int64_t>& shape) const {
    std::vector<double> values(
        static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.3 * static_cast<double>(i)) / 2;
    data::write_npy(path("u.npy"), {shape, data::Dtype::float64, values});
    return path("u.npy");
  }
  /// The constants that hid the channels in the training, as an option with a field on 8 x 8 points.
  std::string means() const {
    const data::Safetensors explainer = data::read_safetensors(weights("explainer"));
    std::istringstream constants(explainer.metadata.at("trained_for.baseline"));
    std::vector<double> values;
    for (std::string constant; std::getline(constants, constant, ',');)
      values.insert(values.end(), 64, std::stod(constant));
    data::write_npy(path("means.npy"), {{2, 8, 8}, data::Dtype::float64, values});
    return " --baseline " + path("means.npy");
  }
};

TEST_F(TwoChannels, EveryMethodIsScoredOnBothGridsWithSixteenPlayers) {
  const runs::Results results = runs::read_results(run_);
  std::map<std::vector<int>, std::set<std::string>> methods;
  for (const runs::AttributionRow& row : results.attributions) {
    EXPECT_EQ("synthetic2d", row.pde);
    EXPECT_EQ(16, row.players);
    EXPECT_EQ("exact", row.reference);
    methods[row.shape].insert(row.method);
    ASSERT_TRUE(row.scores["nrmse"].value.has_value()) << row.method << ": " << row.scores["nrmse"].why;
    if (row.access == "amortised" || row.access == "none") {
      EXPECT_LT(*row.scores["efficiency_gap"].value, 1e-12) << "16 values of order 1 are added a few times";
    }
  }
  const std::set<std::string> all = {
      "operator_shap", "uniform", "permutation_antithetic", "kernel_shap_paired", "integrated_gradients", "mean_field"};
  EXPECT_EQ((std::map<std::vector<int>, std::set<std::string>>{{{4, 4}, all}, {{8, 8}, all}}), methods);
  for (const runs::OperatorRow& row : results.operators) {
    EXPECT_EQ(row.shape[0] * row.shape[1], row.points);
    for (const double error : row.defined_errors()) EXPECT_TRUE(error > 0 && error < 10) << error;
  }
}

TEST_F(TwoChannels, FieldsHaveTheirChannelsCoordinatesAndPlayers) {
  bool grouped = false;
  for (const runs::FieldsRow& row : runs::read_results(run_).fields) {
    const auto points = static_cast<std::size_t>(runs::points_of(row.shape));
    EXPECT_EQ((std::vector<std::string>{"gain", "source"}), row.input_channels);
    EXPECT_EQ(2 * points, row.input.size());
    EXPECT_EQ(points, row.prediction.size());
    EXPECT_DOUBLE_EQ(1.0 / 32, row.x.front()) << "the middle of the first of 32 cells on [0, 2], whatever the stride";
    EXPECT_EQ(16, row.players());
    grouped |= row.player_of.size() == 64;
  }
  EXPECT_TRUE(grouped) << "8 x 8 points in 16 blocks";
}

TEST_F(TwoChannels, TheReportDrawsHeatMaps) {
  EXPECT_TRUE(has(read_file(run_ / "figures" / "example.svg"), {"gain", "source"}));
  const std::string page = read_file(run_ / "report.html");
  EXPECT_TRUE(has(page, {"8 × 8", "Synthetic 2D"}));
  EXPECT_FALSE(has(page, "not finished")) << "resolutions are points per axis, not players";
  EXPECT_TRUE(has(page, {"id=\"budget-error-16-of-4x4", "id=\"budget-error-16-of-8x8"})) << "a curve for each grid";
  const Json claims = Json::parse(read_file(run_ / "claims.json"));
  for (const Json& claim : claims["claims"]) {
    if (claim["source"] == "paper" && has(claim["statement"].get<std::string>(), "Burgers")) {
      EXPECT_EQ("not testable in this profile", claim["verdict"]) << claim["id"];
    }
  }
}

TEST_F(TwoChannels, ATrainedExplainerExplainsAFieldOfItsUser) {
  expect_refusal(explained(field({2, 8, 8})) + " --players 16", 2, "baseline zero instead of ");
  const std::string command =
      explained(field({2, 8, 8})) + means() + " --players 16 --out " + path("v.npy") + " --figure " + path("f.svg");
  const Json json = answer(command);
  EXPECT_EQ("operator_shap", json["method"]);
  EXPECT_EQ(16, json["players"]);
  EXPECT_EQ(2, json["distinct"]);
  const auto values = json["values"].get<std::vector<double>>();
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(json["grand"].get<double>() - json["empty"].get<double>(), sum, 1e-13) << "some 20 additions of order 1";
  const data::NpyArray stored = data::read_npy(path("v.npy"));
  EXPECT_EQ((std::vector<std::int64_t>{1, 16}), stored.shape);
  EXPECT_EQ(values, stored.reals("test"));
  EXPECT_TRUE(has(read_file(path("f.svg")), "<svg"));
}

TEST_F(TwoChannels, ABatchAndAllQueriesAreOneCall) {
  const std::string op = "attribute --operator " + weights("backbone") + " --method mean_field --players 4";
  const Json json = answer(op + " --input " + field({3, 2, 4, 4}) + " --query all --out " + path("v.npy"));
  ASSERT_EQ(3u, json["values"].size());
  ASSERT_EQ(16u, json["values"][0].size());
  ASSERT_EQ(4u, json["values"][0][0].size());
  EXPECT_EQ((std::vector<std::int64_t>{3, 16, 4}), data::read_npy(path("v.npy")).shape);

  // The second input at point (1, 2), asked for alone.
  const std::vector<double> all = data::read_npy(path("u.npy")).reals("test");
  data::write_npy(path("one.npy"),
                  {{2, 4, 4}, data::Dtype::float64, std::vector<double>(all.begin() + 32, all.begin() + 64)});
  EXPECT_EQ(answer(op + " --input " + path("one.npy") + " --query 1,2")["values"], json["values"][1][6]);
}

TEST_F(TwoChannels, AnExplainerIsComparedWithEstimators) {
  const std::string common =
      " --operator " + weights("backbone") + " --input " + field({2, 8, 8}) + means() +
      " --players 16 --budgets 128 --repeats 2 --methods permutation_antithetic,explainer:" + weights("explainer");
  const Json json = answer("compare --query 4,4" + common);
  EXPECT_EQ((std::vector<std::string>{"permutation_antithetic", "explainer:model"}),
            json["methods"].get<std::vector<std::string>>());
  EXPECT_EQ("players: 16 blocks; baseline: a field; query: index 4,4, channel 0; masked channels: all",
            json["scenario"]);
  int explained = 0;
  for (const Json& row : json["rows"]) {
    if (row["method"] != "operator_shap") continue;
    ++explained;
    EXPECT_EQ("model", row["explainer"]);
    EXPECT_EQ("amortised", row["access"]);
    EXPECT_EQ(2, row["distinct"]);
    EXPECT_TRUE(row["nrmse"].is_number());
  }
  EXPECT_EQ(1, explained) << "it takes no budget, so it runs once";
  EXPECT_EQ(16u, json["explainers"]["model"].get<std::string>().size()) << "a checksum";
  expect_refusal("compare --query 0,0" + common, 2, "trained for the centre");
  // The backbone's weights have an explainer's channels, and say that they are an operator's.
  expect_refusal("compare --query 4,4" + common + ",explainer:" + weights("backbone"), 3, "holds an operator");
  make_folder(path("other"));
  fs::copy_file(weights("explainer"), path("other/model.safetensors"));
  expect_refusal("compare --query 4,4" + common + ",explainer:" + path("other/model.safetensors"), 2,
                 "same file name");
  expect_refusal("compare --game glove_market --players 4 --budgets 8 --methods explainer:" + weights("explainer"), 2,
                 "not known here");
}

TEST_F(TwoChannels, AComparisonKnowsItsExplainerByItsWeights) {
  const std::string command = "compare --operator " + weights("backbone") + " --input " + field({2, 8, 8}) + means() +
                              " --query 4,4 --players 16 --out " + path("compared") +
                              " --methods uniform,explainer:" + path("explainer.safetensors");
  fs::copy_file(weights("explainer"), path("explainer.safetensors"));
  done(command);
  EXPECT_EQ(0, opshap(command).code) << "done is done";
  data::Safetensors content = data::read_safetensors(weights("explainer"));
  content.metadata["note"] = "another file";
  data::write_safetensors(path("explainer.safetensors"), content);
  expect_refusal(command, 2, "other settings");
}

TEST_F(TwoChannels, AnEvaluationTakesAnyNumberOfExplainersAndKnowsItsOwnFolder) {
  fs::copy_file(weights("explainer"), path("copy.safetensors"));
  const std::string command = "evaluate --data " + (run_ / "data" / "synthetic2d.h5").string() + " --operator " +
                              weights("backbone") + " --profile " + OPSHAP_SOURCE_DIR +
                              "/properties/support/two_channels.toml --out " + path("scores") + " --explainer " +
                              weights("explainer");
  const std::string both = command + " " + path("copy.safetensors");
  const std::string table = done(both).out;
  EXPECT_TRUE(has(table, "| 16 (4 × 4) |") && table.ends_with(path("scores/results.jsonl") + '\n')) << table;
  std::map<std::string, std::vector<double>> scores;
  for (const runs::AttributionRow& row : runs::read_results(path("scores")).attributions) {
    if (row.method == "operator_shap")
      scores[row.explainer.value_or("none")].push_back(row.scores["nrmse"].value.value_or(-1));
  }
  ASSERT_EQ(2u, scores.size());
  EXPECT_EQ(4u, scores["model"].size());
  EXPECT_EQ(scores["model"], scores["copy"]);

  const std::string rows = read_file(path("scores/results.jsonl"));
  EXPECT_EQ(0, opshap(both).code) << "done is done";
  expect_refusal(command, 2, "other settings");
  expect_refusal(both + " --seed 7", 2, "seed: 42, and now 7");
  expect_refusal(command + " " + weights("explainer"), 2, "same file name");
  EXPECT_EQ(rows, read_file(path("scores/results.jsonl")));
}

TEST_F(TwoChannels, WhatDoesNotFitIsRefusedByName) {
  const std::string op = "attribute --operator " + weights("backbone") + " --method mean_field --input ";
  const std::string input = field({2, 8, 8});
  expect_refusal(op + input + " --query 4,4 --players 5", 2, "players=5");
  expect_refusal(op + input + " --query 4,4 --players 256", 2, "players=256");
  expect_refusal(op + input + " --query 4,9", 2, "index=9");
  expect_refusal(op + input + " --query-at 9,0", 2, "coordinate=9");
  expect_refusal(op + input + " --query 4,4 --masked-channels 2", 2, "channel=2");
  expect_refusal(op + input + " --query 4,4 --query-channel 1", 2, "channel=1");
  expect_refusal(op + input + " --query all --figure " + path("f.svg"), 2, "--figure");
  expect_refusal(explained(input) + means() + " --players 16 --query 0,0", 2, "--query");
  expect_refusal("attribute --operator " + weights("backbone") + " --explainer " + OPSHAP_SOURCE_DIR +
                     "/reports/paper/explainer/model.safetensors --input " + input,
                 2, "dimension=1, in_channels=1");
}

}  // namespace
}  // namespace opshap
