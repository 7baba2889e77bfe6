// Profiles as files: what is written is read back, wording decides nothing, and the runs in reports/ can be resumed.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

std::vector<cli::Profile> embedded() {
  std::vector<cli::Profile> profiles;
  for (const cli::EmbeddedProfile& profile : cli::embedded_profiles())
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

// Their settings are texts of an earlier writer, with another order of the keys.
TEST(Profiles, TheCommittedRunsCanBeResumed) {
  int runs = 0;
  for (const cli::Profile& profile : embedded()) {
    const fs::path manifest = fs::path(OPSHAP_SOURCE_DIR) / "reports" / profile.name / "manifest.json";
    if (!fs::exists(manifest)) continue;
    const auto stored = nlohmann::json::parse(read_file(manifest));
    const std::string text = stored.at("settings").at("toml");
    EXPECT_EQ(cli::identity(profile), cli::identity(cli::parse_profile(text, manifest.string())));
    ++runs;
  }
  EXPECT_GE(runs, 3);
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
  EXPECT_NE(std::string::npos, text.find("baseline = 'zero'")) << text;
  EXPECT_EQ(profile.evaluation.scenario.describe(),
            cli::parse_profile(text, "stored.toml").evaluation.scenario.describe());
  profile.evaluation.scenario = Rule{.query = Rule::Where::position, .position = {0.5, 0.25}, .channel = 1};
  EXPECT_EQ(profile.evaluation.scenario.describe(),
            cli::parse_profile(cli::to_toml(profile), "stored.toml").evaluation.scenario.describe());
  EXPECT_THROW(cli::parse_profile(std::string(text).replace(text.find("synthetic2d"), 11, "synthetic3d"), "stored"),
               InvalidArgument);
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

}  // namespace
}  // namespace opshap
