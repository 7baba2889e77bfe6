// Units of work are done once, whole and by one process; a manifest knows its run again. Rows survive their files, also
// those of before; what cannot be a row is named.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "runs/manifest.hpp"
#include "runs/part.hpp"
#include "runs/results.hpp"
#include "runs/run.hpp"
#include "support/expressions.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using Json = nlohmann::ordered_json;

class RunFolders : public RunFolder {
 protected:
  Json manifest() const { return Json::parse(read_file(folder_ / "manifest.json")); }

  static runs::Beginning beginning(std::uint64_t seed = 1) {
    return {.who = "test",
            .schema = "opshap.test/1",
            .command = {"/somewhere/opshap-networks", "test"},
            .seed = seed,
            .commit = "abc",
            .dirty = false,
            .environment = {{"processor", "one"}},
            .subject = {{"settings", {{"n", 3}}}}};
  }

  runs::OtherSettings same_ = {};  ///< those of the beginning
};

TEST_F(RunFolders, AUnitIsMadeOnce) {
  int made = 0;
  const auto make = [&made] { return "unit " + std::to_string(++made); };
  {
    runs::Units units(folder_ / "units", "test", "work");
    EXPECT_EQ("", units.bytes("a"));
    EXPECT_EQ("unit 1", units.once("a", make));
    EXPECT_EQ("unit 1", units.once("a", make));
  }
  runs::Units again(folder_ / "units", "test", "work");
  EXPECT_EQ("unit 1", again.once("a", make));
  EXPECT_EQ(1, made);
  again.finish();
  EXPECT_FALSE(fs::exists(folder_ / "units"));
}

TEST_F(RunFolders, UnitsThatChangedOrBelongToOtherWorkAreNotDone) {
  runs::Units(folder_ / "units", "test", "work").store("a", "bytes");
  EXPECT_EQ("bytes", runs::Units(folder_ / "units", "test", "work").bytes("a"));
  EXPECT_EQ("", runs::Units(folder_ / "units", "test", "other work").bytes("a"));
  write_file(folder_ / "units" / "a", std::string_view("bytez"));
  EXPECT_EQ("", runs::Units(folder_ / "units", "test", "work").bytes("a"));
  fs::remove(folder_ / "units" / "a");
  EXPECT_EQ("", runs::Units(folder_ / "units", "test", "work").bytes("a"));
}

TEST_F(RunFolders, OneProcessAtATimeWorksInAFolder) {
  {
    const runs::Units units(folder_ / "units", "test", "work");
    EXPECT_THROW(runs::Units(folder_ / "units", "test", "work"), InvalidArgument);
  }
  EXPECT_FALSE(fs::exists(folder_ / "units")) << "a folder without a unit is removed";
  EXPECT_NO_THROW(runs::Units(folder_ / "units", "test", "work"));
}

TEST_F(RunFolders, AManifestHoldsWhatRanWhereAndHow) {
  runs::Manifest manifest(folder_, beginning(), same_);
  EXPECT_EQ(7, manifest.stage("first", [] { return 7; }));
  manifest.stage("second", [] {});
  EXPECT_THROW(manifest.stage("third", [] { throw NumericalError("no"); }), NumericalError);
  const Json found = this->manifest();
  for (const char* key :
       {"schema", "settings", "seed", "command", "commit", "dirty", "started", "stages", "environment"})
    EXPECT_TRUE(found.contains(key)) << key;
  EXPECT_EQ("opshap", found["command"][0]) << "the program's own path is nobody's business";
  EXPECT_EQ(3u, found["stages"].size());
  EXPECT_EQ("first", found["stages"][0]["name"]);
  EXPECT_TRUE(found["stages"][0]["ended"]);
  EXPECT_FALSE(found["stages"][2]["ended"]);
  EXPECT_FALSE(found.contains("resumed"));
  const std::string log = read_file(folder_ / "log.jsonl");
  EXPECT_EQ(6, std::count(log.begin(), log.end(), '\n'));
  EXPECT_TRUE(has(log, "\"stage\":\"third\",\"event\":\"stopped\""));
}

TEST_F(RunFolders, ARunIsKnownAgainAndAnotherIsRefused) {
  runs::Manifest(folder_, beginning(), same_).stage("first", [] {});
  const double seconds = manifest()["stages"][0]["seconds"];
  runs::Beginning elsewhere = beginning();
  elsewhere.environment = {{"processor", "two"}};
  runs::Manifest(folder_, elsewhere, same_).stage("first", [] {});
  EXPECT_EQ("two", manifest()["resumed"][0]["environment"]["processor"]);
  EXPECT_GE(manifest()["stages"][0]["seconds"], seconds) << "sittings add up";
  EXPECT_EQ(1, manifest()["stages"][0]["pieces"]) << "it had ended before";
  {
    runs::Manifest brought(folder_, beginning(), same_);
    brought.took_at_least("first", 3600);
    EXPECT_EQ(3600, manifest()["stages"][0]["seconds"]) << "a training of another folder";
    brought.took_at_least("first", 1800);
  }
  EXPECT_EQ(3600, manifest()["stages"][0]["seconds"]);
  EXPECT_FALSE(manifest()["resumed"][1].contains("environment")) << "where it is the first one's";

  const std::string before = read_file(folder_ / "manifest.json");
  EXPECT_THROW(runs::Manifest(folder_, beginning(2), same_), InvalidArgument);
  runs::Beginning other = beginning();
  other.subject["settings"]["n"] = 4;
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { runs::Manifest(folder_, other, same_); }), "n: 3, and now 4"));
  other.schema = "opshap.test/2";
  EXPECT_THROW(runs::Manifest(folder_, other, same_), DataError);
  EXPECT_EQ(before, read_file(folder_ / "manifest.json"));
  for (const char* text : {"", "[]", "{}", "{\"schema\":7,\"settings\":{}}", "{\"schema\":\"opshap.test/1\"}"}) {
    write_file(folder_ / "manifest.json", std::string_view(text));
    EXPECT_THROW(runs::Manifest(folder_, beginning(), same_), DataError) << text;
  }
}

// A wrong option that is refused inside the first stage, and then corrected.
TEST_F(RunFolders, ARunThatLeftNothingBindsNobody) {
  EXPECT_THROW(runs::Manifest(folder_, beginning(), same_).stage("first", [] { throw NumericalError("no"); }),
               NumericalError);
  runs::Beginning other = beginning(2);
  other.subject["settings"] = {{"long", std::string(200, 'a') + "b" + std::string(200, 'a')}};
  EXPECT_THROW(runs::Manifest(folder_, other, same_).stage("first", [] { throw NumericalError("no"); }),
               NumericalError);
  EXPECT_EQ(2, manifest()["seed"]);
  EXPECT_FALSE(manifest().contains("resumed"));

  write_file(folder_ / "rows", std::string_view("one"));
  runs::Beginning third = other;
  third.subject["settings"] = {{"long", std::string(200, 'a') + "c" + std::string(200, 'a')}};
  const std::string told = refusal<InvalidArgument>([&] { runs::Manifest(folder_, third, same_); });
  EXPECT_TRUE(has(told, "aaabaaa") && has(told, "aaacaaa")) << "the place where long settings differ: " << told;
  EXPECT_GT(500u, told.size());
  fs::remove(folder_ / "rows");
  runs::Manifest(folder_, other, same_).stage("first", [] {});
  EXPECT_THROW(runs::Manifest(folder_, third, same_), InvalidArgument) << "a stage has ended";
}

/// Uses a processor for so many seconds of its own time.
void work_for(double seconds) {
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  for (const double begun = used(); used() < begun + seconds;) {
  }
}

// Whatever else runs on the machine can only add to the time of others.
TEST_F(RunFolders, ASittingHasItsOwnProcessorTimeAndThatOfOthers) {
  constexpr double worked = 0.3, tick = 0.02;  // the system counts in ticks of 10 ms, and a difference has two ends
  auto sitting = std::make_unique<runs::Manifest>(folder_, beginning(), same_);
  std::array<int, 2> done{};
  ASSERT_EQ(0, pipe(done.data()));
  const pid_t other = fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    work_for(worked);
    [[maybe_unused]] const ssize_t told = write(done[1], "x", 1);
    pause();
  }
  sitting->stage("first", [] { work_for(worked); });
  sitting->stage("waits for it", [&done] {
    char word = 0;
    EXPECT_EQ(1, read(done[0], &word, 1));
  });
  for (const int end : done) close(end);
  const Json load = manifest()["load"];
  EXPECT_GE(load["cpu_seconds"], worked);
  EXPECT_GE(load["other_cpu_seconds"], worked - tick);
  EXPECT_GE(load["wall_seconds"], worked);
  EXPECT_GE(load["processors"], 1);
  kill(other, SIGKILL);
  ASSERT_EQ(other, waitpid(other, nullptr, 0));
  sitting->stage("last", [] {});
  EXPECT_GE(manifest()["load"]["cpu_seconds"], 2 * worked - tick) << "a child that has ended is the sitting's own";
  sitting.reset();
  runs::Manifest(folder_, beginning(), same_).stage("again", [] {});
  EXPECT_TRUE(manifest()["resumed"][0].contains("load"));
  EXPECT_GE(manifest()["load"]["cpu_seconds"], 2 * worked - tick) << "the first sitting keeps its own";
}

TEST(ProcessorTime, CountsWhatTheProcessorsWereNotIdle) {
  const auto seconds = [](int ticks) { return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)); };
  // user nice system idle iowait irq softirq steal guest guest_nice; guests are in the first two already.
  EXPECT_EQ(seconds(1 + 2 + 4 + 32 + 64 + 128),
            processor_time("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 1 1 1 1 1 1 1 1 1\n").all);
  EXPECT_EQ(seconds(1 + 2 + 4), processor_time("cpu0 9 9 9 9\ncpu 1 2 4 8\n").all) << "what is not there is 0";
  EXPECT_EQ(0, processor_time("intr 5\n").all);
  const ProcessorTime earlier{.own = 1, .all = 10, .wall = 100, .processors = 2},
      later{.own = 4, .all = 12, .wall = 103};
  EXPECT_EQ(3, later.since(earlier).own);
  EXPECT_EQ(0, later.since(earlier).of_others()) << "ticks may say less than our own time";
  EXPECT_EQ(2, earlier.since({.own = 1, .all = 8}).of_others());
}

TEST(Sitting, KnowsTheShareOfOthers) {
  EXPECT_FALSE(runs::Sitting{}.others_share());
  const auto share = [](const runs::Load& load) { return runs::Sitting{.load = load}.others_share(); };
  EXPECT_EQ(0, share({.wall = 10, .own = 18, .others = 0, .processors = 2}));
  EXPECT_EQ(0.25, share({.wall = 10, .own = 5, .others = 5, .processors = 2}));
  EXPECT_FALSE(share({.wall = 0}));
}

TEST_F(RunFolders, OneProcessAtATimeHoldsAManifest) {
  {
    const runs::Manifest manifest(folder_, beginning(), same_);
    EXPECT_THROW(runs::Manifest(folder_, beginning(), same_), InvalidArgument);
    EXPECT_THROW(FolderLock(folder_, "report"), InvalidArgument);
  }
  write_file(folder_ / "results.jsonl.aB3-_9.tmp", std::string_view("of a writer that was killed"));
  EXPECT_NO_THROW(runs::Manifest(folder_, beginning(), same_));
  EXPECT_FALSE(fs::exists(folder_ / "results.jsonl.aB3-_9.tmp"));
}

TEST_F(RunFolders, RowsThatChangeWhenTheStageHasEndedAreNamed) {
  const auto work = [&] {
    write_file(folder_ / "results.jsonl", std::string_view("{\"a\":1}\n{\"a\":2}\n"));
    write_file(folder_ / "fields.jsonl", std::string_view("{\"b\":1}\n"));
  };
  const auto refused = [&] { return refusal<DataError>([&] { runs::Manifest(folder_, beginning(), same_); }); };
  runs::Manifest(folder_, beginning(), same_).stage("work", work);
  EXPECT_EQ(2, manifest()["rows"]["results.jsonl"]["rows"]);
  EXPECT_EQ("", refused());
  for (const char* text : {"{\"a\":1}\n{\"a\":3}\n", "{\"a\":1}\n", "{\"a\":1}\n{\"a\":2}\n{\"a\":2}\n", ""}) {
    write_file(folder_ / "results.jsonl", std::string_view(text));
    EXPECT_TRUE(has(refused(), "results.jsonl (has "));
  }
  work();
  fs::remove(folder_ / "fields.jsonl");
  EXPECT_TRUE(has(refused(), "fields.jsonl (is missing"));
  fs::remove(folder_ / "results.jsonl");
  EXPECT_EQ("", refused()) << "they are made anew";
  runs::Manifest again(folder_, beginning(), same_);
  again.stage("work", [&] {
    EXPECT_FALSE(manifest().contains("rows")) << "what a kill leaves now is not whole";
    work();
  });
  EXPECT_EQ(1, manifest()["rows"]["fields.jsonl"]["rows"]);
}

TEST_F(RunFolders, AFolderThatIsRemovedDuringTheWorkIsAnError) {
  const fs::path run = folder_ / "run";
  runs::Manifest manifest(run, beginning(), same_);
  EXPECT_THROW(manifest.stage("work", [&] { fs::remove_all(run); }), EnvironmentError);
  EXPECT_FALSE(fs::exists(run)) << "no half of a run is made anew";
  runs::Units units(folder_ / "units", "test", "work");
  units.store("a", "bytes");
  fs::remove_all(folder_ / "units");
  EXPECT_THROW(units.store("b", "bytes"), EnvironmentError);
  EXPECT_THROW(units.finish(), EnvironmentError);
  EXPECT_FALSE(fs::exists(folder_ / "units"));
}

runs::AttributionRow some_row() {
  runs::AttributionRow row;
  row.pde = "burgers1d";
  row.players = 32;
  row.sample = 7;
  row.method = "kernel_shap";
  row.access = "values";
  row.budget = 1024;
  row.distinct = 1000;
  row.evaluations = 1100;
  row.seed = std::numeric_limits<std::uint64_t>::max();
  row.game_seconds = 0.1;
  row.scores["pearson"] = Measured::of(1.0 / 3);
  row.scores["nrmse"] = Measured::of(0.25);
  row.scores["r2"] = Measured::undefined("v is the same on all coalitions");
  row.scores["efficiency_gap"] = Measured::of(1e-17);
  row.reference = "exact";
  return row;
}

runs::FieldsRow two_channels_on_a_plane() {
  return {.pde = "burgers1d",
          .sample = 1,
          .x = {0, 0.5, 0, 1, 2},
          .input = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6},
          .solution = {1, 0, 1, 0, 1, 0},
          .prediction = {1, 0, 1, 0, 1, 0.5},
          .shape = {2, 3},
          .input_channels = {"a", "b"},
          .output_channels = {"w"},
          .query = {0.5, 1},
          .player_of = {0, 0, 0, 1, 1, 1}};
}

/// Two triangles, each corner pair of which a player owns.
runs::FieldsRow on_two_triangles() {
  return {.pde = "airfoil",
          .sample = 2,
          .x = {0, 1, 1, 0, 0, 0, 1, 1},
          .input = {1, 2, 3, 4},
          .solution = {4, 3, 2, 1},
          .prediction = {4, 3, 2, 0},
          .shape = {0},
          .input_channels = {"mach"},
          .output_channels = {"mach"},
          .query = {1, 0},
          .player_of = {0, 0, 1, 1},
          .cells = {0, 1, 2, 0, 2, 3}};
}

TEST_F(RunFolder, RowsOfFlowsHaveTheirMesh) {
  runs::Results results = SyntheticRun().results();
  results.fields = {on_two_triangles()};
  results.operators.front().shape = {0};
  results.operators.front().query_errors = std::vector<double>(results.operators.front().relative_errors.size(), 0.5);
  results.operators.front().query_changes = std::vector<double>(results.operators.front().relative_errors.size(), 2);
  write_run(folder_, results, SyntheticRun().manifest());
  const runs::Results back = runs::read_results(folder_);
  const runs::FieldsRow& row = back.fields.front();
  EXPECT_EQ(runs::to_json_line(on_two_triangles()), runs::to_json_line(row));
  EXPECT_EQ(4, row.points());
  EXPECT_EQ(2, row.axes());
  EXPECT_EQ(2, row.players());
  EXPECT_EQ(Mesh::of_cells(2, {0, 0, 1, 0, 1, 1, 0, 1}, {0, 1, 2, 0, 2, 3}), row.mesh());
  const runs::OperatorRow& errors = back.operators.front();
  EXPECT_EQ(results.operators.front().query_errors, errors.query_errors);
  EXPECT_EQ(results.operators.front().query_changes, errors.query_changes);
  EXPECT_EQ("its own mesh", runs::shape_in_words(errors.shape));

  runs::FieldsRow corner = on_two_triangles(), grid = on_two_triangles(), few = on_two_triangles();
  corner.cells.back() = 4;
  grid.shape = {2, 2};
  few.input.pop_back();
  for (const runs::FieldsRow& broken : {corner, grid, few}) EXPECT_THROW(runs::to_json_line(broken), DataError);
}

TEST_F(RunFolder, RowsComeBackAsTheyWere) {
  runs::Results results = SyntheticRun().results();
  runs::AttributionRow extra = some_row();
  extra.sample = 99;
  extra.shape = {8, 4};
  extra.explainer = "wide";
  extra.own_share = 0.125;
  results.attributions.push_back(extra);
  results.fields.push_back(two_channels_on_a_plane());
  write_run(folder_, results, SyntheticRun().manifest());
  const runs::Results back = runs::read_results(folder_);
  const auto expect_same = [](const auto& expected, const auto& actual) {
    ASSERT_EQ(expected.size(), actual.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(runs::to_json_line(expected[i]), runs::to_json_line(actual[i]));
  };
  expect_same(results.attributions, back.attributions);
  expect_same(results.values, back.values);
  expect_same(results.operators, back.operators);
  expect_same(results.training, back.training);
  expect_same(results.fields, back.fields);
  EXPECT_EQ(some_row().seed, back.attributions.back().seed);
  EXPECT_EQ(some_row().scores["r2"], back.attributions.back().scores["r2"]);
  EXPECT_EQ(1.0 / 3, back.attributions.back().scores["pearson"].value);
  EXPECT_EQ((std::vector<int>{8, 4}), back.attributions.back().shape);
  EXPECT_EQ("wide", back.attributions.back().explainer);
  EXPECT_EQ(0.125, back.attributions.back().own_share);
  EXPECT_EQ(two_channels_on_a_plane().input_channels, back.fields.back().input_channels);
  EXPECT_EQ(two_channels_on_a_plane().query, back.fields.back().query);
  EXPECT_EQ(2, back.fields.back().players());
}

// A run folder of the time when there were one channel, one axis and one explainer.
TEST_F(RunFolder, RowsOfBeforeHaveTheShapeOfTheirPlayers) {
  write_file(folder_ / "results.jsonl",
             substituted(without_checksum(runs::to_json_line(some_row())), "\"shape\":\\[32\\],", "") +
                 "\n{\"schema\":\"opshap.operator/1\",\"pde\":\"p\",\"points\":16,"
                 "\"relative_errors\":[0.5]}\n");
  ASSERT_FALSE(has(read_file(folder_ / "results.jsonl"), "shape"));
  write_file(folder_ / "fields.jsonl",
             "{\"schema\":\"opshap.fields/1\",\"pde\":\"p\",\"sample\":3,\"x\":[0,0.25,0.5,0.75],"
             "\"input\":[1,2,3,4],\"solution\":[1,2,3,4],\"prediction\":[1,2,3,4]}\n");
  const runs::Results back = runs::read_results(folder_);
  EXPECT_EQ((std::vector<int>{32}), back.attributions.at(0).shape);
  EXPECT_FALSE(back.attributions.at(0).explainer);
  EXPECT_EQ((std::vector<int>{16}), back.operators.at(0).shape);
  EXPECT_EQ((std::vector<int>{4}), back.fields.at(0).shape);
  EXPECT_EQ((std::vector<double>{0.5}), back.fields.at(0).query);
  EXPECT_EQ((std::vector<std::string>{"u"}), back.fields.at(0).input_channels);
}

TEST_F(RunFolder, ShapesThatDoNotFitAreNamed) {
  const std::string row = without_checksum(runs::to_json_line(some_row())),
                    fields = without_checksum(runs::to_json_line(two_channels_on_a_plane()));
  const std::map<std::string, std::string> broken = {
      {substituted(row, "\"shape\":\\[32\\]", "\"shape\":[4,4]"), "shape=4 × 4 (has 16 points for 32 players)"},
      {substituted(row, "\"shape\":\\[32\\]", "\"shape\":[32,0]"), "shape=32 × 0 (an axis has"},
      {substituted(row, "\"shape\":\\[32\\]", "\"shape\":32"), "shape (is not a list)"},
      {substituted(fields, "\"shape\":\\[2,3\\]", "\"shape\":[3,3]"),
       "x=5 coordinates (the axes of shape 3 × 3 have 6)"},
      {substituted(fields, "\\[\"a\",\"b\"\\]", "[\"a\"]"), "input=12 values (1 channels of 6 points)"},
      {substituted(fields, "\"query\":\\[[^\\]]*\\]", "\"query\":[0.5]"), "query=1 coordinates (the grid has 2 axes)"},
      {substituted(fields, "\"player_of\":\\[0,", "\"player_of\":["), "player_of=5 labels (the grid has 6 points)"},
  };
  ASSERT_EQ(7u, broken.size()) << "each change changed something of its own";
  for (const auto& [line, complaint] : broken) {
    write_file(folder_ / "results.jsonl", line + "\n");
    EXPECT_TRUE(has(refusal<DataError>([&] { runs::read_results(folder_); }), complaint));
  }
}

TEST_F(RunFolder, ARepeatedKeyKeepsTheLastRowInThePlaceOfTheFirst) {
  runs::AttributionRow first = some_row(), other = some_row(), again = some_row();
  other.budget = std::nullopt;
  again.scores["nrmse"] = Measured::of(0.5);
  write_file(folder_ / "results.jsonl",
             runs::to_json_line(first) + "\n" + runs::to_json_line(other) + "\n" + runs::to_json_line(again) + "\n");
  const runs::Results back = runs::read_results(folder_);
  ASSERT_EQ(2u, back.attributions.size());
  EXPECT_EQ(0.5, back.attributions[0].scores["nrmse"].value);
  EXPECT_FALSE(back.attributions[1].budget);
}

TEST_F(RunFolder, LinesThatCannotBeReadAreNamed) {
  const std::string good = without_checksum(runs::to_json_line(some_row()));
  const std::map<std::string, std::string> broken = {
      {"{\"schema\":\"opshap.attr", "row: json ("},
      {"[1,2]", "not a JSON object"},
      {"{\"players\":3}", "schema (is missing)"},
      {"{\"schema\":\"opshap.future/9\"}", "schema=opshap.future/9"},
      {substituted(good, "\"players\":32", "\"players\":\"32\""), "players (is not an integer)"},
      {substituted(good, "\"nrmse\":0.25", "\"nrmse\":null"), "nrmse (is neither"},
      {substituted(good, "\"reference\":\"exact\",", ""), "reference (is missing)"},
  };
  for (const auto& [line, complaint] : broken) {
    write_file(folder_ / "results.jsonl", good + "\n" + line + "\n");
    EXPECT_TRUE(has(refusal<DataError>([&] { runs::read_results(folder_); }), {"results.jsonl:2: ", complaint}));
  }
}

TEST_F(RunFolder, NumbersThatAreNotFiniteAreNeverWritten) {
  runs::AttributionRow row = some_row();
  row.scores["nrmse"] = Measured::of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(runs::to_json_line(row), NumericalError);
  EXPECT_THROW(runs::to_json_line(runs::ValuesRow{
                   .pde = "p", .players = 1, .method = "m", .values = {std::numeric_limits<double>::infinity()}}),
               NumericalError);
}

TEST_F(RunFolder, ARowOfWhichOneBitHasChangedIsNamed) {
  const std::string good = runs::to_json_line(some_row());
  EXPECT_TRUE(has_match(good, ",\"crc32c\":\"[0-9a-f]{8}\"\\}$")) << good;
  int unseen = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string line = good;
    line[bit / 8] = static_cast<char>(line[bit / 8] ^ (1 << bit % 8));
    write_file(folder_ / "results.jsonl", good + "\n" + line + "\n");
    const std::string found = refusal<DataError>([&] { runs::read_results(folder_); });
    unseen += found.empty();
    EXPECT_TRUE(found.empty() || has(found, "results.jsonl:")) << found;
  }
  // Of the name of the checksum itself: then it is a row of before, which has none. The sum in the manifest sees it.
  EXPECT_LE(unseen, 8 * static_cast<int>(std::string(",'crc32c':'01234567'}").size()));
}

TEST_F(RunFolder, SittingsOfPartsStandAmongThoseOfTheRunInTheOrderOfTime) {
  nlohmann::ordered_json manifest = SyntheticRun().manifest();
  manifest["resumed"] = {{{"time", "2026-01-05T00:00:00Z"}, {"commit", "b"}}};
  manifest["load"] = {{"wall_seconds", 10}, {"cpu_seconds", 15}, {"other_cpu_seconds", 4}, {"processors", 2}};
  manifest["parts"] = {{{"index", 0},
                        {"of", 2},
                        {"started", "2026-01-04T00:00:00Z"},
                        {"commit", "a"},
                        {"environment", {{"gpu", "one"}}},
                        {"resumed", {{{"time", "2026-01-06T00:00:00Z"}, {"commit", "a"}}}}}};
  write_run(folder_, SyntheticRun().results(), manifest);
  const std::vector<runs::Sitting> sittings = runs::read_run(folder_).sittings;
  ASSERT_EQ(4u, sittings.size());
  EXPECT_TRUE(std::ranges::is_sorted(sittings, {}, &runs::Sitting::time));
  EXPECT_EQ(0.2, sittings[0].others_share());
  EXPECT_EQ("one", sittings[1].value("gpu"));
  EXPECT_FALSE(sittings[1].others_share());
  EXPECT_EQ("2", sittings[2].value("threads")) << "without an environment of its own it is that of the first";
  EXPECT_EQ("one", sittings[3].value("gpu"));
}

TEST_F(RunFolder, ARunWhoseManifestAndRowsDisagreeIsNamed) {
  const nlohmann::ordered_json manifest = SyntheticRun().manifest();
  write_run(folder_, SyntheticRun().results(), manifest);
  EXPECT_NO_THROW(runs::read_run(folder_));
  const auto refused = [&](const std::string& text) {
    write_file(folder_ / "manifest.json", text);
    return refusal<DataError>([&] { runs::read_run(folder_); });
  };
  const auto changed = [&](const char* key, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = manifest;
    json[key] = value;
    return refused(json.dump());
  };
  EXPECT_TRUE(has(changed("pde", "heat2d"), "pde=heat2d"));
  for (const char* key :
       {"schema", "profile", "pde", "seed", "command", "commit", "seconds", "settings", "resumed", "departures", "data",
        "comparable_with_paper", "started", "dirty", "environment", "rows", "load", "parts", "left_out"})
    for (const nlohmann::ordered_json& value :
         {nlohmann::ordered_json(0.5), nlohmann::ordered_json::array({nlohmann::ordered_json::array()}),
          nlohmann::ordered_json{{"x", {{"y", "z"}}}}})
      EXPECT_NO_THROW(changed(key, value)) << key << ": read, or refused as data";
  std::string deep = "{\"schema\":\"opshap.manifest/1\",\"settings\":";
  for (int depth = 0; depth < 200000; ++depth) deep += '[';
  EXPECT_TRUE(has(refused(deep), "depth=")) << refused(deep).substr(0, 300);
}

}  // namespace
}  // namespace opshap
