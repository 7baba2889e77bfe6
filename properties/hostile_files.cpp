// Files from outside, changed at a few places: whatever is read is taken or refused by name. No reader crashes, hangs
// or ends in an error that is not ours.

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/profile.hpp"
#include "cli/suite.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/strict_json.hpp"
#include "peers/frame.hpp"
#include "peers/plugin.hpp"
#include "runs/manifest.hpp"
#include "runs/merge_parts.hpp"
#include "runs/results.hpp"
#include "runs/run.hpp"
#include "support/mutations.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using Json = nlohmann::ordered_json;

/// In memory where the system has a folder there, since thousands of files would wait for a disk.
class HostileFiles : public RunFolder {
 protected:
  HostileFiles() {
    const fs::path memory = "/dev/shm";
    if (::access(memory.c_str(), W_OK) == 0) folder_ = memory / folder_.filename();
  }
  /// survive() of a reader of one of the folder's files.
  void survive_in(const char* file, const char* reader, const std::vector<std::string>& seeds, const auto& read) const {
    survive(reader, seeds, [&](const std::string& text) {
      put(folder_ / file, text);
      read();
    });
  }
};

TEST(StrictJson, IsTheTextAsTheLibraryReadsIt) {
  for (const char* text :
       {"{}", "[]", "0", "\"\xc3\xa9\"", R"({"a":[1,-2,3.5e3,{"b":null}],"c":"d","e":true,"":[[]]})"}) {
    EXPECT_EQ(Json::parse(text), strict_json<Json>(text, "test"));
    EXPECT_EQ(nlohmann::json::parse(text), strict_json<nlohmann::json>(text, "test"));
  }
}

TEST(StrictJson, NamesWhatIsRefused) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { strict_json<Json>(text, "test", {.depth = 4, .keys = 3, .bytes = 200}); });
  };
  EXPECT_TRUE(has(refused("[[[[[]]]]]"), "depth=5"));
  EXPECT_TRUE(has(refused(R"({"a":1,"b":2,"c":3,"d":4})"), "keys=4"));
  EXPECT_TRUE(has(refused(std::string(201, ' ')), "bytes=201"));
  EXPECT_TRUE(has(refused(R"({"a":1,"a":2})"), "key=a (given twice"));
  for (const char* word : {"NaN", "Infinity", "-Infinity", "nan"})
    EXPECT_TRUE(has(refused(std::string("{\"values\":[0,") + word + "]}"), "is no number of JSON"));
  EXPECT_TRUE(has(refused(std::string("{\0\"\0", 4)), "UTF-16"));
  EXPECT_TRUE(has(refused("\xff\xfe{"), "UTF-16"));
  EXPECT_NE("", refused("[1e999]"));
  EXPECT_NE("", refused("[1] 2"));
  EXPECT_NE("", refused("\"\xff\""));
}

// Games, arrays, weights and meshes are in the files of tests of their own: json_files, array_files, mesh_files.
TEST_F(HostileFiles, PluginsAreTakenOrRefused) {
  survive_in("plugin.toml", "plugin",
             {"name = 'puppet'\nversion = '1'\ncommand = ['sh', 'x']\nneeds = ['values']\nthreads = 2\n[env]\nA = 'b'\n"
              "[parameters]\nx = 1\ny = 0.5\nz = true\n[limits]\nseconds = 3\nmemory_gib = 1\n[sandbox]\nread = ['a']\n"
              "[claims]\nunbiased = true\n"},
             [&] { peers::read_plugin(folder_); });
}

TEST_F(HostileFiles, ProfilesAndSuitesAreTakenOrRefused) {
  const std::string profile = cli::to_toml(cli::load_profile("smoke", ""));
  survive("profile", {profile}, [](const std::string& text) { cli::parse_profile(text, "test.toml"); });
  survive_in(
      "suite.toml", "suite",
      {"summary = 'a suite'\nrepeats = 5\nbudgets = '4n..16n'\n[[games]]\nfamily = 'unanimity_sum'\nplayers = [12]\n"
       "seed = 1\n[[games]]\nfamily = 'airport_game'\nplayers = [4, 8]\nbudgets = '2n..4n'\n"},
      [&] { cli::load_suite(folder_ / "suite.toml", ""); });
}

/// A row of each type, without its checksum, which would hide what a reader does with the rest.
std::vector<std::string> some_rows() {
  runs::Results results = SyntheticRun{.resolutions = {2}, .curves = {}, .inputs = 1}.results();
  set_pde(results, "p");
  runs::AttributionRow& attribution = results.attributions.back();
  attribution.scores["r2"] = Measured::undefined("constant");
  results.values.back().budget = 4;
  results.values.back().standard_errors = {0, 1};
  const auto line = [](const auto& row) { return without_checksum(to_json_line(row)) + "\n"; };
  return {line(attribution), line(results.values.back()), line(results.operators.back()), line(results.fields.back())};
}

TEST_F(HostileFiles, RowsAreTakenOrRefused) {
  survive_in("results.jsonl", "rows", some_rows(), [&] { runs::read_results(folder_); });
  runs::MethodRow row{{.method = "m", .access = "values"}, "g", 2};
  row.scores["nrmse"] = row.scores["pearson"] = row.scores["efficiency_gap"] = Measured::of(0.5);
  survive_in("results.jsonl", "rows of methods", {without_checksum(to_json_line(row)) + "\n"},
             [&] { runs::read_method_rows(folder_ / "results.jsonl"); });
}

TEST_F(HostileFiles, ManifestsAreTakenOrRefused) {
  const std::string manifest =
      R"({"schema":"opshap.manifest/1","profile":"smoke","pde":"p","comparable_with_paper":false,"departures":["a"],)"
      R"("settings":{"resolutions":[2],"unseen_resolutions":[4],"x":{"y":[1]}},"seed":1,"command":["opshap","x"],)"
      R"("commit":"abc","dirty":false,"started":"2026","seconds":{"data":0.5},"environment":{"processor":"one"},)"
      R"("resumed":[{"time":"2026","commit":"abc","dirty":false}],"data":{"imported_from":"f"}})";
  for (const std::string& row : some_rows()) std::ofstream(folder_ / "results.jsonl", std::ios::app) << row;
  survive_in("manifest.json", "manifest", {manifest}, [&] { runs::read_run(folder_); });
  fs::remove(folder_ / "results.jsonl");
  const runs::Beginning beginning{.who = "test",
                                  .schema = "opshap.manifest/1",
                                  .command = {"opshap"},
                                  .seed = 1,
                                  .commit = "abc",
                                  .environment = {{"processor", "one"}},
                                  .subject = {{"settings", {{"n", 3}}}}};
  survive_in("manifest.json", "manifest that goes on", {manifest},
             [&] { runs::Manifest(folder_, beginning, [](const Json&) { return std::string(); }); });
}

TEST_F(HostileFiles, PartsAreTakenOrRefused) {
  const auto manifest = [](int index) {
    return R"({"schema":"s","settings":{},"seed":1,"commit":"abc","dirty":false,"started":"2026",)"
           R"("seconds":{"work":0.5},)"
           R"("environment":{"blas":"b, 7"},"finished":true,"part":{"index":)" +
           std::to_string(index) + R"(,"of":2}})";
  };
  const std::string list = Json{{"unit", "a"}, {"work_xxh64", "0"}, {"xxh64", xxh64("bytes")}}.dump() + "\n";
  const auto merge = [&](const std::string& of_first, const std::string& units) {
    fs::remove_all(folder_);
    for (int index = 0; index < 2; ++index) {
      const fs::path part = folder_ / "run" / "parts" / (std::to_string(index) + "-of-2");
      fs::create_directories(part / "units");
      put(part / "manifest.json", index == 0 ? of_first : manifest(1));
      put(part / "units" / "a", "bytes");
      put(part / "units" / "manifest.jsonl", index == 0 ? units : list);
    }
    runs::merge_parts(folder_ / "run");
  };
  for (std::uint64_t item = 0; item < mutants(); ++item) {
    Rng rng(test_seed(), "parts", 0, item);
    const bool of_units = rng.below(2) == 0;
    const std::string first = of_units ? manifest(0) : mutated(manifest(0), {manifest(0)}, rng),
                      units = of_units ? mutated(list, {list}, rng) : list;
    EXPECT_NO_THROW(refusal([&] { merge(first, units); })) << replay();
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ("run", entry.path().filename()) << replay();
  }
}

TEST_F(HostileFiles, FramesAreTakenOrRefused) {
  survive("frames",
          {R"({"type":"eval","id":1,"count":2,"nbytes":4})"
           "\nabcd",
           R"({"type":"hello","protocol":1,"needs":["values"]})"
           "\n"},
          [](const std::string& text) {
            peers::FrameReader reader;
            reader.feed(text);
            while (const auto frame = reader.next()) {
              frame->type();
              if (frame->header.contains("id")) frame->integer("id");
              if (frame->header.contains("count")) peers::coalitions_of(frame->payload, 8, 4);
            }
            if (reader.waiting() > 0) throw DataError("a part of a frame");
          });
}

}  // namespace
}  // namespace opshap
