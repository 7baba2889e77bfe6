// `opshap reference`, `opshap compare` and `opshap compare --suite` as their users meet them.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/measured.hpp"
#include "support/expressions.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using nlohmann::json;
using ReferenceCommand = Program;
using CompareCommand = Program;

const std::string family = "--game unanimity_sum --players 24 --game-seed 3", compare = "compare " + family,
                  reference = "reference " + family;

TEST_F(ReferenceCommand, PrintsValuesWithTheErrorThatWasAskedFor) {
  const json found = answer(reference + " --relative-error 0.05 -q");
  EXPECT_TRUE(holds(found, {{"method", "certified"}, {"players", 24}, {"certification", nullptr}}));
  EXPECT_LE(found["relative_error"].get<double>(), 0.05);
  const std::vector<double> errors = found["standard_errors"], values = found["values"];
  EXPECT_NEAR(found["relative_error"].get<double>(), norm(errors) / norm(values),
              1e-12);  // two roundings of a quotient
  EXPECT_TRUE(found["cross_check"]["agrees"].get<bool>());
  ASSERT_EQ(2u, found["estimates"].size());
  EXPECT_EQ("permutation_antithetic", found["estimates"][0]["method"]);
  EXPECT_EQ("two_level", found["estimates"][1]["method"]);  // the terms of the game are its slopes
}

TEST_F(ReferenceCommand, WritesTheSameAsItPrints) {
  const json printed = answer(reference + " --relative-error 0.05 -q --out " + path("reference.json"));
  EXPECT_EQ(printed, json_of("reference.json"));
}

TEST_F(ReferenceCommand, IsExactForFewPlayers) {
  const std::string game = file("game.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  const json found = answer("reference --game " + game);
  EXPECT_TRUE(holds(found, {{"method", "exact"}, {"relative_error", 0}, {"cross_check", nullptr}}));
}

TEST_F(ReferenceCommand, FailsWhenTheErrorCannotBeReachedWithinTheEvaluations) {
  const Outcome outcome = done(reference + " --relative-error 1e-6 --max-evaluations 4000 --json -q", 1);
  EXPECT_FALSE(json::parse(outcome.out)["reached"].get<bool>());
  EXPECT_TRUE(has(outcome.err, "Raise --max-evaluations"));
}

TEST_F(ReferenceCommand, CertifiesTheNearerOfTwoAttributions) {
  // A poor estimate, and one that is better than the reference: both known by their budgets.
  const std::string attribute = "attribute " + family + " --json --method ";
  file("poor.json", output(attribute + "permutation --budget 60"));
  file("good.json", output(attribute + "kernel_shap_paired --budget 300000"));
  const std::string certify = reference + " --relative-error 0.03 -q --certify ";
  EXPECT_EQ("reference is nearer", answer(certify + path("poor.json"))["certification"]["verdict"]);
  EXPECT_EQ("attribution is nearer", answer(certify + path("good.json"))["certification"]["verdict"]);
}

TEST_F(ReferenceCommand, RefusesWhatCannotWork) {
  const std::string few = file("few.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})");
  expect_refusal("reference", 2, "--game");
  expect_refusal("reference --game unanimity_sums --players 3", 2, "Did you mean unanimity_sum?");
  expect_refusal("reference --game unanimity_sum", 2, "--players");
  expect_refusal("reference --game unanimity_sum --players 0", 2, "--players=0");
  expect_refusal("reference --game cell_mask_game --players 4", 2, "is made from an operator");
  expect_refusal("reference --game " + few + " --players 3", 2, "--players");
  expect_refusal("reference --game " + few + " --exact-players 30", 2, "exact_players=30");
  expect_refusal(reference + " --relative-error 0", 2, "relative_error=0");
  expect_refusal(reference + " --max-evaluations 10", 2, "max_evaluations=10");
  expect_refusal("reference --game " + path("none.json"), 3, "none.json");
  expect_refusal("reference --game " + few + " --certify " + path("none.json"), 3, "none.json");
  expect_refusal("reference --game " + few + " --certify " + file("other.json", R"({"values":[1,2]})"), 3, "2 values");
  expect_refusal("reference --game " + few + " --certify " + file("game.json", R"({"values":[1,2,5],"grand":90})"), 3,
                 "grand=90");
  expect_refusal("reference --game " + few + " --certify " + file("text.json", "1 2 3"), 3, "values");
}

TEST_F(CompareCommand, HasARowForEveryRunWithTheContractsKeys) {
  const json found = answer(compare + " --methods permutation,kernel_shap_paired --budgets 2n,2^8..2^9 --repeats 3 -q");
  EXPECT_EQ((std::vector<std::int64_t>{48, 256, 512}), found["budgets"].get<std::vector<std::int64_t>>());
  ASSERT_EQ(2u * 3u * 3u, found["rows"].size());
  for (const json& row : found["rows"]) {
    for (const char* key : {"game", "players", "method", "budget", "repeat", "seed", "distinct", "nrmse", "pearson",
                            "efficiency_gap", "seconds", "exact"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_LE(row["distinct"].get<std::int64_t>(), row["budget"].get<std::int64_t>());
    EXPECT_TRUE(row["seconds"].contains("game") && row["seconds"].contains("estimator"));
  }
  EXPECT_EQ("closed form", found["truth"]["method"]);
  EXPECT_EQ(2u, found["ranks"].size());
}

TEST_F(CompareCommand, LeavesAFolderThatStandsForItself) {
  const std::string command =
      compare + " --methods permutation,kernel_shap,exact --budgets 64,128 --repeats 3 -q --out " + path("out");
  EXPECT_EQ(path("out") + "/summary.md\n", output(command));
  for (const char* name :
       {"manifest.json", "results.jsonl", "truth.json", "summary.md", "tables/errors.csv", "tables/runtime.csv",
        "tables/ranking.md", "figures/budget_error.svg", "figures/budget_error.csv"})
    EXPECT_TRUE(std::filesystem::exists(path("out") + "/" + name)) << name;
  const json manifest = json_of("out/manifest.json");
  for (const char* key : {"command", "seed", "commit", "environment", "settings"})
    EXPECT_TRUE(manifest.contains(key)) << key;
  EXPECT_EQ("opshap", manifest["command"][0]);
  const std::string rows = read_file(path("out/results.jsonl"));

  // The same again runs nothing; what was lost comes back; another seed is another comparison.
  write_file(path("out/results.jsonl"), rows.substr(0, rows.size() / 2));
  done(command);
  EXPECT_EQ(count(rows, "\n"), count(read_file(path("out/results.jsonl")), "\n"));
  EXPECT_TRUE(has(done(command + " --seed 7", 2).err, "seed: "));
}

TEST_F(CompareCommand, MarksExactMethodsAndSaysWhyOthersHaveNoScore) {
  const json found = answer(
      "compare --game additive_game --players 20 --methods permutation_antithetic,kernel_shap --budgets 24,80 "
      "--repeats 2 -q");
  EXPECT_TRUE(found["ranks"].empty());
  ASSERT_FALSE(found["exact"].empty());
  EXPECT_EQ("guarantee", found["exact"][0]["why"]);
  ASSERT_EQ(1u, found["undefined"].size());
  EXPECT_EQ("permutation_antithetic", found["undefined"][0]["method"]);
  EXPECT_TRUE(has(found["undefined"][0]["why"].get<std::string>(), "needs at least 40"));
}

TEST_F(CompareCommand, SaysWhoSpendsLessThanTheBudget) {
  output(
      "compare --game unanimity_sum --players 8 --budgets 200 --repeats 3 --methods permutation,leverage_shap --out " +
      path("spent"));
  const std::string summary = read_file(path("spent/summary.md"));
  EXPECT_TRUE(has_match(summary, "permutation.*ranked, on [5-8][0-9] % of the budget")) << summary;
  EXPECT_FALSE(has_match(summary, "leverage_shap.*% of the budget")) << summary;
}

TEST_F(CompareCommand, ScoresMinimumNormSolutionsOnRequestWithoutPromisesOfExactness) {
  const std::string command =
      "compare --game additive_game --players 20 --methods kernel_shap,permutation --budgets 16 --repeats 2 -q";
  EXPECT_TRUE(answer(command)["rows"][0]["nrmse"]["value"].is_null());
  const json found = answer(command + " --minimum-norm");
  EXPECT_EQ(true, found["minimum_norm"]);
  EXPECT_TRUE(holds(found["rows"][0], {{"method", "kernel_shap"}, {"exact", ""}}));
  EXPECT_GT(found["rows"][0]["nrmse"].get<double>(), 0.01);
  EXPECT_TRUE(has(opshap(command + " --minimum-norm").out, "minimum-norm solution"));
}

TEST_F(CompareCommand, SaysWhatChangedSinceABaseline) {
  const std::string command = compare + " --methods permutation,kernel_shap --budgets 64,128 -q";
  done(command + " --out " + path("before"));
  const std::string rows = read_file(path("before/results.jsonl"));

  // The same comparison again: the same seeds, so the same errors.
  const json against = answer(command + " --against " + path("before"))["against"];
  ASSERT_EQ(2u, against["methods"].size());
  for (const json& found : against["methods"])
    EXPECT_TRUE(holds(found, {{"change", "no change seen"}, {"ratio", 1}, {"runs", 20}}));

  // A baseline that was better: its errors are a tenth. A line of the other method is not touched.
  std::string better;
  for (const std::string& line : parts_of(rows)) {
    json row = json::parse(line);
    if (row["method"] == "permutation") row["nrmse"] = row["nrmse"].get<double>() / 10;
    better += row.dump() + "\n";
  }
  const Outcome worse = done(command + " --against " + file("better.jsonl", better), 1);
  EXPECT_TRUE(has(worse.out, {"permutation: worse, errors 10.0", "kernel_shap: no change seen"}));

  // Another method is named and decides nothing.
  const std::string other = output(compare + " --methods permutation,msr --budgets 64 -q --against " + path("before"));
  EXPECT_TRUE(has(other, {"msr: no run of it in the baseline", "kernel_shap: only in the baseline"}));
}

TEST_F(CompareCommand, RefusesABaselineOfAnotherGame) {
  const std::string other =
      "compare --game unanimity_sum --players 24 --game-seed 4 --methods permutation --budgets 64 -q";
  done(other + " --out " + path("other"));
  const std::string command = compare + " --methods permutation --budgets 64 -q --against ";
  expect_refusal(command + path("other"), 3, "other values");
  const std::string fewer =
      "compare --game unanimity_sum --players 12 --methods permutation --budgets 64 -q --against ";
  expect_refusal(fewer + path("other"), 3, "no row of it");
  expect_refusal(command + path("none.jsonl"), 3, "none.jsonl");
  expect_refusal(command + file("empty.jsonl", ""), 3, "has no rows");
  expect_refusal(command + file("text.jsonl", "1 2 3\n"), 3, "text.jsonl");
}

TEST_F(CompareCommand, TakesEveryEstimatorForAll) {
  const json found = answer("compare --game additive_game --players 6 --methods all --budgets 40 --repeats 1 -q");
  EXPECT_EQ(found["methods"].size(), answer("list estimators")["entries"].size());
  expect_refusal("compare --game additive_game --players 6 --methods all,permutation --budgets 40", 2, "given twice");
}

TEST_F(CompareCommand, RefusesWhatCannotWork) {
  const std::string methods = compare + " --methods ";
  expect_refusal(compare + " --budgets 64", 2, "--methods");
  expect_refusal(methods + "permutation", 2, "--budgets");
  expect_refusal(methods + "permutations --budgets 64", 2, "Did you mean permutation?");
  expect_refusal(methods + "permutation,permutation --budgets 64", 2, "given twice");
  expect_refusal(methods + "permutation --budgets 2^9..2^7", 2, "2^9..2^7");
  expect_refusal(methods + "permutation --budgets many", 2, "part=many");
  expect_refusal(methods + "permutation --budgets 64 --repeats 0", 2, "--repeats=0");
  expect_refusal(methods + "permutation --budgets 64 --out /proc/opshap", 2, "/proc/opshap");
  expect_refusal(methods + "permutation --budgets 64 --out -", 2, "--out=-");
  expect_refusal(methods + "permutation --budgets 64 --minimum-norm", 2, "--minimum-norm");
}

class SuiteCommand : public Program {
 protected:
  std::string suite(const std::string& games = "", const std::string& name = "small") const {
    const std::string usual =
        "[[games]]\nfamily = 'unanimity_sum'\nplayers = [6, 8]\nseed = 3\n"
        "[[games]]\nfamily = 'relu_of_measure'\nplayers = [8]\nbudgets = '24'\n";
    return file(name + ".toml",
                "summary = 'two families'\nrepeats = 2\nbudgets = '2n..4n'\n" + (games.empty() ? usual : games));
  }
  /// A comparison of two methods on the usual games. The name of its folder comes behind.
  std::string compared() const { return "compare --suite " + suite() + " --methods permutation,msr -q --out "; }
  json board(const std::string& out) const { return json_of(out + "/leaderboard.json"); }
};

TEST_F(SuiteCommand, RunsEveryGameInAFolderOfItsOwnBelowOnePage) {
  const std::string outcome = output(compared() + path("out"));
  EXPECT_EQ("## Methods that see values of coalitions\n\n" + read_file(path("out/tables/ranking_values.md")) + "\n" +
                path("out") + "/report.html\n",
            outcome);
  for (const char* name : {"manifest.json", "leaderboard.json", "tables/ranking_values.csv", "tables/cost.md",
                           "unanimity_sum_n6/results.jsonl", "unanimity_sum_n8/summary.md",
                           "relu_of_measure_n8/truth.json", "relu_of_measure_n8/figures/budget_error.svg"})
    EXPECT_TRUE(std::filesystem::exists(path("out") + "/" + name)) << name;

  const json found = board("out");
  EXPECT_EQ("small", found["suite"]);
  ASSERT_EQ(3u, found["games"].size());
  EXPECT_EQ("closed forms", found["games"][0]["group"]);
  ASSERT_EQ(1u, found["classes"].size());
  // Two budgets of two games, and one of the third.
  EXPECT_TRUE(holds(found["classes"][0], {{"access", "values"}, {"conditions", 5}}));
  ASSERT_EQ(2u, found["classes"][0]["ranks"].size());
  double sum = 0;
  for (const json& rank : found["classes"][0]["ranks"]) sum += rank["rank"].get<double>();
  EXPECT_NEAR(3, sum, 1e-12);  // ranks of two are 1 + 2 at every condition; some roundings

  const std::string page = read_file(path("out/report.html"));
  EXPECT_FALSE(has(page, "src=")) << "the page needs something else";
  EXPECT_FALSE(has(page, "href=\"http"));
  EXPECT_TRUE(has(page, {"Suite small", "two families", "relu_of_measure, n = 8", "Methods that see values",
                         "id=\"cost\"", "id=\"versions\""}));
}

TEST_F(SuiteCommand, GoesOnWhereItWasStopped) {
  const std::string command = compared() + path("out");
  done(command);
  const std::string first = read_file(path("out/unanimity_sum_n6/results.jsonl")),
                    second = read_file(path("out/unanimity_sum_n8/results.jsonl"));
  const json before = board("out");
  // As a kill leaves it: one game half done, the next one not begun.
  write_file(path("out/unanimity_sum_n8/results.jsonl"), second.substr(0, second.size() / 2));
  std::filesystem::remove_all(path("out/relu_of_measure_n8"));
  done(command);
  EXPECT_EQ(first, read_file(path("out/unanimity_sum_n6/results.jsonl")));
  EXPECT_EQ(before["classes"], board("out")["classes"]);
  EXPECT_TRUE(has(done(command + " --repeats 3", 2).err, "settings"));
}

TEST_F(SuiteCommand, TakesBudgetsRepeatsAndReferenceFromTheCommandLine) {
  const std::string outcome = output("compare --suite " + suite() +
                                     " --methods permutation --budgets 3n --repeats 1 --json -q --out " + path("out"));
  EXPECT_EQ(board("out"), json::parse(outcome));
  const json settings = json_of("out/relu_of_measure_n8/manifest.json")["settings"];
  EXPECT_TRUE(holds(settings, {{"budgets", std::vector{24}}, {"repeats", 1}}));
}

TEST_F(SuiteCommand, SaysWhatChangedSinceAnEarlierSuite) {
  done(compared() + path("before"));
  const std::string same = output(compared() + path("now") + " --against " + path("before"));
  EXPECT_TRUE(has(same, {"permutation: no change seen", "over 10 runs"}));  // five conditions, two repeats
  EXPECT_TRUE(has(read_file(path("now/report.html")), "permutation: no change seen"));

  // Another family under the name of the first is another game.
  const auto renamed = suite("[[games]]\nname = 'unanimity_sum'\nfamily = 'airport_game'\nplayers = [8]\n", "other");
  const Outcome refused = done("compare --suite " + renamed + " --methods permutation,msr -q --out " + path("other") +
                                   " --against " + path("before"),
                               3);
  EXPECT_TRUE(has(refused.err, "other values"));
}

TEST_F(SuiteCommand, IsDrawnAgainFromItsRowsAlone) {
  const std::string command = compared() + path("out");
  done(command);
  const std::vector<std::string> drawn = {"report.html", "leaderboard.json", "tables/ranking_values.md",
                                          "tables/cost.csv"};
  std::map<std::string, std::string> before;
  for (const std::string& name : drawn) {
    before[name] = read_file(path("out/" + name));
    std::filesystem::remove(path("out/" + name));
  }
  EXPECT_EQ(path("out") + "/report.html\n", output("report " + path("out")));
  for (const std::string& name : drawn) EXPECT_EQ(before[name], read_file(path("out/" + name))) << name;

  done("report " + path("out") + " --keep " + path("kept"));
  EXPECT_EQ((std::set<std::string>{"manifest.json", "results.jsonl.gz", "truth.json"}),
            names_in(path("kept/unanimity_sum_n6")));
  done("report " + path("kept"));
  for (const std::string& name : drawn) EXPECT_EQ(before[name], read_file(path("kept/" + name))) << name;
  EXPECT_TRUE(has(output(command + " --against " + path("kept")), "permutation: no change seen"));

  expect_refusal(compared() + path("kept"), 3, "gunzip");
  expect_refusal("report " + path("out") + " --keep " + path("out"), 2, "is that of the run itself");
  const std::string packed = path("kept/unanimity_sum_n8/results.jsonl.gz");
  const std::string bytes = read_file(packed);
  write_file(packed, flipped(bytes, bytes.size() / 2, 1));
  expect_refusal("report " + path("kept"), 3, "unanimity_sum_n8/results.jsonl.gz");
  expect_refusal(command + " --against " + path("kept"), 3, "unanimity_sum_n8/results.jsonl.gz");
}

TEST_F(SuiteCommand, KeepsAProgramThatDoesNotFinish) {
  file("ends/peer.sh", "exit 3");
  file("ends/plugin.toml", "name = 'ends'\nversion = '0.7'\ncommand = ['sh', 'peer.sh']\nneeds = ['values']\n");
  output("compare --suite " + suite() + " --methods permutation,peer:" + path("ends") + " -q --out " + path("out"), 5);
  EXPECT_TRUE(has(read_file(path("out/report.html")), {"DNF (crash", "0.7"}));
  EXPECT_EQ("ends", board("out")["peers"][0]["name"]);
  EXPECT_EQ(json::array({"peer:ends"}), board("out")["classes"][0]["not_ranked"]);
}

TEST_F(SuiteCommand, RefusesWhatCannotWork) {
  const std::string end = " --methods permutation -q --out " + path("out");
  expect_refusal("compare --suite standart" + end, 2, "Did you mean standard?");
  expect_refusal("compare --suite " + path("none.toml") + end, 3, "none.toml");
  const std::string small = suite();
  expect_refusal("compare --suite " + small + " --methods permutation", 2, "--out");
  expect_refusal("compare --suite " + small + " --players 4" + end, 2, "--players");
  expect_refusal("compare --suite " + small + " --operator " + small + end, 2, "--operator");
  const auto refuses = [&](const std::string& games, int code, const std::string& contains) {
    expect_refusal("compare --suite " + suite(games, "bad") + end, code, contains);
  };
  refuses("[[games]]\nfamily = 'unanimity_sums'\nplayers = [4]\n", 2, "Did you mean unanimity_sum?");
  refuses("[[games]]\nfamily = 'cell_mask_game'\nplayers = [4]\n", 2, "is made from an operator");
  refuses("[[games]]\nfamily = 'airport_game'\nplayer = [4]\n", 2, "games[0].players");
  refuses("[[games]]\nfamily = 'airport_game'\nplayers = [4]\nsed = 1\n", 2, "games[0].sed (line 7");
  refuses("[[games]]\nfamily = 'airport_game'\nplayers = [0]\n", 2, "players=0");
  refuses("[[games]]\nfamily = 'airport_game'\nplayers = [4]\nbudgets = 'many'\n", 2, "part=many");
  refuses("[[games]]\nfamily = 'airport_game'\nname = '../x'\nplayers = [4]\n", 2, "names a folder");
  refuses("[[games]]\nfamily = 'airport_game'\nplayers = [4, 4]\n", 2, "there twice");
  refuses("[[games]]\nfamily = 'airport_game'\nplayers = 4\n", 2, "is not a list");
  refuses("games = 3\n", 2, "games=3 (is not a list)");
  refuses("[[games\n", 3, "Correct the TOML");
  refuses("[[games]]\nname = 'fno'\noperator = 'none.safetensors'\nproblem = 'burgers1d'\nplayers = [16]\n", 2,
          "operator=none.safetensors");
}

TEST_F(SuiteCommand, ListsTheSuites) {
  std::vector<std::string> names;
  const json found = answer("list suites");
  for (const json& entry : found["entries"]) names.push_back(entry["name"]);
  EXPECT_EQ((std::vector<std::string>{"quick", "standard"}), names);
}

#ifdef OPSHAP_WITH_NETWORKS
TEST_F(SuiteCommand, ExplainsTheTrainedOperatorThatComesWithTheProgram) {
  const std::string fno =
      "[[games]]\nname = 'fno'\noperator = 'burgers1d.safetensors'\nproblem = 'burgers1d'\nplayers = [16]\n";
  output("compare --suite " + suite(fno, "fno") +
         " --methods permutation_antithetic,msr,integrated_gradients -q --out " + path("out"));
  const json found = board("out");
  EXPECT_EQ("operators", found["games"][0]["group"]);
  EXPECT_EQ("exact", found["games"][0]["truth"]["method"]);
  ASSERT_EQ(2u, found["classes"].size());
  // What pairs of orderings get right to .1, sampling of sets alone does not.
  EXPECT_EQ("permutation_antithetic", found["classes"][0]["ranks"][0]["method"]);
  EXPECT_EQ("gradient", found["classes"][1]["access"]);
  EXPECT_TRUE(has(json_of("out/fno_n16/manifest.json")["settings"]["scenario"].get<std::string>(), "players: points"));

  // Other weights by hand are other games, in another folder or not at all.
  const std::string weights = std::string(OPSHAP_BINARY_DIR) + "/share/opshap/operators/burgers1d.safetensors";
  const std::string lone =
      suite("[[games]]\nname = 'fno'\noperator = 'mine.safetensors'\nproblem = 'burgers1d'\nplayers = [8]\n", "lone");
  const std::string end = " --methods msr --budgets 32 --repeats 1 -q --out ";
  done("compare --suite " + lone + " --operator " + weights + end + path("by_hand"));
  std::filesystem::copy_file(weights, path("mine.safetensors"));
  done("compare --suite " + lone + end + path("beside"));
  const std::string plane =
      suite("[[games]]\nname = 'fno'\noperator = 'mine.safetensors'\nproblem = 'heat2d'\nplayers = [8]\n", "plane");
  EXPECT_TRUE(has(done("compare --suite " + plane + end + path("plane"), 2).err, "does not take the inputs of heat2d"));
}
#endif

}  // namespace
}  // namespace opshap
