// Pictures of data sets, and the data sets of a whole profile.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "pde/registry.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using Json = nlohmann::json;

data::DatasetRequest small(const pde::Problem& problem) {
  return {.pde = std::string(problem.name()), .parameters = problem.quick(), .layout = {.samples = 6}};
}

class DataSheets : public Program {};

TEST_F(DataSheets, ShowEveryChannelOfTheSamplesOfEveryProblem) {
  for (const auto& problem : pde::all()) {
    const std::string name(problem->name()), set = path(name + ".h5"), page = path(name + ".html");
    data::generate(small(*problem), set);
    const Outcome outcome = opshap("data preview " + set + " --samples 0,5 --out " + page);
    ASSERT_EQ(0, outcome.code) << outcome.err;
    EXPECT_EQ(page + "\n", outcome.out);
    const std::string text = read_file(page);
    EXPECT_EQ(2u, count(text, "<h3>sample ")) << name;
    const std::size_t channels = static_cast<std::size_t>(problem->input().channel_count()) +
                                 static_cast<std::size_t>(problem->output().channel_count());
    EXPECT_EQ(2 * (problem->input().domain.dimension() == 1 ? 1 : channels), count(text, "role=\"img\"")) << name;
    for (const pde::Channel& channel : problem->output().channels)
      EXPECT_NE(std::string::npos, text.find("target " + channel.name)) << name;
    EXPECT_EQ(0u, count(text, "http") - count(text, "http://www.w3.org/2000/svg")) << "the page stands alone";
  }
}

TEST_F(DataSheets, ShowTheNumbersThatWereDrawn) {
  const pde::Problem& problem = pde::find("diffusion_sorption1d");
  const std::string set = path("set.h5");
  data::generate(small(problem), set);
  const double reach = data::generate_sample(problem, 42, 3).drawn.front().values.front();
  ASSERT_EQ(0, opshap("data preview " + set + " --samples 3 --out " + path("sheet.html")).code);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", reach);
  EXPECT_NE(std::string::npos,
            read_file(path("sheet.html")).find("<th scope=\"row\">lambda</th><td>" + std::string(digits) + "</td>"));
  ASSERT_EQ(0, opshap("data preview " + set + " --out " + path("sheet.svg")).code);
  EXPECT_EQ(4u, count(read_file(path("sheet.svg")), "<svg x=")) << "four samples unless others are named";
}

TEST_F(DataSheets, ReadWhatTheGeneratorDrew) {
  for (const auto& problem : pde::all()) {
    const std::string set = path(std::string(problem->name()) + ".h5");
    const data::DatasetRequest request = small(*problem);
    data::generate(request, set);
    const auto drawn = data::read_drawn(set);
    ASSERT_EQ(6u, drawn.size());
    for (std::uint64_t sample = 0; sample < drawn.size(); ++sample) {
      const auto made = data::generate_sample(*problem->with(problem->quick()), request.seed, sample).drawn;
      ASSERT_EQ(made.size(), drawn[sample].size()) << problem->name();
      for (const pde::Drawn& numbers : made) {
        const auto stored = std::find_if(drawn[sample].begin(), drawn[sample].end(),
                                         [&](const pde::Drawn& other) { return other.name == numbers.name; });
        ASSERT_NE(drawn[sample].end(), stored) << numbers.name;
        ASSERT_EQ(numbers.values.size(), stored->values.size()) << numbers.name;
        for (std::size_t i = 0; i < numbers.values.size(); ++i) {
          EXPECT_TRUE(numbers.values[i] == stored->values[i] ||
                      (std::isnan(numbers.values[i]) && std::isnan(stored->values[i])))
              << numbers.name;
        }
      }
    }
  }
}

TEST_F(DataSheets, RefuseWhatTheyCannotDraw) {
  const std::string set = path("set.h5");
  data::generate(small(pde::find("advection1d")), set);
  expect_refusal("data preview " + set + " --out " + path("sheet.txt"), 2, "ends with .html or .svg");
  expect_refusal("data preview " + set, 2, "ends with .html or .svg");
  expect_refusal("data preview " + set + " --samples 6 --out " + path("sheet.html"), 2,
                 "data preview: --samples=6 (the set has samples 0 to 5). Name some of these.");
  expect_refusal("data preview " + file("no.h5", "text") + " --out " + path("sheet.html"), 3, "no.h5");
}

class ProfileData : public Program {
 protected:
  /// A profile of six samples a problem, on small grids up to early times.
  std::string tiny() const {
    return file("tiny.toml",
                "[data]\ntrain = 3\nvalidation = 1\ntest = 2\n[evaluation]\ninputs = 2\ncurves = []\n"
                "[pde.gray_scott2d.data]\nparameters = {points = 64, time = 20}\n"
                "[pde.shallow_water2d.data]\nparameters = {points = 32}\n");
  }
};

TEST_F(ProfileData, EveryProblemOfThePaperGetsItsSetAndAnEstimate) {
  const std::string command = "data generate --all --profile smoke --config " + tiny() + " --out " + path("sets");
  const Outcome outcome = opshap(command + " --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const Json json = Json::parse(outcome.out);
  std::size_t problems = 0;
  for (const auto& problem : pde::all()) {
    if (!problem->in_paper()) continue;
    const std::string name(problem->name());
    const Json& made = json["data_sets"].at(problems++);
    EXPECT_EQ(name, made["pde"]);
    EXPECT_EQ(6, made["samples"]);
    EXPECT_GT(made["estimated_seconds"].get<double>(), 0);
    EXPECT_EQ(data::read_dataset(path("sets/" + name + ".h5")).content_hash, made["content_xxh64"]);
    EXPECT_TRUE(std::regex_search(outcome.err, std::regex("estimate  " + name + " +6 samples, "))) << outcome.err;
  }
  EXPECT_EQ(9u, problems);
  EXPECT_EQ(problems, json["data_sets"].size());
  EXPECT_LT(outcome.err.find("estimate  all together: "), outcome.err.find("data advection1d")) << "before it starts";

  // Sets that are there cost nothing, and none is made anew.
  const Outcome again = opshap(command);
  ASSERT_EQ(0, again.code) << again.err;
  EXPECT_NE(std::string::npos, again.err.find("is there"));
  EXPECT_EQ(std::string::npos, again.err.find(" each: "));
}

TEST_F(ProfileData, WhatCannotWorkIsRefused) {
  expect_refusal("data generate --all --out " + path("sets"), 2, "Give --profile smoke, desk or paper.");
  expect_refusal("data generate --out " + path("sets"), 2, "Give --pde NAME, or --all with --profile.");
  expect_refusal("data generate --all --profile smoke", 2, "Give --out FOLDER.");
  expect_refusal("data generate --all --profile smoke --out " + file("taken", "text"), 2, "Choose another path.");
  expect_refusal("data generate --all --profile smoke --samples 7 --out " + path("sets"), 2, "--samples excludes");
  expect_refusal("data generate --all --profile smok --out " + path("sets"), 2, "smoke");
}

TEST(Cost, CountsTheBytesOfTheFields) {
  const data::Cost cost = data::measured_cost({.pde = "heat1d", .parameters = {}, .layout = {.samples = 100}});
  EXPECT_EQ(100 * 2 * 1024 * 4, cost.bytes);
  EXPECT_GT(cost.seconds_per_sample, 0);
  EXPECT_LE(cost.seconds, 100 * cost.seconds_per_sample);
}

}  // namespace
}  // namespace opshap
