// The program as its users meet it: exit codes, the grammar of errors, no partial output, start-up time of light
// commands. What it has in memory: LibTorch, a BLAS, MPI, XGBoost and an OpenMP runtime only where a command needs
// them. What is made from the tables of the commands: completion in shells and manual pages.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_table.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/npy.hpp"
#include "support/expressions.hpp"
#include "support/program.hpp"
#include "support/test_seed.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

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
  for (const auto& [text, key] : {std::pair("{\"players\":2,\"values\":[0,1", "game.json"),
                                  {R"({"values":[0,1]})", "players"},
                                  {R"({"players":2,"values":[0,1,2]})", "values"},
                                  {R"({"players":2,"values":[0,1,null,2]})", "values"},
                                  {R"({"players":2,"terms":[{"coalition":[2],"coefficient":1}]})", "coalition"}})
    expect_refusal("attribute --game " + file("game.json", text) + " --method exact", 3, key);
}

TEST_F(CommandLine, AttributionsOfAGameHaveTheContractsKeys) {
  const std::string game = file("game.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  const nlohmann::json json = answer("attribute --game " + game + " --method exact");
  for (const char* key : {"method", "players", "values", "standard_errors", "empty", "grand", "efficiency_gap",
                          "distinct", "evaluations", "seed", "seconds", "exact"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_TRUE(json["seconds"].contains("game") && json["seconds"].contains("estimator"));
  EXPECT_TRUE(holds(json, {{"method", "exact"}, {"empty", 1.0}, {"grand", 9.0}, {"distinct", 8}}));
}

TEST_F(CommandLine, UnknownOptionsAreAnsweredWithTheNearestOne) {
  expect_refusal("data import npy --periodik true", 2,
                 "--periodik (no option of `opshap data import npy`). Did you mean --periodic?");
  expect_refusal("attribute --game unanimity_sum --bugdet=7", 2, "Did you mean --budget?");
  expect_refusal("attribute --game unanimity_sum --xyzzy=7", 2, "--xyzzy");
}

TEST_F(CommandLine, StandardErrorsOfFewOrderingsSaySo) {
  const std::string ask = "attribute --game unanimity_sum --players 8 --game-seed 3 --method permutation --budget ";
  // ∅, N and five orderings of seven coalitions.
  EXPECT_TRUE(has(output(ask + "37"), "of 5 samples: an interval of 95 % is ± 2.78 of them"));
  EXPECT_EQ(5, answer(ask + "37").at("error_samples"));
  EXPECT_FALSE(has(opshap(ask + "250").out, "samples:")) << "35 orderings are not few";
  const std::string rare =
      output("attribute --game " + file("rare.json", R"({"players": 9, "terms": [{"coalition": [0, 1, 2, 3, 4, 5, 6, 7],
                                                                            "coefficient": 1}]})") +
             " --method permutation --budget 42");
  EXPECT_TRUE(has(rare, "have a standard error of 0"));
}

TEST_F(CommandLine, RegressionsThatAreNotDeterminedAreRefusedOrAnsweredWithTheLeastNorm) {
  const std::string ask = "attribute --game unanimity_sum --players 40 --budget 20 --method ";
  expect_refusal(ask + "kernel_shap_paired", 2, "budget=20 (needs at least 80");
  expect_refusal("attribute --game unanimity_sum --players 64 --budget 128 --method kernel_shap_paired", 2,
                 "--minimum-norm");
  expect_refusal(ask + "kernel_shap_unbiased --minimum-norm", 2, "--minimum-norm");
  const nlohmann::json found = answer(ask + "kernel_shap_paired --minimum-norm");
  EXPECT_TRUE(found["standard_errors"].is_null());
  EXPECT_TRUE(holds(found["minimum_norm"], {{"rank", 9}, {"needed_rank", 39}}));
  EXPECT_TRUE(has(opshap(ask + "kernel_shap_paired --minimum-norm").out, "rank 9 of the 39 that would determine"));
  const nlohmann::json determined =
      answer("attribute --game unanimity_sum --players 40 --budget 400 --method kernel_shap_paired --minimum-norm");
  EXPECT_TRUE(determined["minimum_norm"].is_null());
}

TEST_F(CommandLine, SecondOrderSaysHowFarOffItIsAndWhatItCost) {
  const std::string ask = "attribute --game exponential_of_measure --players 32 --method diagonal_second_order";
  const Json found = answer(ask + " --nodes 6 --directions 8");
  EXPECT_TRUE(holds(found, {{"nodes", 6}, {"directions", 8}, {"fallback", nullptr}, {"standard_errors", nullptr}}));
  EXPECT_EQ(6 * (1 + 2 * 8), found["gradients"]);
  EXPECT_EQ(3 * 6 * (1 + 2 * 8) + 2, found["forward_equivalents"]) << "v(∅) and v(N) too";
  EXPECT_EQ(32U, found["correction"].size());
  EXPECT_GT(found["error_bar"].get<double>(), 0);
  EXPECT_GT(found["first_order_error_bar"].get<double>(), 0);
  EXPECT_EQ("diagonal_second_order", found["steps"][0]["method"]);
  EXPECT_TRUE(has(output(ask), "without the correction"));
  EXPECT_EQ(32, answer(ask + " --directions all")["directions"]);
  for (const char* wrong : {"3", "64", "-4", "many"})
    expect_refusal(ask + " --directions " + wrong, 2, "directions=" + std::string(wrong));
  expect_refusal(ask + " --base mean_feld", 2, "mean_field");
  expect_refusal(ask + " --base mean_field", 2, "closure=none");
  expect_refusal(ask + " --rule midpoint", 2, "--rule");
  expect_refusal(ask + " --budget 100", 2, "--budget");
  expect_refusal("attribute --game unanimity_sum --players 8 --method exact --directions 4", 2, "--directions");
  expect_refusal("attribute --game unanimity_sum --players 8 --base mean_field", 2, "--base");
  EXPECT_EQ(0,
            done("attribute --game unanimity_sum --players 16 --method diagonal_second_order --base mean_field").code);
}

TEST_F(CommandLine, SecondOrderSaysThatItIsBeyondTheToleranceOrSamplesInstead) {
  const std::string ask =
      "attribute --game exponential_of_measure --players 32 --method diagonal_second_order --tolerance ";
  const Outcome good = done(ask + "1 --json");
  EXPECT_TRUE(holds(Json::parse(good.out), {{"tolerance", 1}, {"within_tolerance", true}, {"fallback", nullptr}}));
  EXPECT_EQ("", good.err);
  const Outcome beyond = done(ask + "1e-9 --quiet --json");
  EXPECT_TRUE(holds(Json::parse(beyond.out), {{"within_tolerance", false}, {"fallback", nullptr}}));
  EXPECT_TRUE(has(beyond.err, "attribute: diagonal_second_order: relative error about "));
  EXPECT_TRUE(has(beyond.err, "not within the tolerance of 1e-09.\n"));
  EXPECT_TRUE(has(beyond.err, "--fallback"));

  const Json found = answer(ask + "1e-9 --fallback odd_shap --budget 200");
  EXPECT_TRUE(holds(found, {{"method", "diagonal_second_order"},
                            {"fallback", "odd_shap"},
                            {"error_bar", nullptr},
                            {"standard_errors", nullptr},
                            {"within_tolerance", nullptr},
                            {"distinct", 200}}));
  EXPECT_EQ(answer("attribute --game exponential_of_measure --players 32 --method odd_shap --budget 200")["values"],
            found["values"]);
  EXPECT_EQ(Json::parse(beyond.out)["correction"], found["correction"]);
  ASSERT_EQ(2U, found["steps"].size());
  EXPECT_EQ("odd_shap", found["steps"][1]["method"]);
  EXPECT_EQ(3 * found["gradients"].get<int>() + 200, found["forward_equivalents"]);

  for (const char* wrong : {"0", "-1", "1.01", "nan"}) expect_refusal(ask + wrong, 2, "--tolerance=");
  expect_refusal(ask + "1 --fallback odd_shap", 2, "--budget (--fallback=odd_shap");
  expect_refusal(ask + "1 --fallback odd_shap --budget 20", 2, "needs at least 64 coalitions");
  expect_refusal(ask + "1 --fallback odd_shp --budget 200", 2, "odd_shap");
  expect_refusal(ask + "1 --fallback two_level --budget 2000", 2, "needs gradients");
  expect_refusal(ask + "1 --fallback mean_field --budget 200", 2, "needs gradients");
  expect_refusal(ask + "1 --fallback exact --budget 200", 2, "does not sample");
  const std::string other = "attribute --game unanimity_sum --players 8 --method permutation --budget 20 ";
  expect_refusal(other + "--tolerance 0.1", 2, "--tolerance");
  expect_refusal(other + "--fallback odd_shap", 2, "--fallback");
  expect_refusal(other + "--error-bar", 2, "--error-bar");
}

TEST_F(CommandLine, AFirstOrderSaysHowFarOffItIsWhereThatCostsLessThanItDoes) {
  const auto asked = [this](int players, const std::string& more) {
    return answer("attribute --game exponential_of_measure --players " + std::to_string(players) + " --method " + more);
  };
  const Json found = asked(16, "integrated_gradients");
  EXPECT_EQ(50 + 4 * (1 + 2 * 4), found["gradients"]);
  EXPECT_GE(found["error_bar"], asked(16, "diagonal_second_order")["first_order_error_bar"]);
  EXPECT_EQ(asked(16, "integrated_gradients --no-error-bar")["values"], found["values"]);
  EXPECT_EQ("integrated_gradients", found["steps"][0]["method"]);
  EXPECT_EQ(3 * found["gradients"].get<int>() + 2, found["forward_equivalents"]);
  for (const char* more : {"integrated_gradients --nodes 36", "integrated_gradients --no-error-bar"})
    EXPECT_FALSE(asked(16, more).contains("error_bar")) << more;
  EXPECT_TRUE(asked(16, "integrated_gradients --nodes 37").contains("error_bar"));
  EXPECT_FALSE(asked(17, "integrated_gradients").contains("error_bar"));
  EXPECT_TRUE(asked(17, "integrated_gradients --error-bar").contains("error_bar"));
  expect_refusal("attribute --game exponential_of_measure --players 17 --method mean_field --error-bar", 2,
                 "closure=none");
  const std::string closed = "attribute --game bilinear_game --players 8 --method integrated_gradients --error-bar";
  EXPECT_TRUE(has(output(closed), "relative error about"));
}

TEST_F(CommandLine, AStandardInputOfDashIsRead) {
  const Outcome outcome =
      ended("echo '{\"players\":1,\"values\":[1,3]}' | " + program("attribute --game - --method exact --json"));
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
  EXPECT_TRUE(has(outcome.err, "No space left on device"));
}

TEST_F(CommandLine, DataSetsAreTheSameFileForAnyNumberOfThreadsAndAfterAnyInterruption) {
  const auto generate = [this](const std::string& name, const char* count) {
    return program("data generate --pde burgers1d --set dt=2e-3 --set nu=0.02 --samples 192 --seed 3 --out " +
                   path(name) + " --threads " + count);
  };
  ended(generate("one.h5", "1"));
  ended(generate("two.h5", "2"));
  const std::string whole = read_file(path("one.h5"));
  EXPECT_TRUE(whole == read_file(path("two.h5")));

  // 192 samples are three shards: the signals arrive when the first one is there, however busy the machine is.
  for (const auto& [signal, code] : {std::pair("TERM", 6), std::pair("KILL", 137)}) {
    const std::string name = std::string(signal) + ".h5";
    ended(generate(name, "1") + " & while [ ! -s " + path(name + ".shards") +
              "/manifest.jsonl ] && kill -0 $!; do sleep 0.01; done; kill -" + signal + " $!; wait $!",
          code);
    EXPECT_FALSE(fs::exists(path(name)));
    ended(generate(name, "2"));
    EXPECT_TRUE(whole == read_file(path(name)));
  }
}

TEST_F(CommandLine, DamagedDataSetsAreRefused) {
  done("data generate --pde burgers1d --samples 8 --out " + path("data.h5"));
  const std::string whole = read_file(path("data.h5"));
  expect_refusal("data info " + file("short.h5", whole.substr(0, whole.size() / 2)), 3, "short.h5");
  expect_refusal("data info " + file("flipped.h5", flipped(whole, whole.size() / 2, 4)), 3, "flipped.h5");
}

TEST_F(CommandLine, LightCommandsStartWithoutLibTorch) {
  const Outcome libraries = ended("ldd " + program(""));
  EXPECT_FALSE(has(libraries.out, "libtorch"));
  EXPECT_FALSE(has(libraries.out, "libc10"));
  for (const char* arguments : {"--help", "list estimators", "list claims --json", "doctor --quick"}) done(arguments);
}

class LoadedLibraries : public Program {
 protected:
  /// The file names of all shared libraries that a command has loaded.
  std::set<std::string> loaded_by(const std::string& arguments) const {
    std::set<std::string> names;
    const std::string begins = "calling init: ";
    for (const std::string& line : parts_of(ended("LD_DEBUG=libs " + program(arguments)).err))
      if (const std::size_t at = line.find(begins); at != std::string::npos)
        names.insert(std::filesystem::path(line.substr(at + begins.size())).filename().string());
    return names;
  }
};

std::set<std::string> among(std::set<std::string> names, std::initializer_list<const char*> parts) {
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(parts, [&](const char* part) { return name.find(part) != std::string::npos; });
  });
  return names;
}

const std::initializer_list<const char*> of_networks = {"torch", "libc10", "blas", "mkl", "libmpi", "opshap-networks"},
                                         of_threads = {"gomp", "libomp", "iomp"};

TEST_F(LoadedLibraries, OfLightCommandsAreLight) {
  for (const char* arguments : {"list estimators", "--help", "attribute --game unanimity_sum --players 8",
                                "attribute --game unanimity_sum --players 8 --method kernel_shap --budget 100"}) {
    const std::set<std::string> names = loaded_by(arguments);
    EXPECT_TRUE(names.contains("libopshap.so")) << arguments;
    EXPECT_EQ(std::set<std::string>{}, among(names, of_networks)) << arguments;
    EXPECT_EQ(std::set<std::string>{}, among(names, of_threads)) << arguments;
    EXPECT_EQ(std::set<std::string>{}, among(names, {"xgboost"})) << arguments;
  }
}

TEST_F(LoadedLibraries, OfTreesAreThereForWhoFitsTrees) {
  const auto names = loaded_by("attribute --game unanimity_sum --players 8 --method regression_msr_tree --budget 100");
  EXPECT_EQ(1u, among(names, {"libxgboost"}).size());
  EXPECT_EQ(std::set<std::string>{}, among(names, of_networks));
}

#ifdef OPSHAP_WITH_NETWORKS
TEST_F(LoadedLibraries, HaveOneOpenMpRuntimeOrTheDoctorSaysSo) {
  data::write_npy(path("u.npy"), {{1, 16}, data::Dtype::float64, std::vector<double>(16, 0.5)});
  const std::string asked = message("attribute --operator ", OPSHAP_BINARY_DIR,
                                    "/share/opshap/operators/burgers1d.safetensors --query 8 --input ", path("u.npy")),
                    trees = message(asked, " --method regression_msr_tree --budget 100");
  const auto alone = among(loaded_by(asked), of_threads), with_trees = among(loaded_by(trees), of_threads);
  EXPECT_EQ(1u, alone.size());
  const Outcome doctor = opshap("doctor");
  EXPECT_EQ(with_trees.size() > 1, doctor.out.find("threads of its own") != std::string::npos) << doctor.out;
  for (const std::string& name : alone) EXPECT_TRUE(has(doctor.out, name));
}
#endif

class CommandTables : public Program {
 protected:
  /// What bash offers at the end of a command line.
  std::string completed(const std::string& words) const {
    const std::string script = file("complete.sh", script_ + "COMP_WORDS=(" + words +
                                                       ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_opshap\n"
                                                       "echo \"${COMPREPLY[*]}\"\n");
    const Outcome outcome = ended("cd " + path(".") + " && bash " + script);
    EXPECT_EQ("", outcome.err);
    return outcome.out;
  }
  std::string script_;  ///< for bash
  static bool offers(const std::string& words, const std::string& word) {
    return (" " + words).find(" " + word) != std::string::npos;
  }
};

TEST_F(CommandTables, BashCompletesCommandsOptionsAndValues) {
  script_ = opshap("completion bash").out;
  EXPECT_EQ("data\n", completed("opshap da"));
  EXPECT_EQ("import info\n", completed("opshap data i"));
  EXPECT_EQ("--periodic\n", completed("opshap data import npy --per"));
  EXPECT_EQ("node cell\n", completed("opshap data import npy --centring ''"));
  EXPECT_EQ("bash\n", completed("opshap completion b"));
  EXPECT_TRUE(offers(completed("opshap attribute --method perm"), "permutation_antithetic"));
  EXPECT_TRUE(offers(completed("opshap attribute --o"), "--out")) << "an option of every command that applies";
  EXPECT_FALSE(offers(completed("opshap list --o"), "--out")) << "one that does not";
  file("fields.npy", "");
  EXPECT_EQ("fields.npy\n", completed("opshap data import npy --input fie"));
  EXPECT_EQ("backbone\n", completed("opshap train b"));
  EXPECT_TRUE(offers(completed("opshap reproduce --"), "--dry-run"));
}

TEST_F(CommandTables, EveryShellLearnsEveryCommandAndOption) {
  for (const char* shell_name : {"bash", "zsh", "fish"}) {
    const std::string script = output(std::string("completion ") + shell_name);
    EXPECT_TRUE(has(script, {"import", "skip-nonfinite", "permutation_antithetic", "golden"})) << shell_name;
  }
  expect_refusal("completion tcsh", 2, "shell");
}

// Every command has a page, and every option an entry in it. groff reads the pages without a warning. --help is made by
// CLI11 from the same application, and takes a start of the program for each command: eight are drawn.
TEST_F(CommandTables, EveryCommandHasAManualPage) {
  done("man --out " + path("pages"));
  std::vector<std::string> commands;
  for (const auto& page : std::filesystem::directory_iterator(path("pages"))) {
    std::string command = page.path().stem().string().substr(std::string("opshap").size());
    std::replace(command.begin(), command.end(), '-', ' ');
    commands.push_back(command);
  }
  std::sort(commands.begin(), commands.end());
  EXPECT_GT(commands.size(), 20u);
  Rng rng(test_seed(), "commands with a page");
  std::vector<int> order(commands.size());
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(std::span(order).subspan(1));  // the first is the program itself, which lists the others
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string& command = commands[static_cast<std::size_t>(order[i])];
    const auto page = read_file(path("pages/" + cli::page_name(command.empty() ? "" : command.substr(1)) + ".1"));
    EXPECT_TRUE(has(page, ".SH SYNOPSIS")) << command;
    const std::string help = output(command + " --help");
    for (const std::string& name : found_by("\n  (?:-[a-z],)?(--[a-z-]+)", help))
      EXPECT_TRUE(has(page, substituted(name, "-", "\\-"))) << command;
    const std::size_t listed = help.find("\nSubcommands:");
    if (listed == std::string::npos) continue;
    for (const std::string& name : found_by("\n  ([a-z]+)  ", help.substr(listed)))
      EXPECT_TRUE(std::ranges::binary_search(commands, command + " " + name)) << command;
  }
  if (shell("command -v groff").code == 0) {
    EXPECT_EQ("", shell("cd " + path("pages") + " && groff -man -ww -K utf8 -T utf8 *.1 > /dev/null").err);
  }
  EXPECT_EQ(read_file(path("pages/opshap-data-import-npy.1")), opshap("man data import npy").out);
  expect_refusal("man data improt", 2, "man: command=data improt (not one of opshap). Did you mean data import?");
}

// A text that roff would read as a command, and letters that shells read.
TEST(CommandTable, TextsAreOnlyTexts) {
  const cli::CommandTable table{
      .name = "opshap",
      .summary = "all",
      .commands = {
          {.name = "one",
           .summary = ".so it's \\begin",
           .options = {{.names = {"--mode"}, .takes_value = true, .choices = {"a", "b"}, .meaning = "'it's"}}}}};
  EXPECT_TRUE(has(cli::man_page(table, "one"), {"opshap\\-one \\- \\&.so it's \\ebegin\n", "\n\\&'it's\n"}));
  EXPECT_TRUE(has(cli::fish_completion(table), "-d '.so it\\'s \\\\begin'"));
}

}  // namespace
}  // namespace opshap
