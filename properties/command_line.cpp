// The program as its users meet it: exit codes, the grammar of errors, no partial output, start-up time of light
// commands.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/file.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

using CommandLine = Program;

TEST_F(CommandLine, UnknownNamesAreAnsweredWithTheNearestOne) {
  const std::string game = file("game.json", R"({"players":2,"values":[0,1,2,4]})");
  expect_refusal("atribute", 2, "Did you mean attribute?");
  expect_refusal("attribute --game " + game + " --method kernelshap --budget 4", 2, "Did you mean kernel_shap");
  expect_refusal("list estimator", 2, "Did you mean estimators?");
  expect_refusal("pde solve burgers --initial x.npy --time 1 --out y.npy", 2, "Did you mean burgers1d?");
#ifdef OPSHAP_WITH_NETWORKS
  expect_refusal("reproduce --profile smok --out " + path("run"), 2, "Did you mean smoke?");
#endif
}

TEST_F(CommandLine, BudgetsAndSizesThatCannotWorkAreRefused) {
  const std::string game = file("game.json", R"({"players":30,"terms":[{"coalition":[0,1],"coefficient":2}]})");
  expect_refusal("attribute --game " + game + " --method permutation --budget 20", 2, "budget=20 (needs at least 31");
  expect_refusal("attribute --game " + game + " --method exact", 2, "players=30");
  expect_refusal("attribute --game " + game + " --method permutation", 2, "budget");
  expect_refusal("attribute --game " + game + " --method permutation --budget 64 --threads 0", 2, "--threads=0");
}

TEST_F(CommandLine, BrokenGamesAreRefusedWithTheirKey) {
  expect_refusal("attribute --game " + path("missing.json") + " --method exact", 3, "missing.json");
  expect_refusal("attribute --game " + file("a.json", "{\"players\":2,\"values\":[0,1") + " --method exact", 3,
                 "a.json");
  expect_refusal("attribute --game " + file("b.json", R"({"values":[0,1]})") + " --method exact", 3, "players");
  expect_refusal("attribute --game " + file("c.json", R"({"players":2,"values":[0,1,2]})") + " --method exact", 3,
                 "values");
  expect_refusal("attribute --game " + file("d.json", R"({"players":2,"values":[0,1,null,2]})") + " --method exact", 3,
                 "values");
  expect_refusal("attribute --game " + file("e.json", R"({"players":2,"terms":[{"coalition":[2],"coefficient":1}]})") +
                     " --method exact",
                 3, "coalition");
}

TEST_F(CommandLine, AttributionsOfAGameHaveTheContractsKeys) {
  const std::string game = file("game.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  const Outcome outcome = opshap("attribute --game " + game + " --method exact --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const char* key : {"method", "players", "values", "standard_errors", "empty", "grand", "efficiency_gap",
                          "distinct", "evaluations", "seed", "seconds", "exact"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_TRUE(json["seconds"].contains("game") && json["seconds"].contains("estimator"));
  EXPECT_EQ("exact", json["method"]);
  EXPECT_EQ(1.0, json["empty"]);
  EXPECT_EQ(9.0, json["grand"]);
  EXPECT_EQ(8, json["distinct"]);
}

TEST_F(CommandLine, UnknownOptionsAreAnsweredWithTheNearestOne) {
  expect_refusal("data import npy --periodik true", 2,
                 "--periodik (no option of `opshap data import npy`). Did you mean --periodic?");
  expect_refusal("attribute --game unanimity_sum --bugdet=7", 2, "Did you mean --budget?");
  expect_refusal("attribute --game unanimity_sum --xyzzy=7", 2, "--xyzzy");
}

TEST_F(CommandLine, StandardErrorsOfFewOrderingsSaySo) {
  const std::string ask = "attribute --game unanimity_sum --players 8 --game-seed 3 --method permutation --budget ";
  const Outcome few = opshap(ask + "37");  // ∅, N and five orderings of seven coalitions
  ASSERT_EQ(0, few.code) << few.err;
  EXPECT_NE(std::string::npos, few.out.find("of 5 samples: an interval of 95 % is ± 2.78 of them")) << few.out;
  EXPECT_EQ(5, nlohmann::json::parse(opshap(ask + "37 --json").out).at("error_samples"));
  EXPECT_EQ(std::string::npos, opshap(ask + "250").out.find("samples:")) << "35 orderings are not few";
  const Outcome rare =
      opshap("attribute --game " + file("rare.json", R"({"players": 9, "terms": [{"coalition": [0, 1, 2, 3, 4, 5, 6, 7],
                                                                            "coefficient": 1}]})") +
             " --method permutation --budget 42");
  EXPECT_NE(std::string::npos, rare.out.find("have a standard error of 0")) << rare.out;
}

TEST_F(CommandLine, RegressionsThatAreNotDeterminedAreRefusedOrAnsweredWithTheLeastNorm) {
  const std::string ask = "attribute --game unanimity_sum --players 40 --budget 20 --method ";
  expect_refusal(ask + "kernel_shap_paired", 2, "budget=20 (needs at least 80");
  expect_refusal("attribute --game unanimity_sum --players 64 --budget 128 --method kernel_shap_paired", 2,
                 "--minimum-norm");
  expect_refusal(ask + "kernel_shap_unbiased --minimum-norm", 2, "--minimum-norm");
  const Outcome outcome = opshap(ask + "kernel_shap_paired --minimum-norm --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const auto found = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(found["standard_errors"].is_null());
  EXPECT_EQ(9, found["minimum_norm"]["rank"]);
  EXPECT_EQ(39, found["minimum_norm"]["needed_rank"]);
  EXPECT_NE(std::string::npos,
            opshap(ask + "kernel_shap_paired --minimum-norm").out.find("rank 9 of the 39 that would determine"));
  const Outcome determined = opshap(
      "attribute --game unanimity_sum --players 40 --budget 400 --method kernel_shap_paired --minimum-norm --json");
  EXPECT_TRUE(nlohmann::json::parse(determined.out)["minimum_norm"].is_null());
}

TEST_F(CommandLine, AStandardInputOfDashIsRead) {
  const Outcome outcome = shell("echo '{\"players\":1,\"values\":[1,3]}' | " + std::string(OPSHAP_BINARY_DIR) +
                                "/opshap attribute --game - --method exact --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_EQ(2.0, nlohmann::json::parse(outcome.out)["values"][0]);
}

TEST_F(CommandLine, FieldsThatCannotBeSolvedAreRefused) {
  expect_refusal(
      "pde solve burgers1d --initial " + file("bad.npy", "\x93NUMPY garbage") + " --time 0.1 --out " + path("out.npy"),
      3, "bad.npy");
  expect_refusal("pde solve burgers1d --initial " + path("none.npy") + " --time 0.1 --out " + path("out.npy"), 3,
                 "none.npy");
}

TEST_F(CommandLine, PlacesThatCannotBeWrittenAreRefused) {
  expect_refusal("data generate --pde burgers1d --samples 8 --out /proc/opshap/data.h5", 2, "/proc/opshap");
  expect_refusal("report " + path("no_such_run"), 3, "no_such_run");
}

TEST_F(CommandLine, ARunOnAGpuThatIsNotThereDoesNotBegin) {
  expect_refusal("reproduce --profile smoke --device cuda:99 --out " + path("run"), 4, "--device=cuda:99");
  expect_refusal("reproduce --profile smoke --device gpu --out " + path("run"), 2, "--device=gpu");
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(CommandLine, AFullDiskIsAnUnfitEnvironmentAndLeavesNoFile) {
  const std::string disk = path("disk");
  fs::create_directories(disk);
  const Outcome outcome =
      shell("unshare " + std::string(geteuid() == 0 ? "-m" : "-Urm") + " sh -c 'mount -t tmpfs -o size=256k tmpfs " +
            disk + " && { " + OPSHAP_BINARY_DIR + "/opshap data generate --pde burgers1d --samples 128 --out " + disk +
            "/data.h5; echo exit $?; find " + disk + " -name \"*.tmp\" -o -name data.h5; }'");
  if (outcome.out.find("exit") == std::string::npos)
    GTEST_SKIP() << "this system lets nobody mount a small disk: " << outcome.err;
  EXPECT_EQ("exit 4\n", outcome.out) << outcome.err;
  EXPECT_NE(std::string::npos, outcome.err.find("No space left on device")) << outcome.err;
}

TEST_F(CommandLine, DataSetsAreTheSameFileForAnyNumberOfThreadsAndAfterAnyInterruption) {
  const auto generate = [this](const std::string& name, const std::string& more) {
    return std::string(OPSHAP_BINARY_DIR) + "/opshap data generate --pde burgers1d --samples 192 --seed 3 --out " +
           path(name) + " " + more;
  };
  ASSERT_EQ(0, shell(generate("one.h5", "--threads 1")).code);
  ASSERT_EQ(0, shell(generate("two.h5", "--threads 2")).code);
  const std::string whole = read_file(path("one.h5"));
  EXPECT_TRUE(whole == read_file(path("two.h5")));

  // 192 samples are three shards: the signals arrive when the first one is there, however busy the machine is.
  const auto interrupted = [&](const std::string& signal, const std::string& name) {
    return shell(generate(name, "--threads 1") + " & while [ ! -s " + path(name + ".shards") +
                 "/manifest.jsonl ] && kill -0 $!; do sleep 0.01; done; kill -" + signal + " $!; wait $!");
  };
  const Outcome stopped = interrupted("TERM", "stopped.h5");
  EXPECT_EQ(6, stopped.code) << stopped.err;
  EXPECT_FALSE(fs::exists(path("stopped.h5")));
  ASSERT_EQ(0, shell(generate("stopped.h5", "--threads 2")).code);
  EXPECT_TRUE(whole == read_file(path("stopped.h5")));

  const Outcome killed = interrupted("KILL", "killed.h5");
  EXPECT_EQ(137, killed.code) << killed.err;
  EXPECT_FALSE(fs::exists(path("killed.h5")));
  ASSERT_EQ(0, shell(generate("killed.h5", "--threads 2")).code);
  EXPECT_TRUE(whole == read_file(path("killed.h5")));
}

TEST_F(CommandLine, DamagedDataSetsAreRefused) {
  ASSERT_EQ(0, opshap("data generate --pde burgers1d --samples 8 --out " + path("data.h5")).code);
  const std::string whole = read_file(path("data.h5"));
  file("short.h5", whole.substr(0, whole.size() / 2));
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 4);
  file("flipped.h5", flipped);
  expect_refusal("data info " + path("short.h5"), 3, "short.h5");
  expect_refusal("data info " + path("flipped.h5"), 3, "flipped.h5");
}

TEST_F(CommandLine, LightCommandsStartWithoutLibTorch) {
  const Outcome libraries = shell("ldd " + std::string(OPSHAP_BINARY_DIR) + "/opshap");
  ASSERT_EQ(0, libraries.code) << libraries.err;
  EXPECT_EQ(std::string::npos, libraries.out.find("libtorch")) << libraries.out;
  EXPECT_EQ(std::string::npos, libraries.out.find("libc10")) << libraries.out;
  for (const char* arguments : {"--help", "list estimators", "list claims --json", "doctor --quick"})
    EXPECT_EQ(0, opshap(arguments).code) << arguments;
}

}  // namespace
}  // namespace opshap
