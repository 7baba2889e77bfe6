// What `reproduce --dry-run` says before is what the run then does.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "support/program.hpp"

namespace opshap {
namespace {

using nlohmann::json;

class Forecast : public Program {
 protected:
  std::string command() const {
    const std::string further = file("further.toml", R"([explainers.labels]
target = "mean_field"
label_evaluations = 12
coordinates = "query"
atom = true
unlabelled = 8
[evaluation]
methods = ["permutation", "mean_field"]
)");
    return std::string("reproduce --profile ") + OPSHAP_SOURCE_DIR +
           "/properties/support/small_burgers.toml -q --config " + further + " --out " + path("run");
  }
};

// A budget that nobody could spend is forecast all the same, and takes no longer to forecast: what is drawn for it has
// a limit. One that no run could hold is refused at once.
TEST_F(Forecast, KnowsWhatAHugeBudgetCostsWithoutSpendingIt) {
  const auto forecast = [&](const std::string& budget) {
    const std::string over =
        file("huge.toml", "[evaluation]\nmethods = ['permutation']\ncurves = []\nminimum_budget = " + budget + "\n");
    return std::string("reproduce --profile ") + OPSHAP_SOURCE_DIR +
           "/properties/support/small_burgers.toml -q --config " + over + " --dry-run --json";
  };
  const auto evaluations = [&](const std::string& budget) {
    const Outcome said = opshap(forecast(budget));
    EXPECT_EQ(0, said.code) << said.err;
    const json told = json::parse(said.out);
    for (const json& stage : told["runs"][0]["stages"])
      if (stage["stage"] == "evaluation") return stage["evaluations"]["most"].get<double>();
    return 0.0;
  };
  // 32 players have more coalitions than that.
  EXPECT_GT(evaluations("268435456"), 268435456);
  expect_refusal(forecast("4294967295"), 2, "evaluation.minimum_budget=4294967295");
}

TEST_F(Forecast, NamesTheStagesOfTheRunAndItsEvaluations) {
  const Outcome said = opshap(command() + " --dry-run --ranks 4 --json");
  ASSERT_EQ(0, said.code) << said.err;
  EXPECT_FALSE(std::filesystem::exists(path("run"))) << "nothing is written";
  const json forecast = json::parse(said.out);
  EXPECT_EQ(4, forecast["ranks"]);
  ASSERT_EQ(1u, forecast["runs"].size());
  ASSERT_EQ(0, opshap(command()).code);
  const json manifest = json::parse(read_file(path("run/manifest.json")));

  std::size_t stages = 0;
  json evaluations;
  for (const json& stage : forecast["runs"][0]["stages"]) {
    EXPECT_TRUE(manifest["seconds"].contains(stage["stage"].get<std::string>())) << stage;
    EXPECT_LE(stage["evaluations"]["least"], stage["evaluations"]["most"]) << stage;
    EXPECT_GT(stage["seconds"]["least"], 0) << stage;
    EXPECT_LE(stage["seconds"]["least"], stage["seconds"]["most"]) << stage;
    EXPECT_EQ(stage["seconds"]["most"].get<double>() / 4, stage["seconds_on_ranks"]["most"].get<double>());
    EXPECT_GT(stage["bytes"], 0) << stage;
    evaluations[stage["stage"].get<std::string>()] = stage["evaluations"];
    ++stages;
  }
  EXPECT_EQ(manifest["seconds"].size(), stages);

  // Trainings of this profile cannot stop early, so that their counts are known before.
  std::istringstream lines(read_file(path("run/training.jsonl")));
  int trainings = 0;
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    const std::string stage =
        row["stage"].get<std::string>() +
        (row.contains("explainer") && row["explainer"].is_string() ? " " + row["explainer"].get<std::string>() : "");
    EXPECT_EQ(row["operator_evaluations"], evaluations[stage]["least"]) << stage;
    EXPECT_EQ(row["operator_evaluations"], evaluations[stage]["most"]) << stage;
    ++trainings;
  }
  EXPECT_EQ(3, trainings);

  // Attributions count what they took; references and faithfulness are beside them.
  std::istringstream results(read_file(path("run/results.jsonl")));
  std::int64_t spent = 0;
  for (std::string line; std::getline(results, line);) {
    const json row = json::parse(line);
    if (row["schema"] != "opshap.attribution/1") continue;
    spent += row["evaluations"].get<std::int64_t>();
    if (row["method"] == "permutation") spent += row["reference_evaluations"].get<std::int64_t>() + 16;
  }
  EXPECT_LE(evaluations["evaluation"]["least"], spent);
  EXPECT_GE(evaluations["evaluation"]["most"], spent);
}

TEST_F(Forecast, RefusesWhatTheRunWould) {
  command();  // its file is there before what is looked for
  expect_refusal(command() + " --dry-run --ranks 0", 2, "ranks");
  expect_refusal(command() + " --ranks 2", 2, "--dry-run");
  expect_refusal("reproduce --dry-run --pde burger1d", 2, "burgers1d");
  const std::string unknown = file("unknown.toml", "[evaluation]\nmethods = [\"permutations\"]\n");
  expect_refusal("reproduce --dry-run --pde burgers1d --config " + unknown, 2, "permutation");
}

}  // namespace
}  // namespace opshap
