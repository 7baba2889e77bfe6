// Units of work are done once, whole and by one process; a manifest knows its run again.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "runs/manifest.hpp"
#include "runs/part.hpp"
#include "runs/run.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class RunFolders : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

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

  fs::path folder_ = fs::temp_directory_path() / ("opshap_runs_" + std::to_string(getpid()));
  runs::OtherSettings same_ = runs::equal_to({{"n", 3}});
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
       {"schema", "settings", "seed", "command", "commit", "dirty", "started", "seconds", "environment"})
    EXPECT_TRUE(found.contains(key)) << key;
  EXPECT_EQ("opshap", found["command"][0]) << "the program's own path is nobody's business";
  EXPECT_EQ(3u, found["seconds"].size());
  EXPECT_FALSE(found.contains("resumed"));
  const std::string log = read_file(folder_ / "log.jsonl");
  EXPECT_EQ(6, std::count(log.begin(), log.end(), '\n'));
  EXPECT_NE(std::string::npos, log.find("\"stage\":\"third\",\"event\":\"stopped\""));
}

TEST_F(RunFolders, ARunIsKnownAgainAndAnotherIsRefused) {
  runs::Manifest(folder_, beginning(), same_).stage("first", [] {});
  const double seconds = manifest()["seconds"]["first"];
  runs::Beginning elsewhere = beginning();
  elsewhere.environment = {{"processor", "two"}};
  runs::Manifest(folder_, elsewhere, same_).stage("first", [] {});
  EXPECT_EQ("two", manifest()["resumed"][0]["environment"]["processor"]);
  EXPECT_GE(manifest()["seconds"]["first"], seconds) << "sittings add up";
  {
    runs::Manifest brought(folder_, beginning(), same_);
    brought.took_at_least("first", 3600);
    EXPECT_EQ(3600, manifest()["seconds"]["first"]) << "a training of another folder";
    brought.took_at_least("first", 1800);
  }
  EXPECT_EQ(3600, manifest()["seconds"]["first"]);
  EXPECT_FALSE(manifest()["resumed"][1].contains("environment")) << "where it is the first one's";

  const std::string before = read_file(folder_ / "manifest.json");
  EXPECT_THROW(runs::Manifest(folder_, beginning(2), same_), InvalidArgument);
  try {
    runs::Manifest(folder_, beginning(), runs::equal_to({{"n", 4}}));
    ADD_FAILURE() << "other settings";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("n: 3, and now 4")) << error.what();
  }
  runs::Beginning other = beginning();
  other.schema = "opshap.test/2";
  EXPECT_THROW(runs::Manifest(folder_, other, same_), DataError);
  EXPECT_EQ(before, read_file(folder_ / "manifest.json"));
  for (const char* text : {"", "[]", "{}", "{\"schema\":7,\"settings\":{}}", "{\"schema\":\"opshap.test/1\"}"}) {
    write_file(folder_ / "manifest.json", std::string_view(text));
    EXPECT_THROW(runs::Manifest(folder_, beginning(), same_), DataError) << text;
  }
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
  const runs::Sitting alone{.load = runs::Load{.wall = 10, .own = 18, .others = 0, .processors = 2}};
  EXPECT_EQ(0, alone.others_share());
  const runs::Sitting shared{.load = runs::Load{.wall = 10, .own = 5, .others = 5, .processors = 2}};
  EXPECT_EQ(0.25, shared.others_share());
  EXPECT_FALSE((runs::Sitting{.load = runs::Load{.wall = 0}}.others_share()));
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
  const auto refusal = [&] {
    try {
      runs::Manifest(folder_, beginning(), same_);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  runs::Manifest(folder_, beginning(), same_).stage("work", work);
  EXPECT_EQ(2, manifest()["rows"]["results.jsonl"]["rows"]);
  EXPECT_EQ("", refusal());
  for (const char* text : {"{\"a\":1}\n{\"a\":3}\n", "{\"a\":1}\n", "{\"a\":1}\n{\"a\":2}\n{\"a\":2}\n", ""}) {
    write_file(folder_ / "results.jsonl", std::string_view(text));
    EXPECT_NE(std::string::npos, refusal().find("results.jsonl (has ")) << refusal();
  }
  work();
  fs::remove(folder_ / "fields.jsonl");
  EXPECT_NE(std::string::npos, refusal().find("fields.jsonl (is missing")) << refusal();
  fs::remove(folder_ / "results.jsonl");
  EXPECT_EQ("", refusal()) << "they are made anew";
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

}  // namespace
}  // namespace opshap
