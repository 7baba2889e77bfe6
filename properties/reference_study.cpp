// `opshap study references`: a run's references computed again are those that it stored.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "runs/results.hpp"
#include "runs/row_files.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

class ReferenceStudy : public Program {
 protected:
  /// A small run in run/, and a copy of it in kept/ that has rows and backbone, but no attributions and no data.
  void make_run() const {
    const Outcome made = opshap(std::string("reproduce --profile ") + OPSHAP_SOURCE_DIR +
                                "/properties/support/small_burgers.toml --seed 3 -q --out " + path("run"));
    ASSERT_EQ(0, made.code) << made.err;
    ASSERT_EQ(0, opshap("report " + path("run") + " -q --keep " + path("kept")).code);
    fs::copy(path("run/backbone/model.safetensors"), path("kept/backbone/model.safetensors"));
    json manifest = json::parse(read_file(path("kept/manifest.json")));
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
};

TEST_F(ReferenceStudy, GivesTheReferencesThatTheRunStored) {
  make_run();
  const Outcome outcome = opshap("study references --run " + path("kept") + " -q --out " + path("out"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_NE(std::string::npos, outcome.out.find("4 of 4 references agree")) << outcome.out;
  EXPECT_NE("", stored());
  EXPECT_EQ(stored(), references("out"));
  EXPECT_TRUE(is_there(path("out/data/burgers1d.h5"))) << "drawn with the settings and the seed of the run";
  EXPECT_NE(std::string::npos, read_file(path("out/references.md")).find("4 of 4 references agree"));
  ASSERT_EQ(0, opshap("study references --run " + path("kept") + " -q --out " + path("out")).code) << "it is finished";

  fs::copy(path("out/references.jsonl.gz"), path("kept/references.jsonl.gz"));
  ASSERT_EQ(0, opshap("report " + path("kept")).code);
  EXPECT_EQ(read_file(path("run/claims.json")), read_file(path("kept/claims.json")));
}

TEST_F(ReferenceStudy, IsDoneInPartsAndGoesOn) {
  make_run();
  const std::string command = "study references --run " + path("run") + " -q --out " + path("out");
  for (const char* shard : {"0/2", "1/2"}) {
    const Outcome outcome = opshap(command + " --shard " + shard);
    ASSERT_EQ(0, outcome.code) << outcome.err;
  }
  ASSERT_EQ(0, opshap("merge " + path("out")).code);
  const Outcome outcome = opshap(command);
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_EQ(stored(), references("out"));
}

TEST_F(ReferenceStudy, SaysWhichInputsDoNotAgree) {
  make_run();
  // The rows of another reference: one that had an evaluation more on one input.
  std::string rows = read_file(path("run/results.jsonl"));
  const std::string uniform = "\"method\":\"uniform\"";
  const std::size_t key = rows.find("\"reference_evaluations\":", rows.find(uniform));
  rows.insert(rows.find(':', key) + 1, "1");
  file("run/results.jsonl", std::regex_replace(rows, std::regex(",\"crc32c\":\"[0-9a-f]{8}\""), ""));
  json manifest = json::parse(read_file(path("run/manifest.json")));
  manifest.erase("rows");
  file("run/manifest.json", manifest.dump());
  const Outcome outcome = opshap("study references --run " + path("run") + " -q --out " + path("out"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_NE(std::string::npos, outcome.out.find("3 of 4 references agree")) << outcome.out;
  EXPECT_NE(std::string::npos, read_file(path("out/references_differences.csv")).find("\n16,")) << outcome.out;
}

TEST_F(ReferenceStudy, RefusesAnotherOperatorAndAnotherDataSet) {
  make_run();
  const std::string study = "study references -q --out " + path("out") + " --run ";
  expect_refusal(study + path("run") + " --operator " + path("run/explainer/model.safetensors"), 3, "operator or data");
  ASSERT_EQ(0, opshap(std::string("reproduce --profile ") + OPSHAP_SOURCE_DIR +
                      "/properties/support/small_burgers.toml --train-only --seed 4 -q --out " + path("other"))
                   .code);
  expect_refusal(study + path("run") + " --data " + path("other/data/burgers1d.h5"), 3, "operator or data");
  expect_refusal(study + path("nowhere"), 3, "nowhere");
  expect_refusal("study references --run " + path("run"), 2, "--out");
  expect_refusal(study + path("run") + " --seed 3", 2, "--seed");
}

}  // namespace
}  // namespace opshap
