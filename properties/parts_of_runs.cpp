// A run that processes did in parts is the run that one process would have done.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "evaluation/comparison_run.hpp"
#include "evaluation/evaluate.hpp"
#include "games/registry.hpp"
#include "games/unanimity.hpp"
#include "runs/manifest.hpp"
#include "runs/merge_parts.hpp"
#include "runs/part.hpp"
#include "support/run_folder.hpp"
#include "support/stopping_operator.hpp"
#include "support/text.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

using Json = nlohmann::ordered_json;

runs::Beginning beginning(const std::string& commit = "abc", const std::string& engine = "avx2", int n = 3) {
  return {.who = "test",
          .schema = "opshap.test/1",
          .command = {"opshap", "test"},
          .seed = 1,
          .commit = commit,
          .dirty = false,
          .environment = {{"processor", "one"}, {"blas", "OpenBLAS, 70 GFLOP/s a thread"}, {"engine", engine}},
          .subject = {{"settings", {{"n", n}}}}};
}

class PartsOfRuns : public RunFolder {
 protected:
  /// Does a part as commands do: `units` of them, each by its number.
  static void work(const fs::path& run, const runs::Part& part, int units = 7, const runs::Beginning& how = beginning(),
                   bool to_the_end = true) {
    runs::Manifest manifest(run, part, how, [](const Json&) { return std::string(); });
    manifest.stage("work", [&] {
      runs::Units done(part.folder(run) / "units", "test", "identity");
      for (int unit = 0; unit < units; ++unit)
        if (part.has(unit)) done.store(std::to_string(unit), "unit " + std::to_string(unit));
    });
    if (to_the_end) manifest.finish();
  }

  /// What merge_parts() says, which must be of the kind E.
  template <typename E = InvalidArgument>
  std::string refusal(const std::vector<fs::path>& others = {}) const {
    return opshap::refusal<E>([&] { runs::merge_parts(run_, others); });
  }

  fs::path run_ = folder_ / "run";
};

TEST_F(PartsOfRuns, EveryUnitBelongsToOnePartAlone) {
  for (std::int64_t of = 1; of <= 5; ++of)
    for (std::int64_t unit = 0; unit < 12; ++unit) {
      int owners = 0;
      for (std::int64_t index = 0; index < of; ++index) owners += runs::Part{index, of}.has(unit) ? 1 : 0;
      EXPECT_EQ(1, owners) << unit << " of " << of;
    }
  EXPECT_EQ(run_, runs::Part().folder(run_));
  EXPECT_EQ(run_ / "parts" / "2-of-4", runs::Part::parse("test", "2/4").folder(run_));
}

TEST_F(PartsOfRuns, MergedUnitsAreThoseOfOneProcess) {
  for (const std::int64_t index : {2, 0, 1}) work(run_, {index, 3});
  EXPECT_EQ(3, runs::merge_parts(run_));
  const runs::Units units(run_ / "units", "test", "identity");
  for (int unit = 0; unit < 7; ++unit) EXPECT_EQ("unit " + std::to_string(unit), units.bytes(std::to_string(unit)));
  EXPECT_FALSE(fs::exists(run_ / "parts"));
  EXPECT_FALSE(fs::exists(run_ / "parts.tmp"));
  const Json manifest = Json::parse(read_file(run_ / "manifest.json"));
  EXPECT_EQ("opshap.test/1", manifest["schema"]);
  EXPECT_FALSE(manifest.contains("part"));
  EXPECT_FALSE(manifest.contains("finished"));
  ASSERT_EQ(3u, manifest["parts"].size());
  double seconds = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(i, manifest["parts"][i]["index"]);
    EXPECT_EQ("abc", manifest["parts"][i]["commit"]);
    seconds += manifest["parts"][i]["stages"][0]["seconds"].get<double>();
  }
  EXPECT_EQ("work", manifest["stages"][0]["name"]);
  EXPECT_EQ(3, manifest["stages"][0]["pieces"]);
  EXPECT_DOUBLE_EQ(seconds, manifest["stages"][0]["seconds"].get<double>());
}

TEST_F(PartsOfRuns, PartsOfOtherMachinesAreFoundInCopiesOfTheRun) {
  const fs::path elsewhere = run_.parent_path() / "elsewhere";
  work(run_, {0, 2});
  work(elsewhere, {1, 2});
  EXPECT_EQ(2, runs::merge_parts(run_, {elsewhere}));
  EXPECT_EQ("unit 3", runs::Units(run_ / "units", "test", "identity").bytes("3"));
  EXPECT_TRUE(fs::exists(elsewhere / "parts")) << "copies stay as they are";
}

TEST_F(PartsOfRuns, AMergeThatWasKilledCanBeMadeAgain) {
  for (const std::int64_t index : {0, 1}) work(run_, {index, 2});
  const fs::path kept = run_.parent_path() / "kept";
  fs::create_directories(kept);
  fs::copy(run_ / "parts", kept / "parts", fs::copy_options::recursive);
  runs::merge_parts(run_);
  const std::string manifest = read_file(run_ / "manifest.json");
  // Killed after the manifest was written, before units/ was put in its place.
  fs::rename(kept / "parts", run_ / "parts");
  fs::remove_all(run_ / "units");
  write_file(run_ / "parts.tmp" / "units" / "0", std::string_view("half"));
  EXPECT_EQ(2, runs::merge_parts(run_));
  EXPECT_EQ(manifest, read_file(run_ / "manifest.json")) << "the parts are booked once";
  EXPECT_EQ("unit 0", runs::Units(run_ / "units", "test", "identity").bytes("0"));
}

TEST_F(PartsOfRuns, AMergeCanBeMadeAgainWhereverItWasKilled) {
  for (const std::int64_t index : {0, 1}) work(run_, {index, 2});
  EXPECT_EQ(2, runs::merge_parts(run_));
  // While it removed the parts.
  write_file(run_ / "parts.merged.tmp" / "0-of-2" / "results.jsonl", std::string_view("half"));
  EXPECT_EQ(2, runs::merge_parts(run_));
  EXPECT_FALSE(fs::exists(run_ / "parts.merged.tmp"));
  EXPECT_EQ("unit 0", runs::Units(run_ / "units", "test", "identity").bytes("0"));
}

TEST_F(PartsOfRuns, NamesOfUnitsThatLeadElsewhereAreRefused) {
  for (const std::int64_t index : {0, 1}) work(run_, {index, 2});
  const fs::path units = runs::Part{0, 2}.folder(run_) / "units";
  const std::string list = read_file(units / "manifest.jsonl");
  for (const std::string name : {"../../../pwned", "/tmp/pwned", "..", ".", "", "a/b", ".hidden"}) {
    write_file(units.parent_path().parent_path().parent_path().parent_path() / "pwned", std::string_view("unit"));
    write_file(units / "manifest.jsonl",
               list + Json{{"unit", name}, {"work_xxh64", "0"}, {"xxh64", xxh64("unit")}}.dump() + '\n');
    EXPECT_TRUE(has(refusal<DataError>(), "is no name of a file"));
    EXPECT_FALSE(fs::exists(run_ / "pwned"));
  }
  for (const char* line : {"{\"unit\":[],\"xxh64\":\"0\"}", "{\"unit\":\"a\",\"xxh64\":0}", "[", "null", "0.5"}) {
    write_file(units / "manifest.jsonl", list + line + '\n');
    EXPECT_TRUE(has(refusal<DataError>(), "has a broken line"));
  }
}

TEST_F(PartsOfRuns, ManifestsOfTheWrongTypesAreRefused) {
  for (const std::int64_t index : {0, 1}) work(run_, {index, 2});
  const fs::path file = runs::Part{0, 2}.folder(run_) / "manifest.json";
  const std::string text = read_file(file);
  for (const char* key : {"commit", "finished", "resumed", "environment", "seconds", "part", "schema", "settings"})
    for (const Json& value : {Json(0.5), Json::array({1}), Json{{"blas", 1}, {"index", "x"}}}) {
      Json json = Json::parse(text);
      json[key] = value;
      write_file(file, json.dump());
      EXPECT_NE("", refusal<Error>()) << key << value;  // also another schema or other settings than the other part
    }
}

TEST_F(PartsOfRuns, WhatIsNoWholeIsRefused) {
  EXPECT_TRUE(has(refusal<DataError>(), "has no parts"));
  work(run_, {0, 3});
  work(run_, {2, 3}, 7, beginning(), false);
  EXPECT_TRUE(has(refusal(), "part=2/3 in "));
  EXPECT_TRUE(has(refusal(), "is not finished"));
  work(run_, {2, 3});
  EXPECT_TRUE(has(refusal(), "part=1/3 (is missing)"));
  const fs::path elsewhere = run_.parent_path() / "elsewhere";
  work(elsewhere, {0, 3});
  EXPECT_TRUE(has(refusal({elsewhere}), "as well"));
  work(run_, {1, 2});
  EXPECT_TRUE(has(refusal(), "is one of"));
  EXPECT_FALSE(fs::exists(run_ / "units"));
  EXPECT_FALSE(fs::exists(run_ / "manifest.json"));
}

TEST_F(PartsOfRuns, PartsOfAnotherProgramSettingOrLibraryAreRefused) {
  const std::vector<std::pair<runs::Beginning, std::string>> others = {
      {beginning("abd"), "was done by commit abd"},
      {beginning("abc", "avx512"), "engine=avx512, but part 0/2 had avx2"},
      {beginning("abc", "avx2", 4), "has another settings"}};
  for (const auto& [how, why] : others) {
    fs::remove_all(run_ / "parts");
    work(run_, {0, 2});
    work(run_, {1, 2}, 7, how);
    EXPECT_TRUE(has(refusal(), why));
  }
  // Begun by one commit, ended by another.
  fs::remove_all(run_ / "parts");
  work(run_, {0, 2});
  work(run_, {1, 2});
  work(run_, {1, 2}, 7, beginning("abd"));
  EXPECT_TRUE(has(refusal(), "was done by commit abd"));
}

TEST_F(PartsOfRuns, UnitsThatChangedAndUnitsThatDifferAreRefused) {
  for (const std::int64_t index : {0, 1}) work(run_, {index, 2});
  const runs::Part second{1, 2};
  write_file(second.folder(run_) / "units" / "3", std::string_view("unit 4"));
  EXPECT_TRUE(has(refusal<DataError>(), "unit=3 (changed on disk"));
  work(run_, {1, 2});
  runs::Units(second.folder(run_) / "units", "test", "identity").store("0", "another result");
  EXPECT_TRUE(has(refusal(), "unit=0 (another part has done it too"));
}

TEST_F(PartsOfRuns, ARunThatWasAlsoDoneWholeIsLeftAlone) {
  for (const std::int64_t index : {0, 1}) work(run_, {index, 2});
  work(run_, {}, 3);
  const std::string manifest = read_file(run_ / "manifest.json");
  EXPECT_TRUE(has(refusal(), "was also done without --shard"));
  EXPECT_EQ(manifest, read_file(run_ / "manifest.json"));
}

class PartsOfAnEvaluation : public PartsOfRuns {
 protected:
  PartsOfAnEvaluation() {
    data_.pde = "burgers1d";
    data_.inputs = FieldBatch::zeros(Domain::unit({16}), 3, 1);
    data_.content_hash = "0";
    Rng rng(3, "parts test");
    for (double& value : data_.inputs.batch().values) value = rng.normal();
    data_.targets = backbone_.apply(data_.inputs.batch());
    data_.split = {data::Split::test, data::Split::test, data::Split::test};
    data_.resolution_slot = {0, 1, 0};
  }

  void evaluate(const fs::path& run, const runs::Part& part, const Operator& backbone) const {
    runs::Manifest manifest(run, part, beginning(), [](const Json&) { return std::string(); });
    evaluation::EvaluationSettings settings;
    settings.resolutions = {8, 16};
    settings.inputs = 3;
    settings.methods = {"permutation", "kernel_shap_paired"};
    settings.minimum_budget = 64;
    settings.faithfulness_coalitions = 50;
    manifest.stage("evaluation", [&] {
      evaluation::evaluate({.backbone = backbone, .data = data_, .settings = settings, .seed = 5}, part.folder(run),
                           part);
    });
    manifest.finish();
  }

  WeightedMeanOperator backbone_{0.5};
  data::Dataset data_;
};

TEST_F(PartsOfAnEvaluation, GiveTheRowsOfTheWholeForAnyNumberOfThem) {
  const fs::path whole = run_.parent_path() / "whole";
  evaluate(whole, {}, backbone_);
  for (const std::int64_t of : {2, 4, 9}) {  // of six units
    const fs::path run = run_.parent_path() / std::to_string(of);
    for (std::int64_t index = of - 1; index >= 0; --index) evaluate(run, {index, of}, backbone_);
    EXPECT_EQ(of, runs::merge_parts(run));
    const StoppingOperator idle(12);  // for the predictions of six inputs and no coalition
    evaluate(run, {}, idle);
    for (const char* file : {"attributions.jsonl", "fields.jsonl"})
      EXPECT_EQ(read_file(whole / file), read_file(run / file)) << of << " parts, " << file;
    EXPECT_EQ(without_times(whole / "results.jsonl"), without_times(run / "results.jsonl")) << of;
  }
}

TEST_F(PartsOfAnEvaluation, APartThatWasKilledGoesOn) {
  const fs::path whole = run_.parent_path() / "whole";
  evaluate(whole, {}, backbone_);
  evaluate(run_, {0, 2}, backbone_);
  const StoppingOperator stopping(20);
  EXPECT_THROW(evaluate(run_, {1, 2}, stopping), Stopped);
  EXPECT_TRUE(has(refusal(), "part=1/2 in "));
  evaluate(run_, {1, 2}, backbone_);
  runs::merge_parts(run_);
  evaluate(run_, {}, backbone_);
  EXPECT_EQ(read_file(whole / "attributions.jsonl"), read_file(run_ / "attributions.jsonl"));
}

TEST_F(PartsOfRuns, AComparisonIsReadFromItsFolderAsItWasRun) {
  Rng rng(3, "parts test");
  const auto game = games::random_unanimity_sum(12, rng);
  evaluation::ComparisonPlan plan{
      .game = *game, .name = "unanimity_sum", .budgets = {64, 96, 128}, .repeats = 7, .seed = 9};
  for (const char* name : {"permutation", "stratified", "svarm", "msr", "kernel_shap_unbiased"})
    plan.methods.push_back(methods::resolve(name));
  const auto run = evaluation::run_comparison(plan, {}, run_, ""), read = evaluation::read_comparison(run_, plan.seed);
  EXPECT_EQ(run.comparison.markdown(), read.comparison.markdown());
  EXPECT_EQ(run.truth.values, read.truth.values);
  EXPECT_EQ(run.truth.rounding, read.truth.rounding);
  fs::remove(run_ / "results.jsonl");
  EXPECT_THROW(evaluation::read_comparison(run_, plan.seed), DataError);
}

TEST_F(PartsOfRuns, OfAComparisonGiveItsRowsInItsOrder) {
  Rng rng(3, "parts test");
  const auto game = games::random_unanimity_sum(12, rng);
  const auto compare = [&](const fs::path& run, const runs::Part& part) {
    runs::Manifest manifest(run, part, beginning(), [](const Json&) { return std::string(); });
    const evaluation::ComparisonPlan plan{
        .game = *game,
        .name = "unanimity_sum",
        .methods = {methods::resolve("permutation"), methods::resolve("kernel_shap_paired")},
        .budgets = {64, 128},
        .repeats = 3};
    if (part.whole())
      evaluation::run_comparison(plan, {}, run, "");
    else
      evaluation::run_part_of_comparison(plan, part, {}, part.folder(run));
    manifest.finish();
  };
  const fs::path whole = run_.parent_path() / "whole";
  compare(whole, {});
  for (const std::int64_t of : {3, 20}) {  // of twelve runs
    const fs::path run = run_.parent_path() / std::to_string(of);
    for (std::int64_t index = 0; index < of; ++index) compare(run, {index, of});
    runs::merge_parts(run);
    compare(run, {});
    for (const char* file : {"truth.json", "tables/errors.csv"})
      EXPECT_EQ(read_file(whole / file), read_file(run / file)) << of << " parts, " << file;
    EXPECT_EQ(without_times(whole / "results.jsonl"), without_times(run / "results.jsonl")) << of;
  }
}

}  // namespace
}  // namespace opshap
