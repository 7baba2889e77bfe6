// `opshap data` and `opshap pde` as their users meet them: what they ask of a problem and say of it.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "pde/registry.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

using Json = nlohmann::json;

class ProblemCommands : public Program {
 protected:
  /// A .npy file with positive values: one wave along the last axis.
  std::string array(const std::string& name, const std::vector<std::int64_t>& shape) const {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    std::vector<double> values(count);
    const auto line = static_cast<std::size_t>(shape.back());
    for (std::size_t i = 0; i < count; ++i)
      values[i] = 1 + 0.5 * std::sin(6.283185307179586 * static_cast<double>(i % line) / static_cast<double>(line));
    data::write_npy(path(name), {shape, data::Dtype::float64, values});
    return path(name);
  }

  std::vector<std::int64_t> solved_shape(const std::string& problem, const std::vector<std::int64_t>& shape) const {
    const Outcome outcome =
        opshap("pde solve " + problem + " --initial " + array("in.npy", shape) + " --out " + path("out.npy"));
    EXPECT_EQ(0, outcome.code) << outcome.err;
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
  const Outcome outcome = opshap("pde solve synthetic2d --json --initial " + in + out);
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const Json json = Json::parse(outcome.out);
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
    const Outcome made = opshap("data generate --json --pde " + name + settings + " --samples 6 --out " + file);
    ASSERT_EQ(0, made.code) << made.err;
    const Json set = Json::parse(made.out);
    EXPECT_EQ(pde::find(name).input().channels.size(), set["input"]["channels"].size());
    EXPECT_EQ(pde::find(name).input().channels.size(), set["input_mean"].size());
    EXPECT_EQ(pde::find(name).evolution() != nullptr, set.contains("target_time"));
    const Outcome info = opshap("data info " + file);
    ASSERT_EQ(0, info.code) << info.err;
    for (const pde::Channel& channel : pde::find(name).input().channels)
      EXPECT_NE(std::string::npos, info.out.find(channel.name + " [" + channel.unit + "]")) << info.out;
    EXPECT_NE(std::string::npos, info.out.find(problem->output().domain.describe())) << info.out;
    EXPECT_EQ(0, opshap("data verify " + file).code);
  }
}

TEST_F(ProblemCommands, PartsMadeApartAreMergedToTheSameFile) {
  const std::string set = "data generate --pde heat1d --samples 7 --out ";
  ASSERT_EQ(0, opshap(set + path("whole.h5")).code);
  ASSERT_EQ(0, opshap(set + path("b.part") + " --shard 1/2").code);
  expect_refusal("data merge " + path("b.part") + " --out " + path("merged.h5"), 2, "part=0 of 2 (is missing)");
  const Outcome made = opshap(set + path("a.part") + " --shard 0/2 --json");
  ASSERT_EQ(0, made.code) << made.err;
  EXPECT_EQ(2, Json::parse(made.out)["part"]["of"]);
  const Outcome merged = opshap("data merge " + path("b.part") + " " + path("a.part") + " --out " + path("merged.h5"));
  ASSERT_EQ(0, merged.code) << merged.err;
  EXPECT_EQ(read_file(path("whole.h5")), read_file(path("merged.h5")));
  expect_refusal("data info " + path("a.part"), 3, "(is a part of a data set)");
  expect_refusal("data generate --pde heat1d --samples 7 --shard 2/2 --out " + path("c.part"), 2, "--shard=2/2");
}

TEST_F(ProblemCommands, TheListSaysWhichProblemIsSyntheticAndWhatCanBeSet) {
  const Outcome outcome = opshap("list pdes --json");
  ASSERT_EQ(0, outcome.code) << outcome.err;
  const Json listed = Json::parse(outcome.out)["entries"];
  ASSERT_EQ(pde::names().size(), listed.size());
  for (const Json& entry : listed) {
    const auto name = entry["name"].get<std::string>();
    EXPECT_EQ(!pde::find(name).in_paper(),
              entry["summary"].get<std::string>().starts_with("Synthetic, not in the paper"));
    EXPECT_EQ(pde::find(name).evolution() == nullptr, entry["target_time"].is_null());
    EXPECT_EQ(pde::find(name).parameters().size(), entry["parameters"].size());
  }
}

}  // namespace
}  // namespace opshap
