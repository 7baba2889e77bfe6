// Profiles as files: what is written is read back, wording decides nothing, and the runs in reports/ can be resumed.
// Arrays that users give for operators: which shapes are fields, and what is said about the others.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "cli/operator_game.hpp"
#include "cli/profile.hpp"
#include "cli/profile_settings.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "pde/registry.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

std::vector<cli::Profile> embedded() {
  std::vector<cli::Profile> profiles;
  for (const cli::EmbeddedSettings& profile : cli::embedded_profiles())
    profiles.push_back(cli::load_profile(profile.name, {}));
  return profiles;
}

TEST(Profiles, AreReadBackAsTheyWereWritten) {
  for (cli::Profile profile : embedded()) {
    profile.summary = "a \"quoted\" word, a back\\slash,\nand a second line";
    const cli::Profile read = cli::parse_profile(cli::to_toml(profile), "stored.toml");
    EXPECT_EQ(profile.summary, read.summary);
    EXPECT_EQ(cli::to_toml(profile), cli::to_toml(read)) << profile.name;
    EXPECT_EQ(profile.backbone.learning_rate, read.backbone.learning_rate) << "not a bit may be lost";
  }
}

TEST(Profiles, NumbersAreWrittenWithAllTheirDigits) {
  cli::Profile profile = embedded().front();
  profile.explainer.learning_rate = 1.0 / 3000;
  EXPECT_EQ(1.0 / 3000, cli::parse_profile(cli::to_toml(profile), "stored.toml").explainer.learning_rate);
}

TEST(Profiles, WordingIsNotPartOfARunsIdentity) {
  for (const cli::Profile& profile : embedded()) {
    cli::Profile reworded = profile;
    reworded.summary += " in other words";
    EXPECT_EQ(cli::identity(profile), cli::identity(reworded));
    cli::Profile longer = profile;
    ++longer.backbone.epochs;
    EXPECT_NE(cli::identity(profile), cli::identity(longer));
    cli::Profile finer = profile;
    finer.evaluation.curves.front().budgets.back() *= 2;
    EXPECT_NE(cli::identity(profile), cli::identity(finer));
  }
}

// docs/profile-keys.md is what `opshap list keys` prints.
TEST(Profiles, TheirKeysAreOnAPage) {
  const fs::path page = fs::path(OPSHAP_SOURCE_DIR) / "docs/profile-keys.md";
  EXPECT_EQ(cli::profile_keys_page(), read_file(page)) << "Write it: opshap list keys > docs/profile-keys.md";
}

/// A profile below a file with this text.
cli::Profile laid_over(const std::string& text, const std::string& profile = "smoke", const std::string& pde = "") {
  const fs::path file = fs::temp_directory_path() / ("opshap_profiles_" + std::to_string(getpid()) + ".toml");
  write_file(file, text);
  const auto remove = std::shared_ptr<void>(nullptr, [&file](void*) { fs::remove(file); });
  return pde.empty() ? cli::load_profile(profile, file) : cli::load_profile(profile, file, pde);
}

/// The manifests of a folder of reports: that of one run, or of a run for each problem.
std::vector<fs::path> manifests_in(const fs::path& folder) {
  if (fs::exists(folder / "manifest.json")) return {folder / "manifest.json"};
  std::vector<fs::path> found;
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "manifest.json")) found.push_back(entry.path() / "manifest.json");
  return found;
}

// Their settings are texts of an earlier writer, with another order of the keys.
TEST(Profiles, TheCommittedRunsCanBeResumed) {
  int runs = 0;
  for (const cli::EmbeddedSettings& embedded : cli::embedded_profiles())
    for (const fs::path& manifest : manifests_in(fs::path(OPSHAP_SOURCE_DIR) / "reports" / embedded.name)) {
      const auto written = nlohmann::json::parse(read_file(manifest));
      const std::string text = written.at("settings").at("toml"), pde = written.at("pde");
      const cli::Profile stored = cli::parse_profile(text, manifest.string());
      EXPECT_EQ(cli::identity(cli::load_profile(embedded.name, {}, pde)), cli::identity(stored)) << manifest;
      ++runs;
    }
  EXPECT_GE(runs, 8);
}

TEST(Profiles, OfThePapersOwnRecipeOnlyFurtherExplainersDiffer) {
  cli::Profile paper = cli::load_profile("paper", {});
  EXPECT_FALSE(paper.explainers.empty());
  for (const std::string& sentence : cli::departures(paper))
    EXPECT_TRUE(sentence.starts_with("a further explainer, ")) << sentence;
  EXPECT_TRUE(cli::comparable_with_paper(paper)) << "their rows are their own";
  paper.backbone.epochs = 100;
  EXPECT_FALSE(cli::comparable_with_paper(paper));
  EXPECT_FALSE(cli::comparable_with_paper(cli::load_profile("desk", {})));
}

TEST(Profiles, AScenarioIsTheProblemsUnlessTheySayOtherwise) {
  using Rule = ScenarioRule;
  const std::string file = std::string(OPSHAP_SOURCE_DIR) + "/properties/support/two_channels.toml";
  cli::Profile profile = cli::load_profile(file, {});
  EXPECT_EQ(Rule::Hidden::mean, profile.evaluation.scenario.baseline) << "that of synthetic2d";
  EXPECT_EQ(16, profile.evaluation.scenario.blocks) << "that of the file";
  EXPECT_EQ(profile.evaluation.scenario.describe(), profile.explainer.scenario.describe());
  profile.evaluation.scenario = Rule{.players = Rule::Players::blocks, .blocks = 4, .masked = {1}};
  const std::string text = cli::to_toml(profile);
  EXPECT_TRUE(has(text, "baseline = 'zero'"));
  EXPECT_EQ(profile.evaluation.scenario.describe(),
            cli::parse_profile(text, "stored.toml").evaluation.scenario.describe());
  std::string target = text;
  target.insert(target.find("baseline = 'zero'"), "target = 'mean:0..0.5,0..1@x'\n");
  profile.evaluation.scenario = cli::parse_profile(target, "target.toml").evaluation.scenario;
  EXPECT_EQ((std::vector<std::pair<double, double>>{{0, 0.5}, {0, 1}}), profile.evaluation.scenario.region.ranges);
  EXPECT_EQ(profile.evaluation.scenario.region,
            cli::parse_profile(cli::to_toml(profile), "stored.toml").evaluation.scenario.region);
  profile.evaluation.scenario = Rule{.query = Rule::Where::position, .position = {0.5, 0.25}, .channel = 1};
  EXPECT_EQ(profile.evaluation.scenario.describe(),
            cli::parse_profile(cli::to_toml(profile), "stored.toml").evaluation.scenario.describe());
  EXPECT_THROW(cli::parse_profile(std::string(text).replace(text.find("synthetic2d"), 11, "synthetic3d"), "stored"),
               InvalidArgument);
}

// As it is written, with all digits; and no word about it where it is the problem's own, so that runs of before are
// themselves.
TEST(Profiles, ABaselineComesBackAsItWasWritten) {
  using Hidden = ScenarioRule::Hidden;
  const std::string plain = cli::to_toml(cli::load_profile("smoke", {}, "gray_scott2d"));
  EXPECT_FALSE(has(plain, "baseline"));
  const auto with = [&](const std::string& value, std::string text) {
    const std::size_t table = text.find("[scenario]\n");
    if (table == std::string::npos) return text + "\n[scenario]\nbaseline = " + value + "\n";
    return text.insert(table + 11, "baseline = " + value + "\n");
  };
  const auto read = [&](const std::string& value) {
    return cli::parse_profile(with(value, plain), "mine.toml").evaluation.scenario;
  };
  const auto round = [&](const std::string& value) {
    const cli::Profile once = cli::parse_profile(with(value, plain), "mine.toml"),
                       twice = cli::parse_profile(cli::to_toml(once), "stored.toml");
    EXPECT_EQ(cli::identity(once), cli::identity(twice)) << value;
    EXPECT_EQ(once.evaluation.scenario.describe(), twice.evaluation.scenario.describe()) << value;
    EXPECT_EQ(once.evaluation.scenario.constants, twice.explainer.scenario.constants) << value;
    return cli::identity(once);
  };
  EXPECT_EQ(round("'zero'"), cli::identity(cli::parse_profile(plain, "plain.toml")));
  std::set<std::string> identities;
  for (const char* value :
       {"'zero'", "'mean'", "'rest'", "'blur'", "'blur:0.2'", "[1, 0]", "[0, 0]", "[0.3333333333333333, -1e-300]"})
    EXPECT_TRUE(identities.insert(round(value)).second) << value;
  EXPECT_EQ(round("'blur'"), round("'blur:0.15'"));
  EXPECT_EQ((std::vector<double>{1, 0}), read("[1, 0]").constants);
  EXPECT_EQ(Hidden::rest, read("'rest'").baseline);
  EXPECT_TRUE(read("'rest'").constants.empty()) << "the data know the parameters";
  EXPECT_EQ(0.2, read("'blur:0.2'").blur);

  const auto says = [&](const std::string& value, const std::string& problem) {
    return refusal(
        [&] { cli::parse_profile(with(value, cli::to_toml(cli::load_profile("smoke", {}, problem))), "mine.toml"); });
  };
  EXPECT_TRUE(
      has(says("[1]", "gray_scott2d"), "scenario.baseline=[1] (the inputs of gray_scott2d have the channels u, v)"));
  EXPECT_TRUE(has(says("[]", "burgers1d"), "burgers1d have the channels u)"));
  EXPECT_TRUE(has(says("[nan]", "burgers1d"), "baseline"));
  EXPECT_TRUE(has(says("['1']", "burgers1d"), "baseline"));
  EXPECT_TRUE(has(says("1", "burgers1d"), "baseline"));
  EXPECT_TRUE(has(says("'reset'", "burgers1d"), "baseline=reset (not one of"));
  EXPECT_TRUE(has(says("'rest'", "darcy2d"), "darcy2d has no state at rest: its input is a permeability"));
  EXPECT_TRUE(has(says("'rest'", "allen_cahn1d"), "allen_cahn1d has no state at rest"));
  EXPECT_TRUE(has(says("'blur:2'", "burgers1d"), "scenario.baseline=blur:2 (the width"));
  EXPECT_TRUE(has(says("'blur:0.01'", "burgers1d"), "profile: blur=0.01 (16 points"));
  std::string cloud = cli::to_toml(cli::load_profile("smoke", "gino", "darcy2d"));
  EXPECT_TRUE(has(refusal([&] { cli::parse_profile(with("'blur'", cloud), "mine.toml"); }), "data.scattered=256"));
}

TEST(Profiles, OneFileServesEveryProblemOfThePaper) {
  for (const cli::EmbeddedSettings& profile : cli::embedded_profiles()) {
    for (const auto& problem : pde::all()) {
      if (!problem->in_paper()) continue;
      const cli::Profile settled = cli::load_profile(profile.name, {}, std::string(problem->name()));
      EXPECT_EQ(problem->name(), settled.data.pde);
      EXPECT_EQ(cli::to_toml(settled), cli::to_toml(cli::parse_profile(cli::to_toml(settled), "stored.toml")));
      const Domain domain = problem->with(settled.data.parameters)->input().domain;
      for (const Resolution& resolution : settled.resolutions)
        EXPECT_EQ(0, domain.shape()[0] % resolution.fewest()) << profile.name << " " << problem->name();
      if (domain.dimension() == 2) {
        EXPECT_LE(settled.resolutions.back(), 32);
      }
    }
    EXPECT_EQ(cli::identity(cli::load_profile(profile.name, {})),
              cli::identity(cli::load_profile(profile.name, {}, "burgers1d")));
  }
  const cli::Profile patterns = cli::load_profile("smoke", {}, "gray_scott2d");
  EXPECT_EQ((pde::ParameterValues{{"points", 64.0}, {"time", 200.0}}), patterns.data.parameters);
  EXPECT_EQ(1, patterns.evaluation.scenario.channel) << "v, as the problem has it";
  EXPECT_EQ(100'000, cli::load_profile("desk", {}, "gray_scott2d").evaluation.reference_budget) << "a rough game";
  EXPECT_EQ(500'000, cli::load_profile("desk", {}, "darcy2d").evaluation.reference_budget);
  const auto said = cli::departures(patterns);
  EXPECT_NE(said.end(), std::ranges::find(said, "parameter points of the problem: 64 instead of the paper's 128"));
  EXPECT_THROW(cli::load_profile("smoke", {}, "gray_scot2d"), InvalidArgument);
}

TEST(Profiles, FlowsOnMeshesHaveTheirOwnModelAndAreServedOnTheirOwnMesh) {
  for (const cli::EmbeddedSettings& profile : cli::embedded_profiles()) {
    for (const auto& flows : pde::all_trajectories()) {
      const cli::Profile settled = cli::load_profile(profile.name, {}, std::string(flows->name()));
      EXPECT_EQ(cli::identity(settled), cli::identity(cli::parse_profile(cli::to_toml(settled), "stored.toml")));
      EXPECT_EQ(std::vector{Resolution::own()}, settled.resolutions);
      EXPECT_TRUE(settled.data.on_meshes());
      EXPECT_EQ("gino", settled.backbone.model.model);
      EXPECT_FALSE(has(settled.backbone.model.json, "padding")) << "which is a setting of the FNO";
      EXPECT_EQ(flows->default_rule().describe(), settled.evaluation.scenario.describe());
      EXPECT_EQ(0, settled.explainer.unlabelled);
      for (const auto& [name, recipe] : settled.explainers) EXPECT_EQ(0, recipe.unlabelled) << name;
      EXPECT_FALSE(cli::comparable_with_paper(settled)) << "the flows are ours, in every profile";
      EXPECT_TRUE(has(cli::departures(settled).front(), "MeshGraphNets release"));
    }
  }
  const auto refused = [](const std::string& settings) {
    const fs::path file = fs::temp_directory_path() / ("opshap_flows_" + std::to_string(getpid()) + ".toml");
    write_file(file, settings);
    return refusal<InvalidArgument>([&] { cli::load_profile("smoke", file, "airfoil"); });
  };
  EXPECT_TRUE(has(refused("resolutions = [16]\n"), "own mesh"));
  EXPECT_TRUE(has(refused("[data]\nwindows = 0\n"), "windows"));
  EXPECT_TRUE(has(refused("[explainer]\nunlabelled = 9\n"), "explainer.unlabelled=9 (nothing draws inputs"));
  EXPECT_TRUE(has(refused("[explainer]\nfine_from = 64\n"), "explainer.fine_from=64 (a flow is served"));
  const cli::Profile any_query = cli::load_profile("desk", "any_query", "airfoil");
  EXPECT_TRUE(any_query.explainer.any_query);
  EXPECT_EQ(0, any_query.explainer.fine_from);
  EXPECT_TRUE(has(refused("[scenario]\nbaseline = \"blur\"\n"), "blur"));
  EXPECT_TRUE(has(refused("[scenario]\nbaseline = [1, 2]\n"), "mach"));
  EXPECT_EQ("", refused("[scenario]\nbaseline = \"node_mean\"\n"));
}

TEST(Profiles, WhatIsForOneProblemIsLaidOverWhatIsForPlanes) {
  const std::string text =
      "[plane]\nresolutions = [2, 4]\n[plane.data]\ntest = 9\n[pde.darcy2d.data]\ntest = 10\n"
      "parameters = {field = 'fno_grf', sigma = 2}\n";
  const cli::Profile darcy = laid_over(text, "smoke", "darcy2d"), heat = laid_over(text, "smoke", "heat2d");
  EXPECT_EQ((std::vector<Resolution>{2, 4}), darcy.resolutions);
  EXPECT_EQ(10, darcy.data.test);
  EXPECT_EQ(9, heat.data.test);
  EXPECT_EQ((pde::ParameterValues{{"field", "fno_grf"}, {"sigma", 2.0}}), darcy.data.parameters);
  EXPECT_EQ(3u, laid_over(text, "smoke", "heat1d").resolutions.size()) << "not in the plane";
  for (const char* wrong : {"[pde.darcy3d.data]\ntest = 10\n", "[data]\nparameters = {nuu = 1}\n",
                            "[data]\nparameters = {nu = -1}\n", "[data]\nparameters = {solver = 'rk4'}\n"})
    EXPECT_THROW(laid_over(wrong), InvalidArgument) << wrong;
}

// Every key that the paper's recipe does not have, each with a value of its own.
const char* const new_keys = R"(
[explainers.other]
target = "mean_field"
label_evaluations = 24
mixture = [{players = 16, target = "permutation_pairs", evaluations = 122}, {players = 32, target = "two_level"}]
relative = true
coordinates = "query_offset"
atom = true
cells = "equal"
fine_from = 64
padding = 0.25
quadrature = "volumes"
queries = "any"
clipping = 2.5
averaging = 0.99
unlabelled = 7
unlabelled_shares = [1, 2.5, 0]
[explainers.further]
like = "other"
coordinates = "query_angle"
)";

TEST(Profiles, HaveFurtherExplainersEachLaidOverAnother) {
  const cli::Profile profile = laid_over(new_keys);
  ASSERT_EQ(2u, profile.explainers.size());
  const networks::ExplainerRecipe& other = profile.explainers.at("other");
  EXPECT_EQ("mean_field", other.target);
  EXPECT_EQ(24, other.label_evaluations);
  EXPECT_EQ((std::vector<networks::LabelRule>{{16, "permutation_pairs", 122}, {32, "two_level", 0}}), other.mixture);
  EXPECT_TRUE(other.relative && other.atom && other.any_query);
  EXPECT_EQ(64, other.fine_from);
  EXPECT_EQ("equal", other.cells);
  EXPECT_EQ(0.25, other.padding);
  EXPECT_EQ(2.5, other.clipping);
  EXPECT_EQ("volumes", other.quadrature);
  EXPECT_EQ(0.99, other.averaging);
  EXPECT_EQ(7, other.unlabelled);
  EXPECT_EQ((std::vector<double>{1, 2.5, 0}), other.unlabelled_shares);
  EXPECT_EQ(profile.explainer.epochs, other.epochs) << "that of [explainer]";
  EXPECT_EQ("query_angle", profile.explainers.at("further").coordinates);
  EXPECT_EQ(24, profile.explainers.at("further").label_evaluations) << "that of the other one";
  EXPECT_EQ(cli::to_toml(profile), cli::to_toml(cli::parse_profile(cli::to_toml(profile), "stored.toml")));
  const std::vector<std::string> said = cli::departures(profile);
  EXPECT_TRUE(std::ranges::any_of(said, [](const std::string& sentence) {
    return sentence.starts_with("a further explainer, other, that the paper does not have: ") &&
           sentence.find(R"(coordinates = "query_offset", atom = true, cells = "equal", fine_from = 64)") !=
               std::string::npos;
  })) << *std::ranges::find_if(said, [](const auto& one) { return one.starts_with("a further"); });
  for (const char* wrong :
       {"[explainers.a]\nlike = 'b'\n", "[explainers.a]\nlike = 'a'\n", "[explainers]\na = 1\n",
        "[explainers.a]\nlike = 'b'\n[explainers.b]\nlike = 'a'\n", "[explainer]\ncoordinates = 'polar'\n",
        "[explainer]\nunlabelled_shares = [1]\n", "[explainer]\nunlabelled_shares = [0, 0, 0]\n",
        "[explainer]\nunlabelled_shares = [1, -1, 1]\n", "[explainer]\nqueries = 'some'\n",
        "[explainer]\nquadrature = 'point'\n", "[explainer]\ncells = 'half'\n"})
    EXPECT_THROW(laid_over(wrong), InvalidArgument) << wrong;
}

TEST(Profiles, AnOverlayOfAStudyFitsEveryProfile) {
  for (const char* profile : {"desk", "paper"}) {  // whose data have its resolutions
    const cli::Profile plain = cli::load_profile(profile, {}), laid = cli::load_profile(profile, "amortisation");
    EXPECT_GE(laid.explainers.size(), 10u);
    EXPECT_EQ(plain.explainer.learning_rate, laid.explainers.at("fastshap").learning_rate);
    EXPECT_EQ(laid.explainers.at("mean_field").unlabelled, laid.explainers.at("mean_field_labels").unlabelled);
  }
  const cli::Profile line = cli::load_profile("desk", "own_operator"),
                     plane = cli::load_profile("desk", "own_operator", "heat2d");
  EXPECT_TRUE(line.explainer.any_query && plane.explainer.any_query);
  EXPECT_GT(line.explainer.fine_from, plane.explainer.fine_from) << "points per axis";
}

TEST(Profiles, TheStudyOfBasesHasTheRecipeOfItsOverlayWithAndWithoutTheBase) {
  for (const char* problem : {"burgers1d", "heat2d"}) {
    const networks::ExplainerRecipe alone = cli::load_profile("desk", "mean_field_base", problem).explainer;
    const auto recipes = cli::load_profile("desk", "bases", problem).explainers;
    const networks::ExplainerRecipe &based = recipes.at("mean_field_base"), &labels = recipes.at("labels_alone");
    EXPECT_TRUE(based.base.any() && !labels.base.any());
    for (const networks::ExplainerRecipe* recipe : {&based, &labels}) {
      EXPECT_EQ(alone.epochs, recipe->epochs);
      EXPECT_EQ(alone.unlabelled, recipe->unlabelled);
      EXPECT_EQ(alone.label_evaluations, recipe->label_evaluations);
      EXPECT_EQ(alone.resolutions, recipe->resolutions);
    }
  }
}

TEST(Profiles, AnOverlayOfAnArchitectureReplacesTheOperatorAndSaysSo) {
  const auto says = [](const cli::Profile& profile, const std::string& start) {
    return std::ranges::any_of(cli::departures(profile),
                               [&](const std::string& sentence) { return sentence.starts_with(start); });
  };
  const cli::Profile mwt = cli::load_profile("smoke", "mwt", "burgers1d");
  EXPECT_EQ("mwt", mwt.backbone.model.model);
  EXPECT_EQ(mwt.backbone.model.json, mwt.explainer.model.json);
  EXPECT_TRUE(says(mwt, "operator: mwt (c = 8, k = 4, alpha = 10, n_cz = 2) instead of the paper's fno"));
  EXPECT_FALSE(says(mwt, "operator width")) << "a setting of another architecture";

  const cli::Profile local = cli::load_profile("smoke", "local_no", "heat2d");
  EXPECT_EQ("local_no", local.backbone.model.model);
  EXPECT_TRUE(has(local.backbone.model.json, R"("modes":8)"));

  const cli::Profile relu = cli::load_profile("smoke", "relu", "burgers1d");
  EXPECT_EQ("fno", relu.backbone.model.model);
  EXPECT_TRUE(says(relu, "operator width: 24 instead of the paper's 64"));
  EXPECT_TRUE(says(relu, "operator non_linearity: \"relu\", which the paper's settings do not have"));
}

TEST(Profiles, AnOverlayLeavesOutAnExplainer) {
  ASSERT_TRUE(cli::load_profile("desk", {}).explainers.contains("mean_field_labels"));
  const cli::Profile mwt = cli::load_profile("desk", "desk_mwt", "burgers1d");
  EXPECT_TRUE(mwt.explainers.empty());
  EXPECT_TRUE(mwt.evaluation.unseen.empty()) << "48 points are no power of two";
  const cli::Profile local = cli::load_profile("desk", "desk_local_no", "heat2d");
  EXPECT_TRUE(local.explainers.empty());
  EXPECT_EQ((std::vector<Resolution>{4, 8, 16}), local.resolutions);
  EXPECT_EQ(5, local.evaluation.curves.front().inputs);
  EXPECT_THROW(laid_over("[explainers]\nmean_field_labels = true\n", "desk"), InvalidArgument) << "true makes none";
}

TEST(Profiles, ScatteredPointsAreTheOneResolutionOfARun) {
  const cli::Profile gino = cli::load_profile("smoke", "gino", "heat2d");
  EXPECT_EQ("gino", gino.explainer.model.model);
  EXPECT_EQ(256, gino.data.scattered);
  EXPECT_EQ((std::vector<Resolution>{256}), gino.evaluation.resolutions);
  EXPECT_EQ(64, gino.explainer.scenario.blocks);
  EXPECT_TRUE(cli::data_request(gino, 1).layout.resolutions.empty()) << "the data set itself is on its grid";
  EXPECT_EQ("data: at 256 scattered points of the grid instead of the grid", cli::departures(gino).front());
  const std::string stored = cli::to_toml(gino);
  EXPECT_EQ(256, cli::parse_profile(stored, "stored.toml").data.scattered);
  EXPECT_EQ(stored, cli::to_toml(cli::parse_profile(stored, "stored.toml")));

  for (const char* wrong : {"[data]\nscattered = 400\n", "resolutions = [3]\n[data]\nscattered = 3\n",
                            "resolutions = [400]\n[data]\nscattered = 400\n[evaluation]\nunseen = [100]\n",
                            "resolutions = [400]\n[data]\nscattered = 400\n[explainer]\nunlabelled = 9\n",
                            "resolutions = [400]\n[data]\nscattered = 400\n[explainers.a]\nunlabelled = 9\n",
                            "resolutions = [400]\n[data]\nscattered = 400\n[plane.explainer]\nunlabelled = 9\n"})
    EXPECT_THROW(laid_over(wrong, "smoke", "heat2d"), InvalidArgument) << wrong;
  const std::string none = "resolutions = [400]\n[data]\nscattered = 400\n[explainer]\nunlabelled = 0\n";
  EXPECT_EQ(0, laid_over(none, "desk", "heat2d").explainer.unlabelled) << "those of desk itself are left out";
}

TEST(Profiles, UnseenResolutionsAreNotThoseOfTheTraining) {
  cli::Profile profile = embedded().front();
  profile.evaluation.unseen = {48, 384};
  EXPECT_EQ(profile.evaluation.unseen, cli::parse_profile(cli::to_toml(profile), "stored.toml").evaluation.unseen);
  profile.evaluation.unseen = {profile.resolutions.front()};
  EXPECT_THROW(cli::parse_profile(cli::to_toml(profile), "stored.toml"), InvalidArgument);
}

TEST(Profiles, ABrokenTextIsRefused) {
  EXPECT_THROW(cli::parse_profile("summary = ", "stored.toml"), DataError);
  EXPECT_THROW(cli::parse_profile("summary = \"no more\"\n", "stored.toml"), InvalidArgument);
}

std::vector<double> counting(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(InputFields, TakeTheChannelAxisOrLeaveItOut) {
  for (const auto& [shape, dimension, channels, grid] : {std::tuple(std::vector<std::int64_t>{6}, 1, 1, std::vector{6}),
                                                         {{1, 6}, 1, 1, {6}},
                                                         {{2, 6}, 1, 2, {6}},
                                                         {{3, 4}, 2, 1, {3, 4}},
                                                         {{1, 3, 4}, 2, 1, {3, 4}},
                                                         {{2, 3, 4}, 2, 2, {3, 4}}}) {
    const auto count =
        static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    const FieldBatch field = cli::input_field(shape, counting(count), dimension, channels, "test");
    EXPECT_EQ(grid, field.domain.shape());
    EXPECT_EQ(channels, field.channels);
    EXPECT_EQ(1, field.batch);
    EXPECT_EQ(counting(count), field.values);
  }
}

TEST(InputFields, RefuseShapesTheOperatorDoesNotTake) {
  EXPECT_THROW(cli::input_field({2, 6}, counting(12), 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({6}, counting(6), 1, 2, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({6}, counting(6), 2, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({}, counting(1), 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({0}, {}, 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({std::int64_t{1} << 40}, {}, 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({6}, counting(5), 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({1}, {std::numeric_limits<double>::quiet_NaN()}, 1, 1, "test"), DataError);
}

TEST(InputFields, OnAMeshThereIsAValueForEachPoint) {
  const Domain mesh = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 0, 1}, {1, 1, 1}));
  for (const auto& [shape, channels, batch] :
       {std::tuple(std::vector<std::int64_t>{3}, 1, 1), {{1, 3}, 1, 1}, {{2, 3}, 2, 1}, {{4, 2, 3}, 2, 4}}) {
    const auto count = static_cast<std::size_t>(3 * channels * batch);
    const auto fields = cli::on_mesh(
        cli::input_field(shape, counting(count), 1, channels, "test", cli::Several::allowed), mesh, "test");
    EXPECT_EQ(mesh, fields.domain);
    EXPECT_EQ(batch, fields.batch);
    EXPECT_EQ(channels, fields.channels);
    EXPECT_EQ(counting(count), fields.values);
  }
  EXPECT_THROW(cli::on_mesh(cli::input_field({4}, counting(4), 1, 1, "test"), mesh, "test"), InvalidArgument);
}

TEST(InputFields, LabelsHaveTheDomainsShape) {
  const Domain mesh = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 0, 1}, {1, 2, 4}));
  EXPECT_EQ((std::vector<double>{5, 2}), cli::input_partition({3}, {0, 1, 0}, mesh, "test").volumes);
  EXPECT_THROW(cli::input_partition({1, 3}, {0, 1, 0}, mesh, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_partition({3}, {0, 2, 0}, mesh, "test"), InvalidArgument);
  const Domain domain = Domain::unit({2, 2});
  EXPECT_EQ(2, cli::input_partition({2, 2}, {0, 1, 1, 0}, domain, "test").players);
  EXPECT_THROW(cli::input_partition({4}, {0, 1, 1, 0}, domain, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_partition({2, 2}, {0, 2, 2, 0}, domain, "test"), InvalidArgument);
}

}  // namespace
}  // namespace opshap
