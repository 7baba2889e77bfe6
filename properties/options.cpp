// An option is used or refused, numbers are as people write them, and files are what their names say.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "data/npy.hpp"
#include "evaluation/contest.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using nlohmann::json;

class Options : public Program {
 protected:
  std::string game() const {
    return file("game.json", R"({"players":4,"values":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,17]})");
  }
  std::string exact(const std::string& more) const { return "attribute --game " + game() + " --method exact " + more; }
};

TEST_F(Options, AnOptionThatACommandDoesNotUseIsRefused) {
  for (const char* option : {"--device nonsense", "--config /no.toml", "--no-engine"})
    expect_refusal(exact(option), 2, std::string(option).substr(0, std::string(option).find(' ')));
  expect_refusal("list estimators --out x.json", 2, "--out");
  expect_refusal("list estimators --seed 3", 2, "--seed");
  expect_refusal("pde solve burgers1d --initial x.npy --time 0.1 --out y.npy --device cpu", 2, "--device");
  expect_refusal("data generate --pde burgers1d --samples 8 --out x.h5 --config x.toml", 2, "--profile");
  expect_refusal(exact("--device cpu"), 2, "only with --operator");
}

TEST_F(Options, TheTableHasEveryCommandOnce) {
  std::set<std::string> commands;
  for (const cli::OptionUse& row : cli::option_uses())
    EXPECT_TRUE(commands.insert(std::string(row.command)).second) << row.command;
  // What --help lists, and what its groups list.
  const std::string help = opshap("--help").out;
  for (const char* group : {"data", "peer", "pde", "operator", "train", "study"}) {
    EXPECT_TRUE(has(help, group));
    EXPECT_FALSE(commands.contains(group)) << group << " is no command by itself";
  }
  for (const char* command :
       {"doctor", "list", "attribute", "reference", "compare", "evaluate", "reproduce", "merge", "report"})
    EXPECT_TRUE(commands.contains(command)) << command;
  for (const char* command :
       {"data generate",        "data info",       "data verify",      "data merge",      "data preview",
        "data import pdebench", "data import npy", "pde solve",        "train backbone",  "train explainer",
        "operator golden",      "operator run",    "operator inspect", "operator import", "study amortisation",
        "study queries",        "study methods",   "study readings",   "peer new",        "peer check"})
    EXPECT_TRUE(commands.contains(command)) << command;
}

TEST_F(Options, ABudgetThatAMethodCannotKeepIsRefused) {
  expect_refusal("attribute --game additive_game --players 20 --method exact --budget 100", 2,
                 "2^n coalitions, 1048576");
  EXPECT_EQ(0, opshap(exact("--budget 16")).code);
  EXPECT_EQ(0, opshap(exact("--budget 2^4")).code);
  expect_refusal(exact("--budget 15"), 2, "--budget=15");
}

TEST_F(Options, BudgetsAreNumbersPowersAndMultiplesOfThePlayers) {
  const auto distinct = [&](const std::string& budget) {
    return answer("attribute --game unanimity_sum --players 20 --method permutation --budget " + budget)
        .at("distinct")
        .get<int>();
  };
  const int eighty = distinct("160");
  EXPECT_EQ(eighty, distinct("8n"));
  EXPECT_EQ(eighty, distinct("1.6e2"));
  EXPECT_EQ(distinct("128"), distinct("2^7"));
  for (const char* budget : {"many", "-5", "0", "1.5", "2^70", "n8"})
    expect_refusal("attribute --game unanimity_sum --players 20 --method permutation --budget " + std::string(budget),
                   2, "--budget=" + std::string(budget));
}

TEST_F(Options, SeedsAreWholeNumbersThatFit) {
  const auto seed = [&](const std::string& text) {
    return answer("attribute --game unanimity_sum --players 6 --method permutation --budget 40 --seed " + text)
        .at("seed")
        .get<std::uint64_t>();
  };
  EXPECT_EQ(1000u, seed("1e3"));
  EXPECT_EQ(18446744073709551615u, seed("18446744073709551615"));
  for (const char* bad : {"-1", "18446744073709551616", "''", "1.5", "1e30", "x"})
    expect_refusal(
        "attribute --game unanimity_sum --players 6 --method permutation --budget 40 --seed " + std::string(bad), 2,
        "--seed");
}

TEST(WholeNumbers, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(1000u, whole_number("1e3"));
  EXPECT_EQ(1500u, whole_number("1.5e3"));
  EXPECT_EQ(1500u, whole_number("1.50E+3"));
  EXPECT_EQ(128u, whole_number("2^7"));
  EXPECT_EQ(0u, whole_number("0"));
  EXPECT_EQ(1u, whole_number("5^0"));
  EXPECT_EQ(~std::uint64_t{0}, whole_number("18446744073709551615"));
  for (const char* bad : {"", "-1", "+1", "1e-1", "1.5", "1.25e1", "e3", "2^", "^2", "2^64", "18446744073709551616",
                          "1e20", "0x10", " 1", "1 "})
    EXPECT_FALSE(whole_number(bad)) << bad;
}

TEST_F(Options, NumbersThatHaveToBeAboveZeroAreSoAndFinite) {
  for (const char* bad : {"0", "-1", "nan", "inf", "1e400"}) {
    expect_refusal("study methods --run x --out y --reference-error " + std::string(bad), 2,
                   message("opshap: --reference-error=", bad, " (not a number above 0). Give one."));
    expect_refusal("reproduce --minutes " + std::string(bad), 2, message("--minutes=", bad, " (not"));
  }
  expect_refusal("study methods --run x --out y --inputs 0", 2, "--inputs=0 (not");
}

TEST_F(Options, OutWritesTheFormatThatTheNameSays) {
  const std::string ask = "attribute --game " + game() + " --method permutation --budget 12 --json --out ";
  const auto values = answer(ask + path("v.npy")).at("values").get<std::vector<double>>();
  const data::NpyArray array = data::read_npy(path("v.npy"));
  EXPECT_EQ((std::vector<std::int64_t>{4}), array.shape);
  EXPECT_EQ(values, array.reals("v.npy"));
  answer(ask + path("v.npz"));
  const data::NpzFile archive(read_file(path("v.npz")), "v.npz");
  EXPECT_EQ((std::vector<std::string>{"values", "standard_errors", "empty", "grand"}), archive.names());
  EXPECT_EQ(values, archive.array("values").reals("values"));
  EXPECT_EQ(17, archive.array("grand").reals("grand").front());
  answer(ask + path("v.json"));
  EXPECT_EQ(values, json::parse(read_file(path("v.json"))).at("values").get<std::vector<double>>());
  answer(ask + path("v.csv"));
  EXPECT_TRUE(read_file(path("v.csv")).starts_with("player,value,standard_error\n0,"));
  expect_refusal(ask + path("v.xyz"), 2, "v.xyz");
  expect_refusal(ask + path("v"), 2, ".npy, .npz, .csv or .json");
}

TEST_F(Options, WithoutAMethodThereIsAnAnswerAndWhatChoseIt) {
  const json exact = answer("attribute --game " + game());
  EXPECT_EQ("exact", exact.at("method"));
  EXPECT_EQ(0, exact.at("error_bar"));
  EXPECT_EQ("exact", exact.at("steps").at(0).at("method"));
  const json sampled = answer("attribute --game glove_market --players 20");
  EXPECT_EQ("permutation_antithetic", sampled.at("method"));
  EXPECT_GT(sampled.at("error_bar").get<double>(), 0);
  EXPECT_LE(sampled.at("distinct"), 16 * 20);
  EXPECT_TRUE(holds(sampled, {{"chosen", true}, {"tolerance", 0.05}}));
  expect_refusal("attribute --game " + game() + " --budget 8", 2, "--method");
  for (const char* option : {"--nodes 4", "--fallback odd_shap", "--error-bar", "--base mean_field"})
    expect_refusal("attribute --game " + game() + " " + option, 2, "only with --method");
  expect_refusal("attribute --game " + game() + " --tolerance 2", 2, "--tolerance=2");
  const Outcome steps = opshap("attribute --game weighted_voting --players 20 --json");
  for (const char* line :
       {"attribute: integrated_gradients: relative error not known (the values are 0), not within the tolerance of "
        "0.05",
        "attribute: diagonal_second_order: relative error about 1, not within the tolerance of 0.05.\n",
        "attribute: odd_shap: relative error not known (the method has no standard errors)"})
    EXPECT_TRUE(has(steps.err, line));
  const json rough = json::parse(steps.out);
  EXPECT_TRUE(holds(rough, {{"method", "odd_shap"}, {"error_bar", nullptr}, {"within_tolerance", nullptr}}));
  EXPECT_EQ(3u, rough.at("steps").size());
  EXPECT_EQ("the values are 0", rough.at("steps").at(0).at("error_bar_why"));
  EXPECT_EQ("", opshap("attribute --game weighted_voting --players 20 --json --quiet").err);
  EXPECT_TRUE(has(opshap("attribute --game unanimity_sum --players 20 --sort").out, "chosen by opshap"));
}

TEST_F(Options, HelpFitsTheTerminalAndHasSharedOptionsAndExamples) {
  const Outcome help = shell("COLUMNS=80 " OPSHAP_BINARY_DIR "/opshap attribute --help");
  ASSERT_EQ(0, help.code) << help.err;
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("  opshap ")) {
      EXPECT_LE(line.size(), 80u) << line;  // examples are to be pasted whole
    }
  for (const char* part : {"--seed", "--out", "Examples:", "opshap attribute --game game.json"})
    EXPECT_TRUE(has(help.out, part));
  EXPECT_TRUE(has(opshap("--version").out, "commit"));
  EXPECT_TRUE(has(opshap("list").out, "estimators\n"));
}

TEST(Names, AreSuggestedOnlyWhereOneIsNear) {
  const std::vector<std::string> names = {"attribute", "data", "peer", "compare"};
  EXPECT_EQ("attribute", nearest_name("attr", names));
  EXPECT_EQ("compare", nearest_name("compar", names));
  EXPECT_EQ("", nearest_name("help", names));
  EXPECT_EQ("", suggestion("xyz", names));
  EXPECT_EQ(" Did you mean peer?", suggestion("pear", names));
  EXPECT_EQ("target: name=mean_feild (not registered). Did you mean mean_field? There are mean_field, exact.",
            refusal([] {
              throw_unknown_name("target", "mean_feild", {"mean_field", "exact"});
            }))
      << "there is no `opshap list targets`";
}

TEST(Departures, EverySettingThatDecidesANumberIsOne) {
  // What the profile has otherwise.
  const std::pair<const char*, void (*)(cli::Profile&)> changes[] = {
      {"train samples", [](cli::Profile& p) { --p.data.train; }},
      {"validation samples", [](cli::Profile& p) { --p.data.validation; }},
      {"inputs", [](cli::Profile& p) { --p.evaluation.inputs; }},
      {"resolutions", [](cli::Profile& p) { p.resolutions.pop_back(); }},
      {"backbone epochs", [](cli::Profile& p) { ++p.backbone.epochs; }},
      {"backbone batch", [](cli::Profile& p) { ++p.backbone.batch; }},
      {"backbone rate", [](cli::Profile& p) { p.backbone.learning_rate *= 2; }},
      {"backbone decay", [](cli::Profile& p) { p.backbone.weight_decay = 1; }},
      {"backbone patience", [](cli::Profile& p) { ++p.backbone.patience; }},
      {"explainer epochs", [](cli::Profile& p) { ++p.explainer.epochs; }},
      {"explainer batch", [](cli::Profile& p) { ++p.explainer.batch; }},
      {"explainer rate", [](cli::Profile& p) { p.explainer.learning_rate *= 2; }},
      {"explainer decay", [](cli::Profile& p) { p.explainer.weight_decay = 1; }},
      {"explainer warm-up", [](cli::Profile& p) { ++p.explainer.warmup_epochs; }},
      {"explainer patience", [](cli::Profile& p) { ++p.explainer.patience; }},
      {"explainer coalitions", [](cli::Profile& p) { ++p.explainer.coalitions; }},
      {"explainer target", [](cli::Profile& p) { p.explainer.target = "mean_field"; }},
      {"explainer clipping", [](cli::Profile& p) { p.explainer.clipping = 1; }},
      {"baseline", [](cli::Profile& p) { p.evaluation.scenario.baseline = ScenarioRule::Hidden::mean; }},
      {"constants of the baseline",
       [](cli::Profile& p) {
         p.evaluation.scenario.baseline = ScenarioRule::Hidden::constant;
         p.evaluation.scenario.constants = {0.5};
       }},
      {"blur",
       [](cli::Profile& p) {
         p.evaluation.scenario.baseline = ScenarioRule::Hidden::blur;
         p.evaluation.scenario.blur = 0.3;
       }},
      {"query",
       [](cli::Profile& p) {
         p.evaluation.scenario.query = ScenarioRule::Where::position;
         p.evaluation.scenario.position = {0.1};
       }},
      {"target",
       [](cli::Profile& p) {
         p.evaluation.scenario.query = ScenarioRule::Where::region;
         p.evaluation.scenario.target = "mean:0.2..0.4@x";
       }},
      {"query channel", [](cli::Profile& p) { p.evaluation.scenario.channel = 1; }},
      {"masked channels", [](cli::Profile& p) { p.evaluation.scenario.masked = {0}; }},
      {"players",
       [](cli::Profile& p) {
         p.evaluation.scenario.players = ScenarioRule::Players::blocks;
         p.evaluation.scenario.blocks = 16;
       }},
      {"minimum budget", [](cli::Profile& p) { p.evaluation.minimum_budget = 64; }},
      {"faithfulness", [](cli::Profile& p) { p.evaluation.faithfulness_coalitions = 100; }},
      {"exact players", [](cli::Profile& p) { p.evaluation.exact_players = 8; }},
      {"reference error", [](cli::Profile& p) { p.evaluation.reference_error = 0.1; }},
      {"reference budget", [](cli::Profile& p) { p.evaluation.reference_budget /= 2; }},
      {"methods", [](cli::Profile& p) { p.evaluation.methods.pop_back(); }},
      {"curves", [](cli::Profile& p) { p.evaluation.curves.front().inputs = 1; }}};
  ASSERT_TRUE(cli::comparable_with_paper(cli::load_profile("paper", {})));
  for (const auto& [what, change] : changes) {
    cli::Profile profile = cli::load_profile("paper", {});
    change(profile);
    EXPECT_FALSE(cli::comparable_with_paper(profile)) << what;
  }
  cli::Profile more = cli::load_profile("paper", {});
  more.evaluation.methods.push_back("msr");
  EXPECT_TRUE(cli::comparable_with_paper(more)) << "a further method has rows of its own";
}

TEST_F(Options, SettingsThatDoNotFitAreRefusedWithFileAndLine) {
  const auto refused = [&](const std::string& text, const std::string& says) {
    expect_refusal("--config " + file("mine.toml", text) + " data generate --all --profile smoke --out " + path("x"), 2,
                   says);
  };
  refused("[backbone]\nepochs = 4294967297\n", "backbone.epochs=4294967297");
  refused("[backbone]\nbatch = 4294967296\n", "mine.toml, line 2");
  refused("[explainer]\nbatch = 0\n", "explainer.batch=0");
  refused("[scenario]\nmasked_channels = [4294967296]\n", "masked_channels=4294967296");
  refused("[scenario]\ntarget = 'mean:20..40'\n", "coordinates");
  refused("[scenario]\ntarget = 'weights.npy'\n", "coordinates");
  refused("[scenario]\ntarget = 'mean:0.4..0.2@x'\n", "is no range");
  refused("[scenario]\nqueryat = [0.5]\n", "Did you mean query_at?");
  refused("\n\n[scenario]\nqueryat = [0.5]\n", "mine.toml, line 4");
  refused("[plane.evaluation]\ninputs = true\n", "evaluation.inputs");
}

}  // namespace
}  // namespace opshap
