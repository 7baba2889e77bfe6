// `opshap data` and `opshap pde` as their users meet them: what they ask of a problem and say of it, pictures of data
// sets, and the data sets of a whole profile.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/npy.hpp"
#include "pde/registry.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

class ProblemCommands : public Program {
 protected:
  /// A .npy file with positive values: one wave along the last axis.
  std::string array(const std::string& name, const std::vector<std::int64_t>& shape) const {
    std::vector<double> values(
        static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
    const auto line = static_cast<std::size_t>(shape.back());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 1 + 0.5 * std::sin(6.283185307179586 * static_cast<double>(i % line) / static_cast<double>(line));
    data::write_npy(path(name), {shape, data::Dtype::float64, values});
    return path(name);
  }

  std::vector<std::int64_t> solved_shape(const std::string& problem, const std::vector<std::int64_t>& shape) const {
    output("pde solve " + problem + " --initial " + array("in.npy", shape) + " --out " + path("out.npy"));
    return data::read_npy(path("out.npy")).shape;
  }
};

using Shape = std::vector<std::int64_t>;

TEST_F(ProblemCommands, ASolutionHasTheChannelsOfTheOutput) {
  EXPECT_EQ((Shape{64}), solved_shape("burgers1d", {64}));
  EXPECT_EQ((Shape{1, 64}), solved_shape("burgers1d", {1, 64}));
  EXPECT_EQ((Shape{1, 8, 4}), solved_shape("synthetic2d", {2, 8, 4}));
  EXPECT_EQ((Shape{2, 16, 8}), solved_shape("gray_scott2d", {2, 16, 8}));
  EXPECT_EQ((Shape{16, 8}), solved_shape("darcy2d", {16, 8}));
  // Water at rest, or with its momenta.
  EXPECT_EQ((Shape{16, 8}), solved_shape("shallow_water2d", {16, 8}));
  EXPECT_EQ((Shape{3, 16, 8}), solved_shape("shallow_water2d", {3, 16, 8}));
}

TEST_F(ProblemCommands, AStaticProblemIsSolvedWithoutATime) {
  const std::string in = array("in.npy", {2, 8, 4}), out = " --out " + path("out.npy");
  const Json json = answer("pde solve synthetic2d --initial " + in + out);
  EXPECT_FALSE(json.contains("time"));
  EXPECT_EQ("mean_drift", json["invariants"][0]["name"]);
  const data::NpyArray solution = data::read_npy(path("out.npy"));
  std::filesystem::remove(path("out.npy"));
  expect_refusal("pde solve synthetic2d --time 1 --initial " + in + out, 2,
                 "--time=1 (synthetic2d does not depend on time)");
  // The grid of the input lies between the walls of the problem.
  const FieldBatch field{Domain::grid({Axis::cells(8, 2), Axis::cells(4, 1)}), 1, 2, data::read_npy(in).reals("test")};
  EXPECT_EQ(pde::find("synthetic2d").solve(field).output.values, solution.reals("test"));
}

TEST_F(ProblemCommands, InputsOfAnotherShapeAreRefused) {
  const std::string out = " --out " + path("out.npy");
  expect_refusal("pde solve synthetic2d --initial " + array("a.npy", {8, 4}) + out, 2, "[2,nx,ny]");
  expect_refusal("pde solve synthetic2d --initial " + array("b.npy", {3, 8, 4}) + out, 2, "[2,nx,ny]");
  expect_refusal("pde solve burgers1d --initial " + array("c.npy", {2, 64}) + out, 2, "[n] or [1,n]");
  expect_refusal("pde solve burgers1d --initial " + array("d.npy", {4}) + out, 2, "N=4");
}

TEST_F(ProblemCommands, DataSetsOfEveryProblemAreGeneratedDescribedAndVerified) {
  for (const std::string& name : pde::names()) {
    const std::string file = path(name + ".h5");
    std::string settings;
    const auto problem = pde::find(name).with(pde::find(name).quick());
    for (const auto& [parameter, value] : pde::find(name).quick()) {
      settings += " --set " + parameter + "=";
      settings += std::visit([](const auto& held) { return message(held); }, value);
    }
    const Json set = answer("data generate --pde " + name + settings + " --samples 6 --out " + file);
    EXPECT_EQ(pde::find(name).input().channels.size(), set["input"]["channels"].size());
    EXPECT_EQ(pde::find(name).input().channels.size(), set["input_mean"].size());
    EXPECT_EQ(pde::find(name).evolution() != nullptr, set.contains("target_time"));
    const std::string info = output("data info " + file);
    for (const pde::Channel& channel : pde::find(name).input().channels)
      EXPECT_TRUE(has(info, channel.name + " [" + channel.unit + "]"));
    EXPECT_TRUE(has(info, problem->output().domain.describe()));
    EXPECT_EQ(0, opshap("data verify " + file).code);
  }
}

TEST_F(ProblemCommands, PartsMadeApartAreMergedToTheSameFile) {
  const std::string set = "data generate --pde heat1d --samples 7 --out ";
  ASSERT_EQ(0, opshap(set + path("whole.h5")).code);
  ASSERT_EQ(0, opshap(set + path("b.part") + " --shard 1/2").code);
  expect_refusal("data merge " + path("b.part") + " --out " + path("merged.h5"), 2, "part=0 of 2 (is missing)");
  EXPECT_EQ(2, answer(set + path("a.part") + " --shard 0/2")["part"]["of"]);
  done("data merge " + path("b.part") + " " + path("a.part") + " --out " + path("merged.h5"));
  EXPECT_EQ(read_file(path("whole.h5")), read_file(path("merged.h5")));
  expect_refusal("data info " + path("a.part"), 3, "(is a part of a data set)");
  expect_refusal("data generate --pde heat1d --samples 7 --shard 2/2 --out " + path("c.part"), 2, "--shard=2/2");
}

TEST_F(ProblemCommands, TheListSaysWhichProblemIsSyntheticAndWhatCanBeSet) {
  const Json listed = answer("list pdes")["entries"];
  ASSERT_EQ(pde::names().size(), listed.size());
  for (const Json& entry : listed) {
    const auto name = entry["name"].get<std::string>();
    EXPECT_EQ(!pde::find(name).in_paper(),
              entry["summary"].get<std::string>().starts_with("Synthetic, not in the paper"));
    EXPECT_EQ(pde::find(name).evolution() == nullptr, entry["target_time"].is_null());
    EXPECT_EQ(pde::find(name).parameters().size(), entry["parameters"].size());
  }
}

data::DatasetRequest small(const pde::Problem& problem) {
  return {.pde = std::string(problem.name()), .parameters = problem.quick(), .layout = {.samples = 6}};
}

class DataSheets : public Program {};

TEST_F(DataSheets, ShowEveryChannelOfTheSamplesOfEveryProblem) {
  for (const auto& problem : pde::all()) {
    const std::string name(problem->name()), set = path(name + ".h5"), page = path(name + ".html");
    data::generate(small(*problem), set);
    EXPECT_EQ(page + "\n", output("data preview " + set + " --samples 0,5 --out " + page));
    const std::string text = read_file(page);
    EXPECT_EQ(2u, count(text, "<h3>sample ")) << name;
    const std::size_t channels = static_cast<std::size_t>(problem->input().channel_count()) +
                                 static_cast<std::size_t>(problem->output().channel_count());
    EXPECT_EQ(2 * (problem->input().domain.dimension() == 1 ? 1 : channels), count(text, "role=\"img\"")) << name;
    for (const pde::Channel& channel : problem->output().channels)
      EXPECT_TRUE(has(text, "target " + channel.name)) << name;
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
  EXPECT_TRUE(has(read_file(path("sheet.html")), "<th scope=\"row\">lambda</th><td>" + std::string(digits) + "</td>"));
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
        const auto stored = std::ranges::find(drawn[sample], numbers.name, &pde::Drawn::name);
        ASSERT_NE(drawn[sample].end(), stored) << numbers.name;
        EXPECT_TRUE(std::ranges::equal(numbers.values, stored->values, [](double made, double read) {
          return made == read || (std::isnan(made) && std::isnan(read));
        })) << numbers.name;
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
  const Outcome outcome = done(command + " --json");
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
  const Outcome again = done(command);
  EXPECT_TRUE(has(again.err, "is there"));
  EXPECT_FALSE(has(again.err, " each: "));
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
  const data::Cost cost = data::measured_cost({.pde = "heat1d", .layout = {.samples = 100}});
  EXPECT_EQ(100 * 2 * 1024 * 4, cost.bytes);
  EXPECT_GT(cost.seconds_per_sample, 0);
  EXPECT_LE(cost.seconds, 100 * cost.seconds_per_sample);
}

}  // namespace
}  // namespace opshap
