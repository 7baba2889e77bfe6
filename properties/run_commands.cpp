// Commands that make and use whole runs: what `reproduce --dry-run` says before is what the run then does, --shard and
// `opshap merge` as their users meet them, and `opshap study references`, whose references are those of the run.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/file.hpp"
#include "runs/results.hpp"
#include "runs/row_files.hpp"
#include "support/refusal.hpp"
#include "support/run_folder.hpp"
#include "support/staying_program.hpp"

namespace opshap {
namespace {

using nlohmann::json;

const std::string small_run = "reproduce --profile " OPSHAP_SOURCE_DIR "/properties/support/small_burgers.toml -q ";

std::set<std::string> names_of_stages(const json& manifest) {
  std::set<std::string> names;
  for (const json& stage : manifest.at("stages")) names.insert(stage.at("name").get<std::string>());
  return names;
}

class Forecast : public StayingProgram {
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
    return small_run + "--config " + further + " --out " + path("run");
  }
};

// A budget that nobody could spend is forecast all the same, and takes no longer to forecast: what is drawn for it has
// a limit. One that no run could hold is refused at once.
TEST_F(Forecast, KnowsWhatAHugeBudgetCostsWithoutSpendingIt) {
  const auto forecast = [&](const std::string& budget) {
    const std::string over =
        file("huge.toml", "[evaluation]\nmethods = ['permutation']\ncurves = []\nminimum_budget = " + budget + "\n");
    return small_run + "--config " + over + " --dry-run";
  };
  const auto evaluations = [&](const std::string& budget) {
    const json answer = this->answer(forecast(budget));
    for (const json& stage : answer["runs"][0]["stages"])
      if (stage["stage"] == "evaluation") return stage["evaluations"]["most"].get<double>();
    return 0.0;
  };
  // 32 players have more coalitions than that.
  EXPECT_GT(evaluations("268435456"), 268435456);
  expect_refusal(forecast("4294967295"), 2, "evaluation.minimum_budget=4294967295");
}

TEST_F(Forecast, OfFlowsIsThatOfTheFirstOfThem) {
  const std::string small = file(
      "flows.toml",
      "[meshes.operator]\nmodel = 'gino'\nmodes = 4\nwidth = 8\nlayers = 2\nin_radius = 0.3\nout_radius = 0.3\n"
      "in_transform = 'nonlinear'\nout_transform = 'linear'\nlatent_shape = [8, 8]\n"
      "[meshes.data]\ntrain = 4\nvalidation = 2\ntest = 2\nwindows = 2\n"
      "[pde.cylinder_flow.data]\nparameters = {edge = 0.03, length = 0.8, last_time = 0.3, frames = 3, lead = 0.1}\n"
      "[pde.airfoil.data]\nparameters = {far_field = 4, edge = 0.04, middle = 0.08, growth = 0.2, last_time = 1.2, "
      "frames = 12, lead = 0.3}\n");
  for (const std::string flow : {"cylinder_flow", "airfoil"}) {
    const json forecast = answer("reproduce --profile smoke --pde " + flow + " --config " + small + " --dry-run");
    ASSERT_EQ(4u, forecast["runs"][0]["stages"].size()) << flow;
    for (const json& stage : forecast["runs"][0]["stages"]) EXPECT_GT(stage["seconds"]["least"], 0) << flow << stage;
  }
}

TEST_F(Forecast, NamesTheStagesOfTheRunAndItsEvaluations) {
  EXPECT_FALSE(fs::exists(path("run"))) << "nothing is written";
  const json forecast = answer(command() + " --dry-run --ranks 4");
  EXPECT_EQ(4, forecast["ranks"]);
  ASSERT_EQ(1u, forecast["runs"].size());
  done(command());
  const json manifest = json::parse(read_file(path("run/manifest.json")));

  std::size_t stages = 0;
  json evaluations;
  for (const json& stage : forecast["runs"][0]["stages"]) {
    EXPECT_TRUE(names_of_stages(manifest).contains(stage["stage"].get<std::string>())) << stage;
    EXPECT_LE(stage["evaluations"]["least"], stage["evaluations"]["most"]) << stage;
    EXPECT_GT(stage["seconds"]["least"], 0) << stage;
    EXPECT_LE(stage["seconds"]["least"], stage["seconds"]["most"]) << stage;
    EXPECT_EQ(stage["seconds"]["most"].get<double>() / 4, stage["seconds_on_ranks"]["most"].get<double>());
    EXPECT_GT(stage["bytes"], 0) << stage;
    evaluations[stage["stage"].get<std::string>()] = stage["evaluations"];
    ++stages;
  }
  EXPECT_EQ(manifest["stages"].size(), stages);

  // Trainings of this profile cannot stop early, so that their counts are known before.
  int trainings = 0;
  for (const json& row : json_lines(read_file(path("run/training.jsonl")))) {
    const std::string stage =
        row["stage"].get<std::string>() +
        (row.contains("explainer") && row["explainer"].is_string() ? " " + row["explainer"].get<std::string>() : "");
    EXPECT_EQ(row["operator_evaluations"], evaluations[stage]["least"]) << stage;
    EXPECT_EQ(row["operator_evaluations"], evaluations[stage]["most"]) << stage;
    ++trainings;
  }
  EXPECT_EQ(3, trainings);

  // Attributions count what they took; references and faithfulness are beside them.
  std::int64_t spent = 0;
  for (const json& row : json_lines(read_file(path("run/results.jsonl")))) {
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

using ShardCommands = StayingProgram;

constexpr const char* comparison =
    "compare --game unanimity_sum --players 12 --methods permutation,kernel_shap_paired --budgets 64,128 --repeats 3 "
    "-q ";

TEST_F(ShardCommands, PartsOfAComparisonMergeToTheWhole) {
  done(comparison + ("--out " + path("whole")));
  const std::string out = comparison + ("--out " + path("run"));
  for (const char* shard : {"2/3", "0/3"}) done(out + " --shard " + shard);
  expect_refusal("merge " + path("run"), 2, "part=1/3 (is missing)");
  done(out + " --shard 1/3");
  EXPECT_EQ(3, answer("merge " + path("run"))["merged"][0]["parts"]);
  expect_refusal("merge " + path("run"), 3, "has no parts");
  expect_refusal(out + " --shard 1/3", 2, "Leave --shard out");
  done(out);
  EXPECT_EQ(without_times(path("whole/results.jsonl")), without_times(path("run/results.jsonl")));
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
  done(out + path("whole"));
  for (const char* shard : {"0/2", "1/2"}) done(out + path("run") + " --shard " + shard);
  EXPECT_EQ(2u, answer("merge " + path("run"))["merged"].size());
  done(out + path("run"));
  for (const auto& entry : fs::directory_iterator(path("whole"))) {
    if (!fs::exists(entry.path() / "results.jsonl")) continue;
    EXPECT_EQ(without_times(entry.path() / "results.jsonl"),
              without_times(path("run/" + entry.path().filename().string() + "/results.jsonl")));
  }
}

TEST_F(ShardCommands, RefuseWhatIsNoPart) {
  const std::string out = comparison + ("--out " + path("run"));
  expect_refusal(out + " --shard 3/3", 2, "counted from 0");
  expect_refusal(out + " --shard 1", 2, "not of the form i/N");
  expect_refusal(comparison + std::string("--shard 0/2"), 2, "Give --out FOLDER");
  expect_refusal("merge " + path("nowhere"), 3, "has no parts");
  const std::string game = file("other.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  done(out + " --shard 0/2");
  done("compare --game " + game + " --methods exact -q --shard 1/2 --out " + path("copy"));
  expect_refusal("merge " + path("run") + " --from " + path("copy"), 2, "has another settings");
  expect_refusal("merge " + path("run") + " --from " + path("nowhere"), 3, "nowhere");
}

TEST_F(ShardCommands, PartsOfARunWantItsTrainings) {
  const std::string command = small_run + "--seed 3 --out " + path("run");
  expect_refusal(command + " --shard 0/2", 2, "--stage explainer");
  expect_refusal(command + " --shard 0/2 --stage explainer", 2, "--stage");
  done(command + " --stage explainer");
  EXPECT_FALSE(fs::exists(path("run/results.jsonl")));
  for (const char* shard : {"0/2", "1/2"}) done(command + " --shard " + shard);
  done("merge " + path("run"));
  done(command);
  EXPECT_TRUE(fs::exists(path("run/report.html")));
  const json manifest = json::parse(read_file(path("run/manifest.json")));
  EXPECT_EQ(2u, manifest["parts"].size());
  for (const char* stage : {"data", "backbone", "explainer", "evaluation"})
    EXPECT_TRUE(names_of_stages(manifest).contains(stage)) << stage;
}

// The time of each call is over at once, so that it does a single piece.
TEST_F(ShardCommands, ARunInPiecesHasTheBytesOfOneWithoutThem) {
  const std::string command = small_run + "--seed 5 --stage explainer ";
  done(command + "--out " + path("one"));
  const auto piece = [&] { return fresh(command + "--minutes 1e-9 --out " + path("pieces")); };
  Outcome outcome = piece();
  EXPECT_EQ(6, outcome.code);
  EXPECT_TRUE(has(outcome.err, {"--minutes=", "Run the same command again to go on."})) << outcome.err;
  int calls = 1;
  for (; outcome.code == 6 && calls < 100; ++calls) outcome = piece();
  ASSERT_EQ(0, outcome.code) << outcome.err;
  for (const char* file : {"data/burgers1d.h5", "backbone/model.safetensors", "explainer/model.safetensors"})
    EXPECT_EQ(read_file(path("one/") + file), read_file(path("pieces/") + file)) << file;
  const json manifest = json::parse(read_file(path("pieces/manifest.json")));
  int pieces = 0;
  for (const json& stage : manifest["stages"]) {
    EXPECT_EQ("cpu", stage["device"]);
    EXPECT_TRUE(stage["ended"]);
    EXPECT_GT(stage["seconds"], 0);
    pieces += stage["pieces"].get<int>();
  }
  // A call that ends a stage begins the next one.
  EXPECT_EQ((std::set<std::string>{"data", "backbone", "explainer"}), names_of_stages(manifest));
  EXPECT_GE(pieces, calls);
  expect_refusal(command + "--minutes 0 --out " + path("other"), 2, "--minutes");
  expect_refusal(small_run + "--stage end --out " + path("other"), 2, "--stage");
}

using RunCommands = StayingProgram;

TEST_F(RunCommands, ARunOnAGpuThatIsNotThereDoesNotBegin) {
  expect_refusal("reproduce --profile smoke --device cuda:99 --out " + path("run"), 4, "--device=cuda:99");
  expect_refusal("reproduce --profile smoke --device gpu --out " + path("run"), 2, "--device=gpu");
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(ShardCommands, OneCommandAtATimeWritesIntoAFolder) {
  const std::string run = path("run");
  done(comparison + ("--out " + run));
  const FolderLock held(run, "test");
  for (const std::string& command : {comparison + ("--out " + run), "report " + run, "merge " + run})
    expect_refusal(command, 2, "another process is at this work");
}

TEST_F(ShardCommands, ARowThatHasChangedIsNamedByWhateverReadsIt) {
  const std::string run = path("run"), again = comparison + ("--out " + run);
  done(again);
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
  EXPECT_EQ(without_times(run + "/results.jsonl").size(), without_times(file("rows", rows)).size());
}

class ReferenceStudy : public StayingProgram {
 protected:
  static void TearDownTestSuite() { fs::remove_all(made_); }

  /// A small run in run/, a copy of the one that the first test makes, and what is kept of it in kept/, which has rows
  /// and backbone, but no attributions and no data.
  void make_run() const {
    if (!fs::exists(made_)) done(small_run + "--seed 3 --out " + made_.string());
    fs::copy(made_, path("run"), fs::copy_options::recursive);
    done("report " + path("run") + " -q --keep " + path("kept"));
    fs::copy(path("run/backbone/model.safetensors"), path("kept/backbone/model.safetensors"));
    auto manifest = nlohmann::ordered_json::parse(read_file(path("kept/manifest.json")));
    manifest["rows"].erase("references.jsonl");
    file("kept/manifest.json", manifest.dump());
    fs::remove(path("kept/references.jsonl.gz"));
  }

  std::string references(const std::string& folder) const {
    return runs::read_rows_file(path(folder + "/references.jsonl.gz"));
  }

  /// What the run stored, in float32.
  std::string stored() const {
    std::string lines;
    for (const runs::ValuesRow& row : runs::read_results(path("run")).values) {
      if (row.method == runs::reference_method) lines += runs::to_json_line(runs::in_float32(row)) + '\n';
    }
    return lines;
  }

  static inline const fs::path made_ = fs::temp_directory_path() / ("opshap_references_" + std::to_string(getpid()));
};

TEST_F(ReferenceStudy, GivesTheReferencesThatTheRunStored) {
  make_run();
  const Outcome outcome = done("study references --run " + path("kept") + " -q --out " + path("out"));
  EXPECT_TRUE(has(outcome.out, "4 of 4 references agree"));
  EXPECT_NE("", stored());
  EXPECT_EQ(stored(), references("out"));
  EXPECT_TRUE(is_there(path("out/data/burgers1d.h5"))) << "drawn with the settings and the seed of the run";
  EXPECT_TRUE(has(read_file(path("out/references.md")), "4 of 4 references agree"));
  ASSERT_EQ(0, opshap("study references --run " + path("kept") + " -q --out " + path("out")).code) << "it is finished";

  fs::copy(path("out/references.jsonl.gz"), path("kept/references.jsonl.gz"));
  done("report " + path("kept"));
  EXPECT_EQ(read_file(path("run/claims.json")), read_file(path("kept/claims.json")));
}

TEST_F(ReferenceStudy, IsDoneInPartsAndGoesOn) {
  make_run();
  const std::string command = "study references --run " + path("run") + " -q --out " + path("out");
  for (const char* shard : {"0/2", "1/2"}) done(command + " --shard " + shard);
  done("merge " + path("out"));
  done(command);
  EXPECT_EQ(stored(), references("out"));
}

TEST_F(ReferenceStudy, SaysWhichInputsDoNotAgree) {
  make_run();
  // The rows of another reference: one that had an evaluation more on one input.
  std::string rows = read_file(path("run/results.jsonl"));
  const std::size_t key = rows.find("\"reference_evaluations\":", rows.find("\"method\":\"uniform\""));
  rows.insert(rows.find(':', key) + 1, "1");
  file("run/results.jsonl", without_checksum(rows));
  auto manifest = nlohmann::ordered_json::parse(read_file(path("run/manifest.json")));
  manifest.erase("rows");
  file("run/manifest.json", manifest.dump());
  const Outcome outcome = done("study references --run " + path("run") + " -q --out " + path("out"));
  EXPECT_TRUE(has(outcome.out, "3 of 4 references agree"));
  EXPECT_TRUE(has(read_file(path("out/references_differences.csv")), "\n16,")) << outcome.out;
}

TEST_F(ReferenceStudy, RefusesAnotherOperatorAndAnotherDataSet) {
  make_run();
  const std::string study = "study references -q --out " + path("out") + " --run ";
  const std::string another = OPSHAP_SOURCE_DIR "/reports/desk/burgers1d/backbone/model.safetensors";
  expect_refusal(study + path("run") + " --operator " + another, 3, "operator or data");
  done(small_run + "--stage explainer --seed 4 --out " + path("other"));
  expect_refusal(study + path("run") + " --data " + path("other/data/burgers1d.h5"), 3, "operator or data");
  expect_refusal(study + path("nowhere"), 3, "nowhere");
  expect_refusal("study references --run " + path("run"), 2, "--out");
  expect_refusal(study + path("run") + " --seed 3", 2, "--seed");
}

}  // namespace
}  // namespace opshap
