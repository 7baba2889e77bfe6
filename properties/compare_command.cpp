// `opshap reference` and `opshap compare` as their users meet them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace opshap {
namespace {

using nlohmann::json;
using ReferenceCommand = Program;
using CompareCommand = Program;

constexpr const char* family = "--game unanimity_sum --players 24 --game-seed 3";

json parsed(const Outcome& outcome) {
  EXPECT_NE("", outcome.out) << outcome.err;
  return json::parse(outcome.out, nullptr, false);
}

double norm(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

TEST_F(ReferenceCommand, PrintsValuesWithTheErrorThatWasAskedFor) {
  const Outcome outcome = opshap(std::string("reference ") + family + " --relative-error 0.05 --json -q");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const json found = parsed(outcome);
  EXPECT_EQ("certified", found["method"]);
  EXPECT_EQ(24, found["players"]);
  EXPECT_LE(found["relative_error"].get<double>(), 0.05);
  const double error = norm(found["standard_errors"]) / norm(found["values"]);
  EXPECT_NEAR(found["relative_error"].get<double>(), error, 1e-12);  // two roundings of the same quotient
  EXPECT_TRUE(found["cross_check"]["agrees"].get<bool>());
  ASSERT_EQ(2u, found["estimates"].size());
  EXPECT_EQ("permutation_antithetic", found["estimates"][0]["method"]);
  EXPECT_EQ("two_level", found["estimates"][1]["method"]);  // the terms of the game are its slopes
  EXPECT_TRUE(found["certification"].is_null());
}

TEST_F(ReferenceCommand, WritesTheSameAsItPrints) {
  const Outcome outcome =
      opshap(std::string("reference ") + family + " --relative-error 0.05 --json -q --out " + path("reference.json"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_EQ(parsed(outcome), json::parse(read_file(path("reference.json"))));
}

TEST_F(ReferenceCommand, IsExactForFewPlayers) {
  const std::string game = file("game.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  const json found = parsed(opshap("reference --game " + game + " --json"));
  EXPECT_EQ("exact", found["method"]);
  EXPECT_EQ(0, found["relative_error"]);
  EXPECT_TRUE(found["cross_check"].is_null());
}

TEST_F(ReferenceCommand, FailsWhenTheErrorCannotBeReachedWithinTheEvaluations) {
  const Outcome outcome =
      opshap(std::string("reference ") + family + " --relative-error 1e-6 --max-evaluations 4000 --json -q");
  EXPECT_EQ(1, outcome.code);
  EXPECT_FALSE(parsed(outcome)["reached"].get<bool>());
  EXPECT_NE(std::string::npos, outcome.err.find("Raise --max-evaluations")) << outcome.err;
}

TEST_F(ReferenceCommand, CertifiesTheNearerOfTwoAttributions) {
  // A poor estimate, and one that is better than the reference: both known by their budgets.
  ASSERT_EQ(0, shell(std::string(OPSHAP_BINARY_DIR) + "/opshap attribute " + family +
                     " --method permutation --budget 60 --json > " + path("poor.json"))
                   .code);
  ASSERT_EQ(0, shell(std::string(OPSHAP_BINARY_DIR) + "/opshap attribute " + family +
                     " --method kernel_shap_paired --budget 300000 --json > " + path("good.json"))
                   .code);
  const std::string reference = std::string("reference ") + family + " --relative-error 0.03 --json -q --certify ";
  EXPECT_EQ("reference is nearer", parsed(opshap(reference + path("poor.json")))["certification"]["verdict"]);
  EXPECT_EQ("attribution is nearer", parsed(opshap(reference + path("good.json")))["certification"]["verdict"]);
}

TEST_F(ReferenceCommand, RefusesWhatCannotWork) {
  const std::string few = file("few.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  expect_refusal("reference", 2, "--game");
  expect_refusal("reference --game unanimity_sums --players 3", 2, "Did you mean unanimity_sum?");
  expect_refusal("reference --game unanimity_sum", 2, "--players");
  expect_refusal("reference --game unanimity_sum --players 0", 2, "--players=0");
  expect_refusal("reference --game cell_mask_game --players 4", 2, "is made from an operator");
  expect_refusal("reference --game " + few + " --players 3", 2, "--players");
  expect_refusal("reference --game " + few + " --exact-players 30", 2, "exact_players=30");
  expect_refusal(std::string("reference ") + family + " --relative-error 0", 2, "relative_error=0");
  expect_refusal(std::string("reference ") + family + " --max-evaluations 10", 2, "max_evaluations=10");
  expect_refusal("reference --game " + path("none.json"), 3, "none.json");
  expect_refusal("reference --game " + few + " --certify " + path("none.json"), 3, "none.json");
  expect_refusal("reference --game " + few + " --certify " + file("other.json", R"({"values":[1,2]})"), 3, "2 values");
  expect_refusal("reference --game " + few + " --certify " + file("game.json", R"({"values":[1,2,5],"grand":90})"), 3,
                 "grand=90");
  expect_refusal("reference --game " + few + " --certify " + file("text.json", "1 2 3"), 3, "values");
}

TEST_F(CompareCommand, HasARowForEveryRunWithTheContractsKeys) {
  const Outcome outcome =
      opshap(std::string("compare ") + family +
             " --methods permutation,kernel_shap_paired --budgets 2n,2^8..2^9 --repeats 3 --json -q");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const json found = parsed(outcome);
  EXPECT_EQ((std::vector<std::int64_t>{48, 256, 512}), found["budgets"].get<std::vector<std::int64_t>>());
  ASSERT_EQ(2u * 3u * 3u, found["rows"].size());
  for (const json& row : found["rows"]) {
    for (const char* key : {"game", "players", "method", "budget", "repeat", "seed", "distinct", "nrmse", "pearson",
                            "efficiency_gap", "seconds", "exact"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_LE(row["distinct"].get<std::int64_t>(), row["budget"].get<std::int64_t>());
    EXPECT_TRUE(row["seconds"].contains("game") && row["seconds"].contains("estimator"));
  }
  EXPECT_EQ("closed form", found["truth"]["method"]);
  EXPECT_EQ(2u, found["ranks"].size());
}

TEST_F(CompareCommand, LeavesAFolderThatStandsForItself) {
  const std::string command = std::string("compare ") + family +
                              " --methods permutation,kernel_shap,exact --budgets 64,128 --repeats 3 -q --out " +
                              path("out");
  const Outcome outcome = opshap(command);
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_EQ(path("out") + "/summary.md\n", outcome.out);
  for (const char* name :
       {"manifest.json", "results.jsonl", "truth.json", "summary.md", "tables/errors.csv", "tables/runtime.csv",
        "tables/ranking.md", "figures/budget_error.svg", "figures/budget_error.csv"})
    EXPECT_TRUE(std::filesystem::exists(path("out") + "/" + name)) << name;
  const json manifest = json::parse(read_file(path("out/manifest.json")));
  for (const char* key : {"command", "seed", "commit", "environment", "settings"})
    EXPECT_TRUE(manifest.contains(key)) << key;
  EXPECT_EQ("opshap", manifest["command"][0]);
  const std::string rows = read_file(path("out/results.jsonl"));

  // The same again runs nothing; what was lost comes back; another seed is another comparison.
  write_file(path("out/results.jsonl"), rows.substr(0, rows.size() / 2));
  ASSERT_EQ(0, opshap(command).code);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), [&] {
    const std::string again = read_file(path("out/results.jsonl"));
    return std::count(again.begin(), again.end(), '\n');
  }());
  const Outcome other = opshap(command + " --seed 7");
  EXPECT_EQ(2, other.code);
  EXPECT_NE(std::string::npos, other.err.find("seed: ")) << other.err;
}

TEST_F(CompareCommand, MarksExactMethodsAndSaysWhyOthersHaveNoScore) {
  const Outcome outcome = opshap(
      "compare --game additive_game --players 20 --methods permutation_antithetic,kernel_shap --budgets 24,80 "
      "--repeats 2 --json -q");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const json found = parsed(outcome);
  EXPECT_TRUE(found["ranks"].empty());
  ASSERT_FALSE(found["exact"].empty());
  EXPECT_EQ("guarantee", found["exact"][0]["why"]);
  ASSERT_EQ(1u, found["undefined"].size());
  EXPECT_EQ("permutation_antithetic", found["undefined"][0]["method"]);
  EXPECT_NE(std::string::npos, found["undefined"][0]["why"].get<std::string>().find("needs at least 40"));
}

TEST_F(CompareCommand, SaysWhoSpendsLessThanTheBudget) {
  const Outcome outcome = opshap(
      "compare --game unanimity_sum --players 8 --budgets 200 --repeats 3 --methods permutation,leverage_shap --out " +
      path("spent"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const std::string summary = read_file(path("spent/summary.md"));
  EXPECT_TRUE(std::regex_search(summary, std::regex("permutation.*ranked, on [5-8][0-9] % of the budget"))) << summary;
  EXPECT_FALSE(std::regex_search(summary, std::regex("leverage_shap.*% of the budget"))) << summary;
}

TEST_F(CompareCommand, ScoresMinimumNormSolutionsOnRequestWithoutPromisesOfExactness) {
  const std::string command =
      "compare --game additive_game --players 20 --methods kernel_shap,permutation --budgets 16 --repeats 2 -q";
  const json refused = parsed(opshap(command + " --json"));
  EXPECT_TRUE(refused["rows"][0]["nrmse"]["value"].is_null());
  const Outcome outcome = opshap(command + " --minimum-norm --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const json found = parsed(outcome);
  EXPECT_EQ(true, found["minimum_norm"]);
  EXPECT_EQ("kernel_shap", found["rows"][0]["method"]);
  EXPECT_GT(found["rows"][0]["nrmse"].get<double>(), 0.01);
  EXPECT_EQ("", found["rows"][0]["exact"]);
  EXPECT_NE(std::string::npos, opshap(command + " --minimum-norm").out.find("minimum-norm solution"));
}

TEST_F(CompareCommand, SaysWhatChangedSinceABaseline) {
  const std::string command =
      std::string("compare ") + family + " --methods permutation,kernel_shap --budgets 64,128 -q";
  ASSERT_EQ(0, opshap(command + " --out " + path("before")).code);
  const std::string rows = read_file(path("before/results.jsonl"));

  // The same comparison again: the same seeds, so the same errors.
  const Outcome same = opshap(command + " --json --against " + path("before"));
  ASSERT_EQ(0, same.code) << same.err;
  const json against = parsed(same)["against"];
  ASSERT_EQ(2u, against["methods"].size());
  for (const json& found : against["methods"]) {
    EXPECT_EQ("no change seen", found["change"]);
    EXPECT_EQ(1, found["ratio"]);
    EXPECT_EQ(20, found["runs"]);
  }

  // A baseline that was better: its errors are a tenth. A line of the other method is not touched.
  std::string better;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    if (row["method"] == "permutation") row["nrmse"] = row["nrmse"].get<double>() / 10;
    better += row.dump() + "\n";
  }
  const Outcome worse = opshap(command + " --against " + file("better.jsonl", better));
  EXPECT_EQ(1, worse.code) << worse.err;
  EXPECT_NE(std::string::npos, worse.out.find("permutation: worse, errors 10.0")) << worse.out;
  EXPECT_NE(std::string::npos, worse.out.find("kernel_shap: no change seen")) << worse.out;

  // Another method is named and decides nothing.
  const Outcome other = opshap(std::string("compare ") + family +
                               " --methods permutation,msr --budgets 64 -q --against " + path("before"));
  EXPECT_EQ(0, other.code) << other.err;
  EXPECT_NE(std::string::npos, other.out.find("msr: no run of it in the baseline")) << other.out;
  EXPECT_NE(std::string::npos, other.out.find("kernel_shap: only in the baseline")) << other.out;
}

TEST_F(CompareCommand, RefusesABaselineOfAnotherGame) {
  const std::string other =
      "compare --game unanimity_sum --players 24 --game-seed 4 --methods permutation --budgets 64 -q";
  ASSERT_EQ(0, opshap(other + " --out " + path("other")).code);
  const std::string command = std::string("compare ") + family + " --methods permutation --budgets 64 -q --against ";
  expect_refusal(command + path("other"), 3, "other values");
  const std::string fewer =
      "compare --game unanimity_sum --players 12 --methods permutation --budgets 64 -q --against ";
  expect_refusal(fewer + path("other"), 3, "no row of it");
  expect_refusal(command + path("none.jsonl"), 3, "none.jsonl");
  expect_refusal(command + file("empty.jsonl", ""), 3, "has no rows");
  expect_refusal(command + file("text.jsonl", "1 2 3\n"), 3, "text.jsonl");
}

TEST_F(CompareCommand, TakesEveryEstimatorForAll) {
  const Outcome outcome =
      opshap("compare --game additive_game --players 6 --methods all --budgets 40 --repeats 1 --json -q");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const json found = parsed(outcome);
  EXPECT_EQ(found["methods"].size(), parsed(opshap("list estimators --json"))["entries"].size());
  expect_refusal("compare --game additive_game --players 6 --methods all,permutation --budgets 40", 2, "given twice");
}

TEST_F(CompareCommand, RefusesWhatCannotWork) {
  const std::string compare = std::string("compare ") + family + " --methods ";
  expect_refusal(std::string("compare ") + family + " --budgets 64", 2, "--methods");
  expect_refusal(compare + "permutation", 2, "--budgets");
  expect_refusal(compare + "permutations --budgets 64", 2, "Did you mean permutation?");
  expect_refusal(compare + "permutation,permutation --budgets 64", 2, "given twice");
  expect_refusal(compare + "permutation --budgets 2^9..2^7", 2, "2^9..2^7");
  expect_refusal(compare + "permutation --budgets many", 2, "part=many");
  expect_refusal(compare + "permutation --budgets 64 --repeats 0", 2, "--repeats=0");
  expect_refusal(compare + "permutation --budgets 64 --out /proc/opshap", 2, "/proc/opshap");
  expect_refusal(compare + "permutation --budgets 64 --out -", 2, "--out=-");
  expect_refusal(compare + "permutation --budgets 64 --minimum-norm", 2, "--minimum-norm");
}

}  // namespace
}  // namespace opshap
