// `opshap data` and `opshap pde` as their users meet them: what they ask of a problem and say of it, pictures of data
// sets, and the data sets of a whole profile.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/mesh_file.hpp"
#include "data/npy.hpp"
#include "pde/registry.hpp"
#include "support/expressions.hpp"
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

TEST_F(ProblemCommands, AFlowIsSolvedFromItsGeometryAndNumbers) {
  const std::string coarse = "pde solve cylinder_flow --set edge=0.015 --set length=0.8 ",
                    out = " --out " + path("f.npz");
  const Json json = answer(coarse + "--set radius=0.04 --set peak_velocity=1 --time 0.2 --frames 3" + out);
  EXPECT_EQ((std::vector<double>{0, 0.1, 0.2}), json["times"].get<std::vector<double>>());
  for (const char* series : {"drag", "lift", "pressure_difference"}) EXPECT_EQ(3u, json[series].size()) << series;
  EXPECT_EQ(0.04, json["numbers"]["radius"]);
  EXPECT_EQ(0.2, json["numbers"]["centre_x"]) << "the usual one";
  const auto nodes = json["nodes"].get<std::int64_t>();
  std::map<std::string, data::NpyArray> arrays;
  const data::NpzFile file(read_file(path("f.npz")), "f.npz");
  for (const std::string& name : file.names()) arrays.emplace(name, file.array(name));
  EXPECT_EQ((Shape{nodes, 2}), arrays.at("mesh_pos").shape);
  EXPECT_EQ((Shape{nodes, 1}), arrays.at("node_type").shape);
  EXPECT_EQ((Shape{3, nodes, 2}), arrays.at("velocity").shape);
  EXPECT_EQ((Shape{3, nodes, 1}), arrays.at("pressure").shape);
  EXPECT_EQ(3, arrays.at("cells").shape.at(1));
  EXPECT_EQ((Shape{3}), arrays.at("times").shape);
  EXPECT_EQ(nodes, data::read_mesh(path("f.npz")).size()) << "what --mesh takes";

  expect_refusal(coarse + "--time 0.2 --frames 3 --out " + path("f.npy"), 2, "Give a file that ends in .npz.");
  expect_refusal(coarse + "--time 0.2 --frames 3 --initial " + array("in.npy", {8}) + out, 2, "Leave it out.");
  expect_refusal(coarse + "--time -1 --frames 3" + out, 2, "--time=-1");
  expect_refusal(coarse + "--set radios=1 --time 0.2 --frames 3" + out, 2, "radios");
  expect_refusal(coarse + "--set radius=0.3 --time 0.2 --frames 3" + out, 2, "radius=0.3");
  expect_refusal(coarse + "--steady" + out, 2, "--steady");
  expect_refusal("pde solve heat1d --steady --out " + path("h.npy"), 2, "--steady");
  expect_refusal("pde solve heat1d --out " + path("h.npy"), 2, "--initial");
}

TEST_F(ProblemCommands, TheSteadyFlowAroundAnAirfoilHasALift) {
  const Json json = answer(
      "pde solve airfoil --set far_field=4 --set edge=0.04 --set middle=0.08 --set growth=0.2 --set mach=0.5 --set "
      "angle=4 --steady --out " +
      path("a.npz"));
  EXPECT_TRUE(json["steady"]);
  ASSERT_EQ(1u, json["lift"].size());
  EXPECT_GT(json["lift"][0], 0);
}

TEST_F(ProblemCommands, FlowsOfMeshGraphNetsAreImportedAndDescribed) {
  const std::string folder = OPSHAP_SOURCE_DIR "/reference_data/meshgraphnets/cylinder_flow",
                    import = "data import meshgraphnets " + folder;
  const Json set = answer(import + " --lead 2 --windows 2 --out " + path("flows.h5"));
  EXPECT_EQ("imported", set["origin"]);
  EXPECT_EQ("meshgraphnets_cylinder_flow", set["pde"]);
  EXPECT_EQ(12, set["request"]["samples"]) << "3 + 1 + 2 flows";
  EXPECT_EQ(0.02, set["lead"]);
  const std::string info = output("data info " + path("flows.h5"));
  for (const char* words : {"imported     from MeshGraphNets, layout TFRecord: train.tfrecord",
                            "6, each with 2 windows", "node of a wall nearest to the query"})
    EXPECT_TRUE(has(info, words)) << info;
  EXPECT_EQ(0, opshap("data verify " + path("flows.h5")).code);
  EXPECT_EQ(0, opshap("data preview " + path("flows.h5") + " --out " + path("flows.html")).code);
  done(import + " --lead 2 --windows 2 --out " + path("flows.h5"));  // it is there
  expect_refusal(import + " --lead 1 --windows 2 --out " + path("flows.h5"), 2, "was made by another request");
  expect_refusal(import + " --lead 2 --out " + path("none.h5"), 2, "Give both, or --windows-like.");
  expect_refusal(import + " --lead 4 --windows 2 --out " + path("none.h5"), 2, "windows=2");
  expect_refusal(import + " --lead 5 --windows 1 --out " + path("none.h5"), 2, "lead=5");
  expect_refusal("data import meshgraphnets " + path("nowhere") + " --lead 1 --windows 1 --out " + path("none.h5"), 3,
                 "nowhere");
  EXPECT_FALSE(std::filesystem::exists(path("none.h5")));
}

TEST_F(ProblemCommands, DataSetsOfEveryProblemAreGeneratedDescribedAndVerified) {
  for (const std::string& name : pde::names()) {
    const std::string file = path(name + ".h5");
    const pde::Equation& equation = pde::find_equation(name);
    const auto* problem = dynamic_cast<const pde::Problem*>(&equation);
    std::string settings = problem == nullptr ? " --windows 2" : "";
    for (const auto& [parameter, value] : equation.quick()) {
      settings += " --set " + parameter + "=";
      settings += std::visit([](const auto& held) { return message(held); }, value);
    }
    const Json set = answer("data generate --pde " + name + settings + " --samples 6 --out " + file);
    const std::vector<pde::Channel> channels = pde::input_channels(equation);
    EXPECT_EQ(channels.size(), set["input"]["channels"].size());
    EXPECT_EQ(channels.size(), set["input_mean"].size());
    EXPECT_EQ(problem != nullptr && problem->evolution() != nullptr, set.contains("target_time"));
    EXPECT_EQ(problem == nullptr, set.contains("lead"));
    const std::string info = output("data info " + file);
    for (const pde::Channel& channel : channels) EXPECT_TRUE(has(info, channel.name + " [" + channel.unit + "]"));
    EXPECT_TRUE(has(info, problem == nullptr ? "6, each with 2 windows"
                                             : problem->with(equation.quick())->output().domain.describe()));
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
    const pde::Equation& equation = pde::find_equation(name);
    const auto* problem = dynamic_cast<const pde::Problem*>(&equation);
    EXPECT_EQ(!equation.in_paper(), entry["summary"].get<std::string>().starts_with("Synthetic, not in the paper"));
    EXPECT_EQ(problem != nullptr && problem->evolution() == nullptr, entry["target_time"].is_null());
    EXPECT_EQ(problem == nullptr, !entry["drawn"].is_null());
    EXPECT_EQ(equation.parameters().size(), entry["parameters"].size());
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
    return file(
        "tiny.toml",
        "[data]\ntrain = 3\nvalidation = 1\ntest = 2\n[evaluation]\ninputs = 2\ncurves = []\n"
        "[pde.gray_scott2d.data]\nparameters = {points = 64, time = 20}\n"
        "[pde.shallow_water2d.data]\nparameters = {points = 32}\n"
        "[meshes.data]\nwindows = 1\n"
        "[pde.cylinder_flow.data]\nparameters = {edge = 0.015, length = 0.8, last_time = 0.3, frames = 3}\n"
        "[pde.airfoil.data]\nparameters = {far_field = 4, edge = 0.04, middle = 0.08, growth = 0.2, last_time = "
        "1.2, frames = 12, lead = 0.3}\n");
  }
};

TEST_F(ProfileData, EveryProblemOfThePaperGetsItsSetAndAnEstimate) {
  const std::string command = "data generate --all --profile smoke --config " + tiny() + " --out " + path("sets");
  const Outcome outcome = done(command + " --json");
  const Json json = Json::parse(outcome.out);
  std::size_t problems = 0;
  for (const std::string& name : pde::names()) {
    if (!pde::find_equation(name).in_paper()) continue;
    const Json& made = json["data_sets"].at(problems++);
    EXPECT_EQ(name, made["pde"]);
    EXPECT_EQ(6, made["samples"]);
    EXPECT_GT(made["estimated_seconds"].get<double>(), 0);
    EXPECT_EQ(data::read_dataset(path("sets/" + name + ".h5")).content_hash, made["content_xxh64"]);
    EXPECT_TRUE(has_match(outcome.err, "estimate  " + name + " +6 samples, ")) << outcome.err;
  }
  EXPECT_EQ(11u, problems);
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
