// `opshap compare --suite` as its users meet it.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace opshap {
namespace {

using nlohmann::json;

class SuiteCommand : public Program {
 protected:
  std::string suite(const std::string& games = "", const std::string& name = "small") const {
    const std::string usual =
        "[[games]]\nfamily = 'unanimity_sum'\nplayers = [6, 8]\nseed = 3\n"
        "[[games]]\nfamily = 'relu_of_measure'\nplayers = [8]\nbudgets = '24'\n";
    return file(name + ".toml",
                "summary = 'two families'\nrepeats = 2\nbudgets = '2n..4n'\n" + (games.empty() ? usual : games));
  }
  std::set<std::string> names_in(const std::string& folder) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder))) names.insert(entry.path().filename());
    return names;
  }
  json board(const std::string& out) const { return json::parse(read_file(path(out + "/leaderboard.json"))); }
};

TEST_F(SuiteCommand, RunsEveryGameInAFolderOfItsOwnBelowOnePage) {
  const Outcome outcome = opshap("compare --suite " + suite() + " --methods permutation,msr -q --out " + path("out"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_EQ("## Methods that see values of coalitions\n\n" + read_file(path("out/tables/ranking_values.md")) + "\n" +
                path("out") + "/report.html\n",
            outcome.out);
  for (const char* name : {"manifest.json", "leaderboard.json", "tables/ranking_values.csv", "tables/cost.md",
                           "unanimity_sum_n6/results.jsonl", "unanimity_sum_n8/summary.md",
                           "relu_of_measure_n8/truth.json", "relu_of_measure_n8/figures/budget_error.svg"})
    EXPECT_TRUE(std::filesystem::exists(path("out") + "/" + name)) << name;

  const json found = board("out");
  EXPECT_EQ("small", found["suite"]);
  ASSERT_EQ(3u, found["games"].size());
  EXPECT_EQ("closed forms", found["games"][0]["group"]);
  ASSERT_EQ(1u, found["classes"].size());
  EXPECT_EQ("values", found["classes"][0]["access"]);
  EXPECT_EQ(5, found["classes"][0]["conditions"]);  // two budgets of two games, and one of the third
  ASSERT_EQ(2u, found["classes"][0]["ranks"].size());
  double sum = 0;
  for (const json& rank : found["classes"][0]["ranks"]) sum += rank["rank"].get<double>();
  EXPECT_NEAR(3, sum, 1e-12);  // ranks of two are 1 + 2 at every condition; some roundings

  const std::string page = read_file(path("out/report.html"));
  EXPECT_EQ(std::string::npos, page.find("src=")) << "the page needs something else";
  EXPECT_EQ(std::string::npos, page.find("href=\"http"));
  for (const char* text : {"Suite small", "two families", "relu_of_measure, n = 8", "Methods that see values",
                           "id=\"cost\"", "id=\"versions\""})
    EXPECT_NE(std::string::npos, page.find(text)) << text;
}

TEST_F(SuiteCommand, GoesOnWhereItWasStopped) {
  const std::string command = "compare --suite " + suite() + " --methods permutation,msr -q --out " + path("out");
  ASSERT_EQ(0, opshap(command).code);
  const std::string first = read_file(path("out/unanimity_sum_n6/results.jsonl")),
                    second = read_file(path("out/unanimity_sum_n8/results.jsonl"));
  const json before = board("out");
  // As a kill leaves it: one game half done, the next one not begun.
  write_file(path("out/unanimity_sum_n8/results.jsonl"), second.substr(0, second.size() / 2));
  std::filesystem::remove_all(path("out/relu_of_measure_n8"));
  ASSERT_EQ(0, opshap(command).code);
  EXPECT_EQ(first, read_file(path("out/unanimity_sum_n6/results.jsonl")));
  EXPECT_EQ(before["classes"], board("out")["classes"]);
  const Outcome other = opshap(command + " --repeats 3");
  EXPECT_EQ(2, other.code);
  EXPECT_NE(std::string::npos, other.err.find("settings")) << other.err;
}

TEST_F(SuiteCommand, TakesBudgetsRepeatsAndReferenceFromTheCommandLine) {
  const Outcome outcome = opshap("compare --suite " + suite() +
                                 " --methods permutation --budgets 3n --repeats 1 --json -q --out " + path("out"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  EXPECT_EQ(board("out"), json::parse(outcome.out));
  const json manifest = json::parse(read_file(path("out/relu_of_measure_n8/manifest.json")));
  EXPECT_EQ(std::vector<int>{24}, manifest["settings"]["budgets"].get<std::vector<int>>());
  EXPECT_EQ(1, manifest["settings"]["repeats"]);
}

TEST_F(SuiteCommand, SaysWhatChangedSinceAnEarlierSuite) {
  const std::string command = "compare --suite " + suite() + " --methods permutation,msr -q --out ";
  ASSERT_EQ(0, opshap(command + path("before")).code);
  const Outcome same = opshap(command + path("now") + " --against " + path("before"));
  EXPECT_EQ(0, same.code) << same.err;
  EXPECT_NE(std::string::npos, same.out.find("permutation: no change seen")) << same.out;
  EXPECT_NE(std::string::npos, same.out.find("over 10 runs")) << same.out;  // five conditions, two repeats
  EXPECT_NE(std::string::npos, read_file(path("now/report.html")).find("permutation: no change seen"));

  // Another family under the name of the first is another game.
  const std::string renamed =
      suite("[[games]]\nname = 'unanimity_sum'\nfamily = 'airport_game'\nplayers = [8]\n", "other");
  const Outcome refused = opshap("compare --suite " + renamed + " --methods permutation,msr -q --out " + path("other") +
                                 " --against " + path("before"));
  EXPECT_EQ(3, refused.code) << refused.err;
  EXPECT_NE(std::string::npos, refused.err.find("other values")) << refused.err;
}

TEST_F(SuiteCommand, IsDrawnAgainFromItsRowsAlone) {
  const std::string command = "compare --suite " + suite() + " --methods permutation,msr -q --out " + path("out");
  ASSERT_EQ(0, opshap(command).code);
  const std::vector<std::string> drawn = {"report.html", "leaderboard.json", "tables/ranking_values.md",
                                          "tables/cost.csv"};
  std::map<std::string, std::string> before;
  for (const std::string& name : drawn) {
    before[name] = read_file(path("out/" + name));
    std::filesystem::remove(path("out/" + name));
  }
  const Outcome again = opshap("report " + path("out"));
  ASSERT_EQ(0, again.code) << again.err;
  EXPECT_EQ(path("out") + "/report.html\n", again.out);
  for (const std::string& name : drawn) EXPECT_EQ(before[name], read_file(path("out/" + name))) << name;

  const Outcome kept = opshap("report " + path("out") + " --keep " + path("kept"));
  ASSERT_EQ(0, kept.code) << kept.err;
  EXPECT_EQ((std::set<std::string>{"manifest.json", "results.jsonl.gz", "truth.json"}),
            names_in("kept/unanimity_sum_n6"));
  ASSERT_EQ(0, opshap("report " + path("kept")).code);
  for (const std::string& name : drawn) EXPECT_EQ(before[name], read_file(path("kept/" + name))) << name;
  const Outcome same = opshap(command + " --against " + path("kept"));
  EXPECT_EQ(0, same.code) << same.err;
  EXPECT_NE(std::string::npos, same.out.find("permutation: no change seen")) << same.out;

  expect_refusal("compare --suite " + suite() + " --methods permutation,msr -q --out " + path("kept"), 3, "gunzip");
  expect_refusal("report " + path("out") + " --keep " + path("out"), 2, "is that of the run itself");
  const std::string packed = path("kept/unanimity_sum_n8/results.jsonl.gz");
  std::string bytes = read_file(packed);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(packed, bytes);
  expect_refusal("report " + path("kept"), 3, "unanimity_sum_n8/results.jsonl.gz");
  expect_refusal(command + " --against " + path("kept"), 3, "unanimity_sum_n8/results.jsonl.gz");
}

TEST_F(SuiteCommand, KeepsAProgramThatDoesNotFinish) {
  file("ends/peer.sh", "exit 3");
  file("ends/plugin.toml", "name = 'ends'\nversion = '0.7'\ncommand = ['sh', 'peer.sh']\nneeds = ['values']\n");
  const Outcome outcome =
      opshap("compare --suite " + suite() + " --methods permutation,peer:" + path("ends") + " -q --out " + path("out"));
  EXPECT_EQ(5, outcome.code) << outcome.err;
  const std::string page = read_file(path("out/report.html"));
  EXPECT_NE(std::string::npos, page.find("DNF (crash"));
  EXPECT_NE(std::string::npos, page.find("0.7"));
  EXPECT_EQ("ends", board("out")["peers"][0]["name"]);
  EXPECT_EQ(std::vector<std::string>{"peer:ends"},
            board("out")["classes"][0]["not_ranked"].get<std::vector<std::string>>());
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
  const Outcome outcome = opshap("list suites --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  std::vector<std::string> names;
  const json found = json::parse(outcome.out);
  for (const json& entry : found["entries"]) names.push_back(entry["name"]);
  EXPECT_EQ((std::vector<std::string>{"quick", "standard"}), names);
}

#ifdef OPSHAP_WITH_NETWORKS
TEST_F(SuiteCommand, ExplainsTheTrainedOperatorThatComesWithTheProgram) {
  const std::string fno =
      "[[games]]\nname = 'fno'\noperator = 'burgers1d.safetensors'\nproblem = 'burgers1d'\nplayers = [16]\n";
  const Outcome outcome = opshap("compare --suite " + suite(fno, "fno") +
                                 " --methods permutation_antithetic,msr,integrated_gradients -q --out " + path("out"));
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const json found = board("out");
  EXPECT_EQ("operators", found["games"][0]["group"]);
  EXPECT_EQ("exact", found["games"][0]["truth"]["method"]);
  ASSERT_EQ(2u, found["classes"].size());
  // What pairs of orderings get right to .1, sampling of sets alone does not.
  EXPECT_EQ("permutation_antithetic", found["classes"][0]["ranks"][0]["method"]);
  EXPECT_EQ("gradient", found["classes"][1]["access"]);
  const json manifest = json::parse(read_file(path("out/fno_n16/manifest.json")));
  EXPECT_NE(std::string::npos, manifest["settings"]["scenario"].get<std::string>().find("players: points"));

  // Other weights by hand are other games, in another folder or not at all.
  const std::string weights = std::string(OPSHAP_BINARY_DIR) + "/share/opshap/operators/burgers1d.safetensors";
  const std::string lone =
      suite("[[games]]\nname = 'fno'\noperator = 'mine.safetensors'\nproblem = 'burgers1d'\nplayers = [16]\n", "lone");
  const std::string end = " --methods msr --budgets 32 --repeats 1 -q --out ";
  EXPECT_EQ(0, opshap("compare --suite " + lone + " --operator " + weights + end + path("by_hand")).code);
  std::filesystem::copy_file(weights, path("mine.safetensors"));
  EXPECT_EQ(0, opshap("compare --suite " + lone + end + path("beside")).code);
  const std::string plane =
      suite("[[games]]\nname = 'fno'\noperator = 'mine.safetensors'\nproblem = 'heat2d'\nplayers = [16]\n", "plane");
  const Outcome refused = opshap("compare --suite " + plane + end + path("plane"));
  EXPECT_EQ(2, refused.code);
  EXPECT_NE(std::string::npos, refused.err.find("does not take the inputs of heat2d")) << refused.err;
}
#endif

}  // namespace
}  // namespace opshap
