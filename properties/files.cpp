// A file is written whole or not at all, in its place or not; reading ends. One reader of keys for settings in TOML and
// in JSON: what it takes, and what it says of the rest.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/strict_json.hpp"
#include "core/toml_text.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

class Files : public RunFolder {
 protected:
  std::set<std::string> listing() const { return names_in(folder_); }
  static void expect_reason(const std::string& said) { EXPECT_TRUE(said != "" && !has(said, "Success")) << said; }
  /// 4 for an unfit environment that is told with these words, 1 for other words, 2 for another error of ours.
  static int failure(const auto& work, const char* words = "") {
    try {
      work();
    } catch (const EnvironmentError& error) {
      return has(error.what(), words) ? 4 : 1;
    } catch (const Error&) {
      return 2;
    }
    return 0;
  }
  /// The exit code of a process of its own that does the work.
  static int in_child(const auto& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

TEST_F(Files, WritingReplacesInOneStepAndLeavesNoTemporaryFile) {
  write_file(folder_ / "a" / "b.txt", "first");
  write_file(folder_ / "a" / "b.txt", "second");
  EXPECT_EQ("second", read_file(folder_ / "a" / "b.txt"));
  fs::remove_all(folder_ / "a");
  write_file(folder_ / "b.txt", "first");
  fs::permissions(folder_ / "b.txt", fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder_ / "b.txt", "second");
  EXPECT_EQ(fs::perms::owner_read | fs::perms::owner_write, fs::status(folder_ / "b.txt").permissions());
  EXPECT_EQ(std::set<std::string>{"b.txt"}, listing());
}

TEST_F(Files, AMissingFolderIsTheCallersMistake) {
  EXPECT_THROW(write_file("/proc/opshap/file", "x"), InvalidArgument);
  EXPECT_THROW(read_file(folder_ / "missing"), DataError);
  EXPECT_THROW(read_file(folder_), DataError);
  EXPECT_THROW(write_file(folder_, "x"), InvalidArgument);
  write_file(folder_ / "a", "x");
  for (const fs::path& place : {folder_ / "a" / "b", folder_ / std::string(300, 'x') / "b", fs::path("")})
    expect_reason(refusal<InvalidArgument>([&] { write_file(place, "x"); }));
  expect_reason(refusal<InvalidArgument>([&] { make_folder(folder_ / "a"); }));
  EXPECT_TRUE(has(refusal<InvalidArgument>([] { make_folder("/proc/1"); }), "folder: path="));
  EXPECT_EQ(std::set<std::string>{"a"}, listing());
}

TEST_F(Files, ADeviceIsWrittenIntoAndStays) {
  const fs::path device = folder_ / "null";
  if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "needs the right to make a device";
  write_file(device, "lost");
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_EQ(std::set<std::string>{"null"}, listing());
  EXPECT_EQ("", read_file(device));
  mknod((folder_ / "full").c_str(), S_IFCHR | 0666, makedev(1, 7));
  EXPECT_THROW(write_file(folder_ / "full", "x"), EnvironmentError);
  EXPECT_TRUE(fs::is_character_file(folder_ / "full"));
  EXPECT_TRUE(has(refusal<DataError>([&] { read_file(folder_ / "full"); }), "has no end"));
}

TEST_F(Files, APipeIsWrittenInto) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  std::string arrived;
  std::thread reader([&] { arrived = read_file(pipe); });
  write_file(pipe, "through");
  reader.join();
  EXPECT_EQ("through", arrived);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(Files, AnOpenDescriptorIsWrittenIntoWhereItStands) {
  const fs::path file = folder_ / "file";
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(6, write(descriptor, "first ", 6));
  write_file("/dev/fd/" + std::to_string(descriptor), "second ");
  write_file("/proc/self/fd/" + std::to_string(descriptor), "third");
  fs::create_symlink("/dev/fd/" + std::to_string(descriptor), folder_ / "link");
  write_file(folder_ / "link", " fourth");
  close(descriptor);
  EXPECT_EQ("first second third fourth", read_file(file));
  EXPECT_EQ((std::set<std::string>{"file", "link"}), listing());
}

TEST_F(Files, ASymbolicLinkIsFollowedAndItsTargetReplaced) {
  fs::create_directories(folder_ / "far");
  write_file(folder_ / "far" / "file", "old");
  fs::create_symlink("far/file", folder_ / "near");
  fs::create_symlink("near", folder_ / "nearer");
  write_file(folder_ / "nearer", "new");
  EXPECT_EQ("new", read_file(folder_ / "far" / "file"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "near") && fs::is_symlink(folder_ / "nearer"));
  fs::create_symlink("far/later", folder_ / "dangling");
  write_file(folder_ / "dangling", "made");
  EXPECT_EQ("made", read_file(folder_ / "far" / "later"));
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_THROW(write_file(folder_ / "circle", "x"), InvalidArgument);
  EXPECT_THROW(read_file(folder_ / "circle"), DataError);
  EXPECT_FALSE(is_there(folder_ / "circle") || is_folder(folder_ / "circle") || is_file(folder_ / "circle"));
}

TEST_F(Files, APlantedLinkUnderAGuessedTemporaryNameIsNotFollowed) {
  write_file(folder_ / "victim", "whole");
  fs::create_symlink("victim", folder_ / "out.npy.tmp");
  write_file(folder_ / "out.npy", "new");
  EXPECT_EQ("whole", read_file(folder_ / "victim"));
}

TEST_F(Files, TheLongestNameCanBeWritten) {
  write_file(folder_ / std::string(255, 'n'), "x");
  EXPECT_EQ("x", read_file(folder_ / std::string(255, 'n')));
  EXPECT_THROW(write_file(folder_ / std::string(256, 'n'), "x"), InvalidArgument);
  EXPECT_FALSE(is_there(folder_ / std::string(256, 'n')));
}

TEST_F(Files, ManyWritersOfOneFileLeaveOneWholeFile) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int turn = 0; turn < 20; ++turn) write_file(folder_ / "file", std::string(1000, char('a' + writer)));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = read_file(folder_ / "file");
  EXPECT_EQ(std::string(1000, text.at(0)), text);
  EXPECT_EQ(std::set<std::string>{"file"}, listing());
}

TEST_F(Files, WhatAKilledWriterLeftIsRemovedAndNothingElse) {
  write_file(folder_ / "results.jsonl.aB3-_9.tmp", "half");
  write_file(folder_ / "my.tmp", "kept");
  write_file(folder_ / "results.jsonl", "kept");
  remove_leftovers(folder_);
  EXPECT_EQ((std::set<std::string>{"my.tmp", "results.jsonl"}), listing());
}

TEST_F(Files, AFileThatMayNotGrowIsAnEnvironmentError) {
  write_file(folder_ / "file", "old");
  EXPECT_EQ(4, in_child([&] {
              start_process();
              const rlimit small{100, 100};
              setrlimit(RLIMIT_FSIZE, &small);
              return failure([&] { write_file(folder_ / "file", std::string(1000, 'x')); });
            }));
  EXPECT_EQ("old", read_file(folder_ / "file"));
  EXPECT_EQ(std::set<std::string>{"file"}, listing());
}

TEST_F(Files, WhatTheSystemHasNoMoreOfIsNamed) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer looks at an object through a pipe, and takes it for none where it can open no file";
#endif
  EXPECT_EQ(4, in_child([&] {
              const rlimit few{3, 3};
              setrlimit(RLIMIT_NOFILE, &few);
              return failure([&] { write_file(folder_ / "file", "x"); }, "ulimit -n");
            }));
}

TEST_F(Files, AReadErrorIsADataError) {
  // Nothing is mapped at the first address of a process, so this read fails as that of a dying disk does: EIO.
  EXPECT_TRUE(has(refusal<DataError>([] { read_file("/proc/self/mem"); }), "reading failed"));
}

TEST_F(Files, ClosedDescriptorsAreHeldAndStillFail) {
  EXPECT_EQ(0, in_child([] {
              for (const int descriptor : {0, 1, 2}) close(descriptor);
              start_process();
              const bool held = open("/dev/null", O_RDONLY | O_CLOEXEC) > 2;
              char byte = 0;
              return held && write(1, "x", 1) < 0 && write(2, "x", 1) < 0 && read(0, &byte, 1) < 0 ? 0 : 1;
            }));
}

TEST_F(Files, ALogDropsTheLineThatAKillCutOff) {
  { LineLog(folder_ / "log").append("one"); }
  write_file(folder_ / "log", "one\ntw");
  { LineLog(folder_ / "log").append("three"); }
  EXPECT_EQ("one\nthree\n", read_file(folder_ / "log"));
}

TEST_F(Files, ALogThatIsRemovedMeanwhileIsAnError) {
  LineLog log(folder_ / "log");
  log.append("one");
  fs::remove(folder_ / "log");
  EXPECT_THROW(log.append("two"), EnvironmentError);
  ASSERT_EQ(0, mkfifo((folder_ / "pipe").c_str(), 0600));
  EXPECT_THROW(LineLog(folder_ / "pipe"), InvalidArgument);
}

/// Seconds until a process of its own that was sent SIGTERM ended, and its exit code.
struct Ended {
  int code;
  double seconds;
};

Ended stopped(const fs::path& ready, const auto& work) {
  const pid_t child = fork();
  if (child == 0) {
    stop_on_signals();
    write_file(ready, "");
    work();
    _exit(0);
  }
  while (!is_there(ready)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto start = std::chrono::steady_clock::now();
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

TEST_F(Files, WorkThatDoesNotLookAtASignalEndsWithinTwoSecondsAndLeavesNothingHalf) {
  const Ended ended = stopped(folder_ / "ready", [&] {
    const std::string cleaned = folder_ / "cleaned";
    const ForcedEnd forced([&] { close(creat(cleaned.c_str(), 0600)); });
    for (;;) write_file(folder_ / "file", std::string(1 << 20, 'x'));
  });
  EXPECT_EQ(6, ended.code);
  EXPECT_LE(ended.seconds, 2.5) << "two seconds, and half a one for a busy machine";
  EXPECT_EQ((std::set<std::string>{"cleaned", "file", "ready"}), listing());
  EXPECT_EQ(std::string(1 << 20, 'x'), read_file(folder_ / "file"));
}

TEST_F(Files, WorkThatLooksAtASignalEndsInItsOwnOrder) {
  const Ended ended = stopped(folder_ / "ready", [&] {
    while (!stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1700));
    _exit(42);
  });
  EXPECT_EQ(42, ended.code);
}

TEST_F(Files, OfCsvAreReadCellByCell) {
  const auto rows = parse_csv("version,1\nname,number,words\r\na,1e-3,\"x, \"\"y\"\"\"\n\n\"two\nlines\",-7,\n",
                              "a.csv", {"name", "number"}, "version,1");
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ("a", rows[0].text("name"));
  EXPECT_EQ(1e-3, rows[0].number("number"));
  EXPECT_EQ("x, \"y\"", rows[0].text("words"));
  EXPECT_EQ("two\nlines", rows[1].text("name"));
  EXPECT_EQ(-7, rows[1].whole("number"));
  EXPECT_EQ("", rows[1].text("words"));
  EXPECT_EQ(9, parse_csv("sizes\n\"9, 8 to 1024\"\n", "a.csv", {"sizes"}).front().number("sizes", ','));
  EXPECT_TRUE(parse_csv("name", "a.csv", {"name"}).empty());
}

// Who, where, which value, why it cannot work, and what to do.
TEST_F(Files, OfCsvAreRefusedWithFileLineAndColumn) {
  const auto refused = [](const std::string& text, const std::string& version = "") {
    return refusal<DataError>([&] {
      for (const CsvRow& row : parse_csv(text, "a.csv", {"name", "number"}, version)) {
        row.number("number");
        row.whole("number");
      }
    });
  };
  EXPECT_EQ("csv: path=a.csv, column=number (is not there). Make the file again.", refused("name\na\n"));
  EXPECT_EQ("csv: path=a.csv, column=name (is not there). Make the file again.", refused(""));
  EXPECT_EQ("csv: path=a.csv:3, cells=1 (the heading has 2). Make the file again.", refused("name,number\na,1\nb\n"));
  EXPECT_EQ("csv: path=a.csv:2 (a quotation mark is never closed). Make the file again.",
            refused("name,number\n\"a,1\nb,2\n"));
  EXPECT_EQ(
      "csv: path=a.csv:1, line=version,2 (has to begin with version,1). Make the file again, by the same version "
      "of the sources.",
      refused("version,2\nname,number\n", "version,1"));
  for (const char* bad : {"", "much", "nan", "inf", "1e999", "0x1", "1 ", " 1", "1;2", "+1"})
    EXPECT_EQ(
        message("csv: path=a.csv:4, column=number, value=", bad, " (is not a finite number). Make the file again."),
        refused(message("name,number\n\"a\nb\",1\nc,", bad, "\n")));
  for (const char* bad : {"1.5", "1e3"})
    EXPECT_EQ(
        message("csv: path=a.csv:2, column=number, value=", bad, " (is not a whole number). Make the file again."),
        refused(message("name,number\na,", bad, "\n")));
}

using Json = nlohmann::ordered_json;

/// What reading a TOML text says; empty where it says nothing.
std::string complaint(const std::string& toml, const std::function<void(StrictObject&)>& read) {
  std::map<std::string, int, std::less<>> lines;
  const Json object = parse_toml(toml, "test", "mine.toml", lines);
  StrictObject::Voice voice{.who = "test: "};
  for (const auto& [key, line] : lines) voice.places.emplace(key, message("mine.toml, line ", line));
  return refusal<InvalidArgument>([&] {
    StrictObject reader(object, voice);
    read(reader);
    reader.finish();
  });
}

TEST(StrictObjects, NameKeyValueAndPlace) {
  const auto count = [](StrictObject& object) { object.whole("count", 2, 9); };
  EXPECT_EQ("", complaint("count = 9", count));
  EXPECT_EQ("", complaint("count = 2e0", count));
  EXPECT_EQ("test: count=10 (needs 2 to 9). Correct count at mine.toml, line 2.", complaint("\ncount = 10", count));
  EXPECT_EQ("test: count=2.5 (needs a whole number). Correct count at mine.toml, line 1.",
            complaint("count = 2.5", count));
  EXPECT_EQ("test: count=true (needs a whole number). Correct count at mine.toml, line 1.",
            complaint("count = true", count));
  EXPECT_EQ("test: count (is missing). Add it.", complaint("other = 1", count));
  EXPECT_EQ("test: cuont (mine.toml, line 2; no such setting). Did you mean count?",
            complaint("count = 3\ncuont = 3", count));
}

TEST(StrictObjects, NoNumberIsCast) {
  // The first numbers that do not fit, and the last that do.
  for (const auto& [value, fits] : std::map<std::int64_t, bool>{{std::int64_t{1} << 32, false},
                                                                {std::int64_t{1} << 31, false},
                                                                {std::numeric_limits<int>::max(), true},
                                                                {0, false}}) {
    const std::string said = complaint(message("count = ", value), [](StrictObject& object) { object.whole("count"); });
    EXPECT_EQ(fits, said.empty()) << value << ": " << said;
  }
  const Json huge = {{"count", std::numeric_limits<std::uint64_t>::max()}};
  StrictObject reader(huge, {.who = "test: "});
  EXPECT_THROW(reader.whole<std::int64_t>("count"), InvalidArgument);
  for (const char* number : {"inf", "nan", "-1.0", "0.0"})
    EXPECT_NE("", complaint(message("rate = ", number), [](StrictObject& object) { object.positive("rate"); }))
        << number;
}

TEST(StrictObjects, ReadTablesAndListsOfTables) {
  const std::string toml = "[outer]\nword = \"a\"\n[[outer.list]]\nsize = 1\n[[outer.list]]\nsize = 0\n";
  EXPECT_EQ("test: outer.list[1].size=0 (needs 1 to 2147483647). Correct outer.list[1].size at mine.toml, line 6.",
            complaint(toml, [](StrictObject& object) {
              StrictObject outer = object.object("outer");
              EXPECT_EQ("a", outer.word("word", {"a", "b"}));
              for (StrictObject& entry : outer.objects("list")) entry.whole("size");
            }));
  EXPECT_EQ("test: outer (is not an object). Correct outer at mine.toml, line 1.",
            complaint("outer = 3", [](StrictObject& object) { object.object("outer"); }));
  EXPECT_EQ("test: word=c (not one of a, b). Correct word at mine.toml, line 1.",
            complaint("word = 'c'", [](StrictObject& object) {
              object.word("word", {"a", "b"});
            }));
}

TEST(StrictObjects, OfAFileAreRefusedAsData) {
  const Json object = {{"count", "three"}};
  StrictObject reader(object, {.who = "game: key=", .advice = "Correct it.", .of_a_file = true});
  EXPECT_EQ("game: key=count=three (needs a whole number). Correct it.",
            refusal<DataError>([&] { reader.whole("count"); }));
}

TEST(TomlTexts, AreReadBackAsTheyWereWritten) {
  const Json object = {{"b", 1.0 / 3},
                       {"a", {1, 2, 3}},
                       {"table", {{"word", "x \"y\""}, {"yes", true}}},
                       {"curves", {{{"n", 4}, {"m", {1, 2}}}}},
                       {"inner", {{"p", 2}}}};
  const std::string text = toml_text(object, {"inner"});
  EXPECT_TRUE(has(text, "inner = { p = 2 }"));
  std::map<std::string, int, std::less<>> lines;
  const Json read = parse_toml(text, "test", "written", lines);
  EXPECT_EQ(nlohmann::json::parse(object.dump()), nlohmann::json::parse(read.dump())) << text;
  EXPECT_EQ(1, lines.at("a"));
}

TEST(TomlTexts, LayOneOverAnother) {
  Json below = {{"kept", 1}, {"table", {{"kept", 2}, {"changed", 3}}}, {"list", {1, 2}}};
  lay_over(below, {{"table", {{"changed", 4}, {"new", 5}}}, {"list", {9}}});
  EXPECT_EQ(Json({{"kept", 1}, {"table", {{"kept", 2}, {"changed", 4}, {"new", 5}}}, {"list", {9}}}), below);
}

}  // namespace
}  // namespace opshap
