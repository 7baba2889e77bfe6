// --shard and `opshap merge` as their users meet them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/file.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

using nlohmann::json;
using ShardCommands = Program;

constexpr const char* comparison =
    "compare --game unanimity_sum --players 12 --methods permutation,kernel_shap_paired --budgets 64,128 --repeats 3 "
    "-q ";

/// The rows without their times.
std::string rows_of(const std::string& file) {
  std::istringstream lines(read_file(file));
  std::string rows;
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    row.erase("seconds");
    row.erase("crc32c");
    rows += row.dump() + '\n';
  }
  return rows;
}

TEST_F(ShardCommands, PartsOfAComparisonMergeToTheWhole) {
  ASSERT_EQ(0, opshap(comparison + ("--out " + path("whole"))).code);
  const std::string out = comparison + ("--out " + path("run"));
  for (const char* shard : {"2/3", "0/3"}) {
    const Outcome outcome = opshap(out + " --shard " + shard);
    ASSERT_EQ(0, outcome.code) << outcome.err;
  }
  expect_refusal("merge " + path("run"), 2, "part=1/3 (is missing)");
  ASSERT_EQ(0, opshap(out + " --shard 1/3").code);
  const Outcome merged = opshap("merge " + path("run") + " --json");
  ASSERT_EQ(0, merged.code) << merged.err;
  EXPECT_EQ(3, json::parse(merged.out)["merged"][0]["parts"]);
  expect_refusal("merge " + path("run"), 3, "has no parts");
  expect_refusal(out + " --shard 1/3", 2, "Leave --shard out");
  ASSERT_EQ(0, opshap(out).code);
  EXPECT_EQ(rows_of(path("whole/results.jsonl")), rows_of(path("run/results.jsonl")));
  EXPECT_EQ(read_file(path("whole/tables/errors.csv")), read_file(path("run/tables/errors.csv")));
}

TEST_F(ShardCommands, PartsOfASuiteMergeGameByGame) {
  const std::string suite = file("two.toml", R"(summary = "two games"
budgets = "4n"
repeats = 2
[[games]]
family = "unanimity_sum"
players = [10, 12]
seed = 1
)");
  const std::string out = "compare --suite " + suite + " --methods permutation,kernel_shap_paired -q --out ";
  ASSERT_EQ(0, opshap(out + path("whole")).code);
  for (const char* shard : {"0/2", "1/2"}) {
    const Outcome outcome = opshap(out + path("run") + " --shard " + shard);
    ASSERT_EQ(0, outcome.code) << outcome.err;
  }
  const Outcome merged = opshap("merge " + path("run") + " --json");
  ASSERT_EQ(0, merged.code) << merged.err;
  ASSERT_EQ(2u, json::parse(merged.out)["merged"].size());
  ASSERT_EQ(0, opshap(out + path("run")).code);
  for (const auto& entry : std::filesystem::directory_iterator(path("whole"))) {
    if (!std::filesystem::exists(entry.path() / "results.jsonl")) continue;
    EXPECT_EQ(rows_of((entry.path() / "results.jsonl").string()),
              rows_of(path("run/" + entry.path().filename().string() + "/results.jsonl")));
  }
}

TEST_F(ShardCommands, RefuseWhatIsNoPart) {
  const std::string out = comparison + ("--out " + path("run"));
  expect_refusal(out + " --shard 3/3", 2, "counted from 0");
  expect_refusal(out + " --shard 1", 2, "not of the form i/N");
  expect_refusal(comparison + std::string("--shard 0/2"), 2, "Give --out FOLDER");
  expect_refusal("merge " + path("nowhere"), 3, "has no parts");
  const std::string game = file("other.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  ASSERT_EQ(0, opshap(out + " --shard 0/2").code);
  ASSERT_EQ(0, opshap("compare --game " + game + " --methods exact -q --shard 1/2 --out " + path("copy")).code);
  expect_refusal("merge " + path("run") + " --from " + path("copy"), 2, "has another settings");
  expect_refusal("merge " + path("run") + " --from " + path("nowhere"), 3, "nowhere");
}

TEST_F(ShardCommands, PartsOfARunWantItsTrainings) {
  const std::string command = std::string("reproduce --profile ") + OPSHAP_SOURCE_DIR +
                              "/properties/support/small_burgers.toml --seed 3 -q --out " + path("run");
  expect_refusal(command + " --shard 0/2", 2, "--train-only");
  expect_refusal(command + " --shard 0/2 --train-only", 2, "--train-only");
  Outcome outcome = opshap(command + " --train-only");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("run/results.jsonl")));
  for (const char* shard : {"0/2", "1/2"}) {
    outcome = opshap(command + " --shard " + shard);
    ASSERT_EQ(0, outcome.code) << outcome.err;
  }
  ASSERT_EQ(0, opshap("merge " + path("run")).code);
  outcome = opshap(command);
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("run/report.html")));
  const json manifest = json::parse(read_file(path("run/manifest.json")));
  EXPECT_EQ(2u, manifest["parts"].size());
  for (const char* stage : {"data", "backbone", "explainer", "evaluation"})
    EXPECT_TRUE(manifest["seconds"].contains(stage)) << stage;
}

TEST_F(ShardCommands, OneCommandAtATimeWritesIntoAFolder) {
  const std::string run = path("run");
  ASSERT_EQ(0, opshap(comparison + ("--out " + run)).code);
  const FolderLock held(run, "test");
  for (const std::string& command : {comparison + ("--out " + run), "report " + run, "merge " + run})
    expect_refusal(command, 2, "another process is at this work");
}

TEST_F(ShardCommands, ARowThatHasChangedIsNamedByWhateverReadsIt) {
  const std::string run = path("run"), again = comparison + ("--out " + run);
  ASSERT_EQ(0, opshap(again).code);
  const std::string rows = read_file(run + "/results.jsonl");
  std::string changed = rows;
  const std::size_t digit = changed.find("\"nrmse\":") + 11;
  changed[digit] = changed[digit] == '1' ? '2' : '1';
  file("run/results.jsonl", changed);
  expect_refusal(comparison + ("--against " + run), 3, "results.jsonl");
  EXPECT_EQ(3, opshap(again).code);
  file("run/results.jsonl", rows);
  EXPECT_EQ(0, opshap(again).code);
  file("run/results.jsonl", rows.substr(rows.find('\n') + 1));  // a row is missing
  expect_refusal(comparison + ("--against " + run), 3, "results.jsonl (has ");
  EXPECT_EQ(0, opshap(again).code) << "what was lost is made again";
  EXPECT_EQ(rows_of(run + "/results.jsonl").size(), rows_of(file("rows", rows)).size());
}

}  // namespace
}  // namespace opshap
