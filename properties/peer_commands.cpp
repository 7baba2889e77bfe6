// `opshap peer`, and programs as methods of the commands, as their users meet them. The Python parts need numpy.
// `opshap serve`, the process that the Python package keeps, from the side of its pipes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.hpp"
#include "peers/frame.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using nlohmann::json;

class PeerCommands : public Program {
 protected:
  static bool python() { return std::system("python3 -c 'import numpy' > /dev/null 2>&1") == 0; }

  /// A plugin whose program is a text for sh; its folder.
  std::string puppet(const std::string& name, const std::string& script, const std::string& more = "") const {
    file(name + "/peer.sh", script);
    file(name + "/plugin.toml", "name = '" + name + "'\ncommand = ['sh', 'peer.sh']\n" + more);
    return path(name);
  }
  /// One that says hello, and does this for every task; its number is in id.
  std::string loop(const std::string& name, const std::string& each, const std::string& more = "") const {
    return puppet(name, R"(echo '{"type":"hello","protocol":1,"name":")" + name + R"(","needs":["values"]}' >&4
      while read -r task <&3; do
        case $task in *'"bye"'*) exit 0;; esac
        id=${task#*id\":}; id=${id%%,*}
        )" + each + "\ndone",
                  more);
  }
  /// Gives every task the values 0, without starting another program.
  std::string lazy(const std::string& name, const std::string& more = "") const {
    return loop(name, R"(n=${task#*\"n\":}; n=${n%%,*}; zeros=; i=0
        while [ $i -lt $n ]; do zeros="$zeros\\000\\000\\000\\000\\000\\000\\000\\000"; i=$((i + 1)); done
        { echo "{\"type\":\"result\",\"id\":$id,\"nbytes\":$((8 * n))}"; printf "$zeros"; } >&4)",
                more);
  }
  /// A folder with a copy of the package and a program that is a game or an operator.
  void python_program(const std::string& name, const std::string& role, const std::string& text) const {
    ASSERT_EQ(0, opshap("peer new " + path(name)).code);
    file(name + "/plugin.toml", "name = '" + name + "'\nrole = '" + role + "'\ncommand = ['python3', 'program.py']\n");
    file(name + "/program.py", text);
  }
  /// The outcomes of the checks of a program, by their laws.
  std::map<std::string, std::string> checked(const std::string& folder, int code) const {
    std::map<std::string, std::string> outcomes;
    const json found = answer("peer check " + folder, code);
    for (const json& check : found["checks"]) outcomes[check["law"]] = check["outcome"];
    return outcomes;
  }
  std::string game() const { return file("game.json", R"({"players":3,"values":[1,2,3,4,5,6,7,9]})"); }
};

TEST_F(PeerCommands, AttributeAsksAProgram) {
  const json found = answer("attribute --game " + game() + " --method peer:" + lazy("lazy") + " --budget 8");
  EXPECT_EQ("peer:lazy", found["method"]);
  EXPECT_EQ((std::vector<double>{0, 0, 0}), found["values"].get<std::vector<double>>());
  EXPECT_EQ(1, found["empty"]);
  EXPECT_EQ(9, found["grand"]);
  EXPECT_EQ(2, found["distinct"]);
}

TEST_F(PeerCommands, AttributeRefusesWhatCannotWork) {
  const std::string asked = "attribute --game " + game() + " --method peer:", good = lazy("lazy");
  expect_refusal(asked + path("nowhere") + " --budget 8", 3, "plugin.toml");
  expect_refusal(asked + good, 2, "--budget");
  expect_refusal(asked + good + " --budget 1", 2, "budget=1");
  expect_refusal(asked + good + " --budget 8 --nodes 3", 2, "--nodes");
  expect_refusal(asked + puppet("gone", "exit 3") + " --budget 8", 5, "exit code 3");
  expect_refusal(asked + puppet("bad", "exit 3", "comand = 'sh'\n") + " --budget 8", 3, "Did you mean command?");
}

TEST_F(PeerCommands, CompareRanksAProgramThatDoesNotFinishLast) {
  const std::string ends = puppet("ends", "exit 3"), good = lazy("lazy");
  const Outcome outcome = opshap("compare --game " + game() + " --methods permutation,peer:" + ends + ",peer:" + good +
                                 " --budgets 6 --repeats 5 --json -q");
  EXPECT_EQ(5, outcome.code) << outcome.err;  // three failures in a row
  EXPECT_TRUE(has(outcome.err, "peer:ends=skipped"));
  const json found = json::parse(outcome.out);
  ASSERT_EQ(3u, found["ranks"].size());
  EXPECT_EQ("permutation", found["ranks"][0]["method"]);
  EXPECT_EQ("peer:lazy", found["ranks"][1]["method"]);
  EXPECT_EQ("peer:ends", found["ranks"][2]["method"]);
  ASSERT_EQ(1u, found["failures"].size());
  EXPECT_EQ("crash", found["failures"][0]["failure"]);
  EXPECT_TRUE(found["undefined"].empty());
  EXPECT_EQ(2u, found["peers"].size());
  std::vector<std::string> failures;
  for (const json& row : found["rows"])
    if (row["method"] == "peer:ends") failures.push_back(row["failure"]);
  EXPECT_EQ((std::vector<std::string>{"crash", "crash", "crash", "skipped", "skipped"}), failures);
}

TEST_F(PeerCommands, CompareHasNoRanksWhereNobodyAnswers) {
  const std::string outcome =
      output("compare --game " + game() + " --methods permutation,peer:" + puppet("ends", "exit 3") +
             " --budgets 3,6 --repeats 1 -q");
  EXPECT_TRUE(has(outcome, {"| peer:ends | 2.0 | DNF | 2.0 |", "| permutation | 1.0 | undefined | 1.0 |"}));
}

TEST_F(PeerCommands, ARefusalOfABudgetIsNoFailure) {
  const std::string refuses = loop("refuses", R"(
        echo "{\"type\":\"fail\",\"id\":$id,\"reason\":\"needs 100 coalitions\",\"refused\":true}" >&4)");
  const json found =
      answer("compare --game " + game() + " --methods permutation,peer:" + refuses + " --budgets 6 --repeats 5 -q");
  EXPECT_TRUE(found["failures"].empty());
  ASSERT_EQ(1u, found["undefined"].size());
  EXPECT_TRUE(has(found["undefined"][0].dump(), "needs 100 coalitions"));
  expect_refusal("attribute --game " + game() + " --budget 6 --method peer:" + refuses, 5, "refused");
}

TEST_F(PeerCommands, CompareSaysInItsTablesWhoDidNotFinish) {
  EXPECT_TRUE(has(output("compare --game " + game() + " --methods permutation,peer:" + puppet("ends", "exit 3") +
                         " --budgets 6 --repeats 2 -q"),
                  "DNF (crash) 2 of 2"));
}

TEST_F(PeerCommands, CompareFindsABrokenPromise) {
  // Its values are 0, and these are not.
  const std::string claims = "[claims]\nexact_on_additive = true\n";
  const json found = answer(
      "compare --game additive_game --players 4 --methods peer:" + lazy("liar", claims) + " --budgets 6 --repeats 2 -q",
      1);
  EXPECT_EQ(1u, found["less_exact_than_declared"].size());
}

TEST_F(PeerCommands, CompareGoesOnWhereItWasStoppedUnlessTheProgramHasChanged) {
  const std::string out = path("run");
  const std::string command =
      "compare --game " + game() + " --budgets 6 --repeats 2 -q --out " + out + " --methods peer:";
  ASSERT_EQ(0, opshap(command + lazy("lazy")).code);
  const std::string rows = read_file(out + "/results.jsonl");
  ASSERT_EQ(0, opshap(command + path("lazy")).code);
  EXPECT_EQ(rows, read_file(out + "/results.jsonl"));
  file("lazy/peer.sh", read_file(path("lazy/peer.sh")) + "\n# changed\n");
  EXPECT_NE(0, opshap(command + path("lazy")).code);
}

TEST_F(PeerCommands, TwoProgramsOfOneNameAreRefused) {
  const std::string first = lazy("lazy");
  std::filesystem::create_directory(folder_ / "other");
  std::filesystem::copy(first, folder_ / "other" / "lazy");
  expect_refusal("compare --game " + game() + " --budgets 6 --methods peer:" + first + ",peer:" + path("other/lazy"), 2,
                 "peer:lazy");
}

TEST_F(PeerCommands, CheckFindsWhatAProgramOnlyClaims) {
  const std::string claims =
      "[claims]\nefficient = true\nlinear = true\nexact_on_additive = true\nstochastic = false\n";
  auto outcomes = checked(lazy("liar", claims), 1);
  EXPECT_EQ("pass", outcomes["greets as plugin.toml says"]);
  EXPECT_EQ("pass", outcomes["answers for 1024 players"]);
  EXPECT_EQ("pass", outcomes["does not depend on the seed"]);
  EXPECT_EQ("pass", outcomes["is linear in the game for the same seed"]);  // 0 is
  EXPECT_EQ("fail", outcomes["values add up to v(N) - v(empty)"]);
  EXPECT_EQ("fail", outcomes["is exact on additive games"]);
  EXPECT_EQ("not claimed", outcomes["gives a null player exactly 0"]);
  EXPECT_EQ("not claimed", outcomes["gives other values for another seed"]);
  EXPECT_TRUE(has(opshap("peer check " + path("liar")).out, "not claimed: zero_for_null_player = true"));
}

TEST_F(PeerCommands, CheckOfAProgramThatDoesNotStartHasOneRow) {
  const json checks = answer("peer check " + puppet("gone", "exit 3"), 1)["checks"];
  ASSERT_EQ(1u, checks.size());
  EXPECT_EQ("fail", checks[0]["outcome"]);
}

TEST_F(PeerCommands, AProfileNamesThemWhereTheyAreOrIsRefusedBeforeItTrains) {
#ifndef OPSHAP_WITH_NETWORKS
  GTEST_SKIP() << "built without LibTorch";
#endif
  const std::string start = "[evaluation]\nmethods = ['permutation', '", command = "reproduce --config ";
  const std::string gone = file("gone.toml", start + "peer:" + path("nowhere") + "']\n");
  expect_refusal(command + gone + " --out " + path("run"), 3, "plugin.toml");
  const std::string mistyped = file("mistyped.toml", start + "permutatoin']\n");
  expect_refusal(command + mistyped + " --out " + path("run"), 2, "Did you mean permutation");
}

TEST_F(PeerCommands, NewRefusesWhatCannotWork) {
  file("there/x", "");
  expect_refusal("peer new " + path("there"), 2, "is there already");
  expect_refusal("peer new " + path("NotAName"), 2, "name=NotAName");
  expect_refusal("peer new --lang pyton " + path("mine"), 2, "Did you mean python?");
  expect_refusal("peer check " + path("there"), 3, "plugin.toml");
}

TEST_F(PeerCommands, NewSaysWhatItMade) {
  const Outcome plain = opshap("peer new --lang c++ " + path("plain"));
  EXPECT_EQ(path("plain") + "\n", plain.out) << plain.err;
  EXPECT_EQ((json{{"folder", path("made")}, {"language", "c++"}}), answer("peer new --lang c++ " + path("made")));
}

TEST_F(PeerCommands, WhatNewWritesPassesItsChecksAndIsCompared) {
  if (!python()) GTEST_SKIP() << "python3 has no numpy here; tools/setup installs it";
  ASSERT_EQ(0, opshap("peer new " + path("my-shap")).code);
  EXPECT_EQ("pass", checked(path("my-shap"), 0).at("has the standard errors that its values have"));
  const json found = answer("compare --game " + game() + " --methods permutation,peer:" + path("my-shap") +
                            " --budgets 4,6 --repeats 5 -q");
  EXPECT_TRUE(found["failures"].empty());
  EXPECT_EQ(2u, found["ranks"].size());
  const json attribution = answer("attribute --game " + game() + " --method peer:" + path("my-shap") + " --budget 8");
  const auto values = attribution["values"].get<std::vector<double>>();
  EXPECT_NEAR(8, std::accumulate(values.begin(), values.end(), 0.0), 1e-12);  // a few roundings of numbers below 10
  EXPECT_EQ(3u, attribution["standard_errors"].size());
}

// What a program says of its errors is held against the spread of its values.
TEST_F(PeerCommands, CheckFindsStandardErrorsThatAreWrong) {
  if (!python()) GTEST_SKIP() << "python3 has no numpy here; tools/setup installs it";
  ASSERT_EQ(0, opshap("peer new " + path("mine")).code);
  const std::string right = read_file(path("mine/estimator.py")), errors = "np.sqrt(variance / orderings)";
  const std::size_t at = right.find(errors);
  ASSERT_NE(std::string::npos, at);
  // Those that are right pass in WhatNewWritesPassesItsChecksAndIsCompared.
  for (const char* wrong : {"np.sqrt(variance / orderings) / 30", "np.sqrt(variance)"}) {
    file("mine/estimator.py", std::string(right).replace(at, errors.size(), wrong));
    EXPECT_EQ("fail", checked(path("mine"), 1).at("has the standard errors that its values have")) << wrong;
  }
}

TEST_F(PeerCommands, AttributeExplainsAProgramThatIsAGame) {
  if (!python()) GTEST_SKIP() << "python3 has no numpy here; tools/setup installs it";
  python_program("weights", "game",
                 "from opshap_peer import game\nimport numpy as np\n"
                 "weights = np.array([1.0, -2, 4, 0.5])\n"
                 "game(4, gradients=lambda t: np.tile(weights, (len(t), 1)))(lambda masks: masks @ weights).serve()\n");
  for (const char* method : {"exact", "permutation --budget 9", "integrated_gradients"}) {
    const json found = answer("attribute --game peer:" + path("weights") + " --method " + std::string(method));
    EXPECT_EQ("peer:weights", found["path"]);
    EXPECT_TRUE(found["noise"].is_null());
    const auto values = found["values"].get<std::vector<double>>();
    const std::vector<double> wanted = {1, -2, 4, 0.5};
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(wanted[i], values[i], 1e-12) << method;  // a few hundred roundings of numbers below 10
  }
  expect_refusal("attribute --game peer:" + path("weights") + " --players 4 --method exact", 2, "--players");
  expect_refusal("attribute --game " + game() + " --budget 4 --method peer:" + path("weights"), 2,
                 "--game peer:FOLDER");
}

// Another value at each call: an enumeration of it is no exact result, and no method is to blame.
TEST_F(PeerCommands, AGameWithNoiseIsFoundOutAndNothingIsCalledExact) {
  if (!python()) GTEST_SKIP() << "python3 has no numpy here; tools/setup installs it";
  python_program("noisy", "game",
                 "from opshap_peer import game\nimport numpy as np\nrng = np.random.default_rng(1)\n"
                 "game(4)(lambda masks: masks.sum(1) + 0.1 * rng.normal(size=len(masks))).serve()\n");
  const std::string game = " --game peer:" + path("noisy") + " --json";
  const Outcome attributed = done("attribute --method exact" + game);
  const json exact = json::parse(attributed.out);
  EXPECT_FALSE(exact.at("exact"));
  EXPECT_EQ(16, exact.at("evaluations"));
  EXPECT_EQ(1, exact.at("repeated")) << "outside of the evaluations";
  EXPECT_GT(exact.at("noise").at("relative"), 1e-6);
  EXPECT_TRUE(has(attributed.err, "attribute: noise="));
  EXPECT_EQ("noisy", answer("reference" + game, 1).at("method"));
  const Outcome compared = done("compare --methods exact,permutation --budgets 8 --repeats 2" + game);
  EXPECT_EQ("noisy", json::parse(compared.out).at("truth").at("method"));
  EXPECT_FALSE(has(compared.err, "bug"));
}

// A program with the model y_x = (u_x + 2 u_{x-1})^2: one square of a sum, whose Shapley values are each summand times
// the sum.
TEST_F(PeerCommands, AttributeExplainsAProgramThatIsAnOperator) {
#ifndef OPSHAP_WITH_NETWORKS
  GTEST_SKIP() << "built without LibTorch";
#endif
  if (!python()) GTEST_SKIP() << "python3 has no numpy here; tools/setup installs it";
  python_program("model", "operator",
                 "from opshap_peer import operator\nimport numpy as np\n"
                 "def slopes(fields, index, channel):\n"
                 "    x, = index\n"
                 "    sums = fields[:, 0, x] + 2 * fields[:, 0, x - 1]\n"
                 "    found = np.zeros_like(fields)\n"
                 "    found[:, 0, x], found[:, 0, x - 1] = 2 * sums, 4 * sums\n"
                 "    return sums ** 2, found\n"
                 "@operator(1, gradients=slopes)\n"
                 "def model(fields):\n"
                 "    return (fields + 2 * np.roll(fields, 1, axis=-1)) ** 2\n"
                 "model.serve()\n");
  const std::string asked = "attribute --operator peer:" + path("model") + " --input " + path("model/u.npy");
  expect_refusal(asked + " --query 2 --method exact", 3, "u.npy");
  ASSERT_EQ(0, shell("cd " + path("model") +
                     " && /usr/bin/python3 -c 'import numpy; "
                     "numpy.save(\"u.npy\", numpy.array([1.0, -2, 4, 0.5]))'")
                   .code);
  // At point 2 the sum is 4 - 4 = 0, at point 0 it is 1 + 1 = 2, around the corner.
  const std::vector<double> wanted = {2, 0, 0, 2};
  for (const char* method : {"exact", "permutation --budget 12", "integrated_gradients", "two_level --budget 60"}) {
    const json found = answer(asked + " --query 0 --method " + std::string(method));
    EXPECT_EQ("peer:model", found["path"]);
    const auto values = found["values"].get<std::vector<double>>();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (std::string(method).starts_with("permutation")) continue;  // an estimate
      EXPECT_NEAR(wanted[i], values[i], 1e-12) << method;            // a few hundred roundings of numbers below 10
    }
    EXPECT_NEAR(4, std::accumulate(values.begin(), values.end(), 0.0), 1e-12) << method;
  }
  // Half of point 0 and half of point 1, whose sum is -2 + 2 = 0: by its own targets, and where it has none.
  const std::vector<double> half = {1, 0, 0, 1};
  for (const bool targets : {true, false}) {
    if (!targets) {
      const std::string off = "sed -i 's/^model.serve()/model.targets = False\\nmodel.serve()/' ";
      ASSERT_EQ(0, shell(off + path("model/program.py")).code);
    }
    for (const char* method : {"exact", "integrated_gradients"}) {
      const json found = answer(asked + " --target mean:0..2 --method " + std::string(method));
      const auto values = found["values"].get<std::vector<double>>();
      for (std::size_t i = 0; i < half.size(); ++i) EXPECT_NEAR(half[i], values[i], 1e-12) << method << targets;
    }
  }
  // Without gradients it is explained by its values alone.
  ASSERT_EQ(0, shell("sed -i 's/, gradients=slopes//' " + path("model/program.py")).code);
  expect_refusal(asked + " --query 0 --method integrated_gradients", 2, "gradients");
  const auto values = answer(asked + " --query 0")["values"].get<std::vector<double>>();
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(wanted[i], values[i], 1e-12);
}

TEST_F(PeerCommands, WhatNewWritesInOtherLanguagesPassesItsChecks) {
  for (const auto& [language, program, folder] :
       {std::tuple("c++", "c++", "quick"), std::tuple("r", "Rscript", "slow")}) {
    if (shell(message(program, " --version")).code != 0) continue;  // which is not here
    output(message("peer new --lang ", language, " ", path(folder)));
    output("peer check " + path(folder));
  }
}

TEST_F(PeerCommands, OfThePythonPackagePassItsOwnTests) {
  if (!python()) GTEST_SKIP() << "python3 has no numpy here; tools/setup installs it";
  ::setenv("OPSHAP", OPSHAP_BINARY_DIR "/opshap", 1);
  for (const char* name : {"test_peer", "test_attribute", "test_opshap", "test_export_model"})
    EXPECT_EQ(0, std::system(message("python3 -B " OPSHAP_SOURCE_DIR "/python/tests/", name, ".py 2>&1").c_str()));
}

// 1e300 has an error that is a number; the distance of 1.7e308 from others is none.
TEST_F(PeerCommands, HugeAnswersRankLastAndEndTheComparison) {
  const auto huge = [this](const std::string& name, const std::string& bytes) {
    return loop(name,
                R"({ echo "{\"type\":\"result\",\"id\":$id,\"nbytes\":64}"; for i in 1 2 3 4 5 6 7 8; do printf ')" +
                    bytes + R"('; done; } >&4)");
  };
  const std::string large = huge("large", R"(\234\165\000\210\074\344\067\176)"),
                    largest = huge("largest", R"(\166\073\167\060\321\102\356\177)");
  const Outcome outcome = opshap("compare --game unanimity_sum --players 8 --methods permutation,peer:" + large +
                                 ",peer:" + largest + " --budgets 4n --repeats 3 --json --out " + path("run"));
  ASSERT_TRUE(outcome.code == 0 || outcome.code == 5) << outcome.err;
  std::map<std::string, double> ranks;
  const json found = json::parse(outcome.out);
  for (const json& method : found["ranks"]) {
    ASSERT_TRUE(method["rank"].is_number()) << method;
    ranks[method["method"].get<std::string>()] = method["rank"].get<double>();
  }
  EXPECT_LT(ranks.at("permutation"), ranks.at("peer:large"));
  EXPECT_LE(ranks.at("peer:large"), ranks.at("peer:largest"));
}

TEST_F(PeerCommands, ASandboxThatCannotBeIsAnUnfitMachine) {
  const std::string asked =
      "attribute --game " + game() + " --method peer:" + lazy("lazy") + " --budget 8 --json --sandbox";
  const Outcome outcome = opshap(asked);
  EXPECT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.err;
  const Outcome without = shell("PATH=" + path("empty") + " " + OPSHAP_BINARY_DIR + "/opshap " + asked);
  EXPECT_EQ(4, without.code) << without.err;
}

class KeptProgram : public Program {
 protected:
  /// What it does with these bytes, and the frames that it answers with.
  Outcome served(const std::string& bytes, std::vector<peers::Frame>& answers) const {
    file("requests", bytes);
    const Outcome outcome = shell("OPSHAP_FD_IN=3 OPSHAP_FD_OUT=4 " + std::string(OPSHAP_BINARY_DIR) +
                                  "/opshap serve 3<" + path("requests") + " 4>" + path("answers"));
    peers::FrameReader reader;
    reader.feed(read_file(path("answers")));
    while (auto frame = reader.next()) answers.push_back(std::move(*frame));
    return outcome;
  }
  static std::string request(int id, const std::string& words, const std::string& more = "") {
    return R"({"type":"run","id":)" + std::to_string(id) + R"(,"words":[)" + words + "]" + more + "}\n";
  }
};

std::vector<std::int64_t> codes(const std::vector<peers::Frame>& answers) {
  std::vector<std::int64_t> found;
  for (const peers::Frame& answer : answers)
    if (answer.type() == "done") found.push_back(answer.integer("code"));
  return found;
}

TEST_F(KeptProgram, RunsOneCommandLineAfterTheOtherWithDefaultsOfItsOwn) {
  const std::string game = R"("attribute","--game=unanimity_sum","--players=6","--method=permutation","--budget=20")";
  std::vector<peers::Frame> answers;
  const Outcome outcome = served(request(1, R"("--json","--seed=7",)" + game) + request(2, R"("--json",)" + game) +
                                     request(3, R"("attribute","--nonsense")") + request(4, R"("nonsense")") +
                                     request(5, R"("--json",)" + game) + "{\"type\":\"bye\"}\n",
                                 answers);
  EXPECT_EQ(0, outcome.code) << outcome.err;
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ("server", answers.front().text("role"));
  EXPECT_EQ((std::vector<std::int64_t>{0, 0, 2, 2, 0}), codes(answers));
  const std::vector<json> found = json_lines(outcome.out);
  ASSERT_EQ(3u, found.size());
  EXPECT_EQ(7, found[0]["seed"]);
  EXPECT_EQ(42, found[1]["seed"]) << "the seed of the call before";
  EXPECT_EQ(found[1]["values"], found[2]["values"]);
}

TEST_F(KeptProgram, AsksTheCallerForItsGame) {
  std::vector<peers::Frame> answers;
  const std::string ask = request(1, R"("--json","attribute","--game=caller","--method=exact")",
                                  R"(,"players":2,"gradients":false,"max_batch":100)");
  served(ask + R"({"type":"fail","id":1,"reason":"mine"})" + "\n" + request(2, R"("list","games","--json")"), answers);
  ASSERT_EQ(4u, answers.size()) << "hello, a question, and two ends";
  EXPECT_EQ("eval", answers[1].type());
  EXPECT_EQ((std::vector<std::int64_t>{5, 0}), codes(answers));
}

TEST_F(KeptProgram, RefusesWhatCannotWork) {
  std::vector<peers::Frame> answers;
  served(request(1, R"("attribute","--game=caller","--method=exact")") +
             request(2, R"("attribute","--operator=a.safetensors","--input=u.npy","--query=1","--method=exact")"),
         answers);
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), codes(answers)) << "no caller's game, and no file of a field";
  for (const char* bytes : {"nonsense\n", "{\"type\":\"run\",\"id\":1}\n", "{\"type\":\"run\",\"words\":[1]}\n"}) {
    const Outcome outcome = served(bytes, answers);
    EXPECT_EQ(3, outcome.code) << bytes << outcome.err;
  }
  expect_refusal("serve", 2, "OPSHAP_FD_IN");
  expect_refusal("attribute --game caller --method exact", 2, "caller");
}

}  // namespace
}  // namespace opshap
