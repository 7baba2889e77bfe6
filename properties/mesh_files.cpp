// Meshes of files: Gmsh's, NumPy's point clouds and triangulations. What they say is read, and what cannot be a mesh is
// refused by name. Data sets at scattered points, and resolutions of grids and meshes. Data sets of inputs that nobody
// solved: of a user's own fields, and of further draws of a problem.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/scenario.hpp"
#include "data/generate.hpp"
#include "data/mesh_file.hpp"
#include "data/npy.hpp"
#include "data/verify.hpp"
#include "pde/registry.hpp"
#include "support/mutations.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

std::filesystem::path reference(const std::string& name) {
  return std::filesystem::path(OPSHAP_SOURCE_DIR) / "reference_data/meshes" / name;
}

double whole(const Mesh& mesh) { return std::accumulate(mesh.volumes.begin(), mesh.volumes.end(), 0.0); }

/// A file of two triangles, format 4.1.
std::string square() {
  return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 4 1 40\n0 1 0 1\n1\n0 0 0\n2 1 0 3\n20\n30\n40\n1 0 0\n1 1 "
         "0\n"
         "0 1 0\n$EndNodes\n$Elements\n2 3 1 3\n1 1 1 1\n1 1 20\n2 1 2 2\n2 1 20 30\n3 1 30 40\n$EndElements\n";
}

/// The same, format 2.2.
std::string old_square() {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n20 1 0 0\n30 1 1 0\n40 0 1 0\n$EndNodes\n"
         "$Elements\n3\n1 1 2 0 1 1 20\n2 2 2 0 1 1 20 30\n3 2 2 0 1 1 30 40\n$EndElements\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(std::string::npos, at) << from;
  return text.replace(at, from.size(), to);
}

// Points, cells and volume are Gmsh's own account of the mesh (reference_data/meshes.md).
TEST(MeshFiles, AMeshOfGmshIsTheSameInEachOfItsFormats) {
  const Mesh plate = data::read_mesh(reference("plate_4_1.msh"));
  EXPECT_EQ(2, plate.dimension);
  EXPECT_EQ(76, plate.size());
  EXPECT_EQ(3u * 118u, plate.cells.size());
  EXPECT_EQ("", mismatch(1.88, whole(plate), rounding(8 * 118, 2)));
  EXPECT_EQ("mesh of 76 points and 118 triangles", plate.describe());
  EXPECT_EQ(plate, data::read_mesh(reference("plate_2_2.msh"))) << "its triangles are in two physical groups";
  EXPECT_EQ(plate, data::read_mesh(reference("plate_parametric.msh")));

  const Mesh interval = data::read_mesh(reference("interval_4_1.msh"));
  EXPECT_EQ(1, interval.dimension);
  EXPECT_EQ(9, interval.size());
  EXPECT_EQ("", mismatch(4.0, whole(interval), rounding(8 * 8, 4)));
  EXPECT_EQ(interval, data::read_mesh(reference("interval_2_2.msh")));
}

TEST(MeshFiles, ArraysAreReadFromArchivesStoredAndCompressed) {
  const Mesh plate = data::read_mesh(reference("plate.npz"));
  EXPECT_EQ(76, plate.size());
  EXPECT_EQ(3u * 118u, plate.cells.size());
  EXPECT_EQ("", mismatch(1.88, whole(plate), rounding(8 * 118, 2)));

  const Mesh given = data::read_mesh(reference("plate_volumes.npz"));
  EXPECT_TRUE(given.cells.empty());
  EXPECT_EQ("", mismatch(plate.volumes, given.volumes, rounding(64, 1))) << "NumPy's sums of the triangles' thirds";
  const double single = 1.2e-7;  // its points are float32, on [0, 2]
  for (std::size_t i = 0; i < given.points.size(); ++i) EXPECT_NEAR(plate.points[i], given.points[i], single);
}

TEST(MeshFiles, APointCloudFillsItsBoundingBox) {
  const Mesh cloud = data::read_mesh(reference("plate.npy"));
  EXPECT_EQ(76, cloud.size());
  EXPECT_EQ("", mismatch(2.0, whole(cloud), rounding(76 * 100, 4))) << "of the hole it knows nothing";
}

TEST(MeshFiles, TagsAndOrderOfNodesMayBeAny) {
  const Mesh mesh = data::parse_mesh(square(), "test");
  EXPECT_EQ((std::vector<double>{0, 0, 1, 0, 1, 1, 0, 1}), mesh.points);
  EXPECT_EQ((std::vector<std::int64_t>{0, 1, 2, 0, 2, 3}), mesh.cells);
  EXPECT_EQ("", mismatch({1.0 / 3, 1.0 / 6, 1.0 / 3, 1.0 / 6}, mesh.volumes, rounding(4, 1)));
  EXPECT_EQ(mesh, data::parse_mesh(old_square(), "test"));
  std::string windows = square();
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
  EXPECT_EQ(mesh, data::parse_mesh(windows, "test"));
}

TEST(MeshFiles, ARoundingOfAPlaneIsAPlane) {
  const Mesh mesh = data::parse_mesh(square(), "test");
  EXPECT_EQ(mesh, data::parse_mesh(replaced(square(), "1 1 0\n", "1 1 1.2e-16\n"), "test"));
  EXPECT_THROW(data::parse_mesh(replaced(square(), "1 1 0\n", "1 1 1e-6\n"), "test"), InvalidArgument);
}

TEST(MeshFiles, WhatIsNotReadIsRefusedByName) {
  const auto says = [](const std::string& bytes) {
    return refusal<InvalidArgument>([&] { data::parse_mesh(bytes, "m.msh"); });
  };
  const auto file_says = [&](const char* name) { return says(read_file(reference(name))); };
  EXPECT_TRUE(has(file_says("plate_quadrangles.msh"), "4-node quadrangle"));
  EXPECT_TRUE(has(file_says("plate_second_order.msh"), "second-order"));
  EXPECT_TRUE(has(file_says("plate_binary.msh"), "binary"));
  EXPECT_TRUE(has(file_says("plate_with_centre.msh"), "node=77 (is a corner of no triangle"));
  EXPECT_TRUE(has(says(replaced(square(), "4.1 0 8", "4.0 0 8")), "version=4.0"));
  EXPECT_TRUE(has(says(replaced(square(), "1 1 0\n", "1 1 0.5\n")), "node=30 (lies at z = 0.5"));
  EXPECT_TRUE(has(says(replaced(old_square(), "2 2 2 0 1 1 20 30", "2 4 2 0 1 1 20 30 40")),
                  "element type=4 (4-node tetrahedron"));
  EXPECT_TRUE(has(says(replaced(square(), "2 3 1 3\n1 1 1 1\n1 1 20\n2 1 2 2\n2 1 20 30\n3 1 30 40\n", "0 0 0 0\n")),
                  "neither triangles nor lines"));

  const data::NpyArray space{{2, 3}, data::Dtype::float64, std::vector<double>(6, 0.0)};
  EXPECT_TRUE(has(says(data::format_npy(space)), "shape=[2,3]"));
  const data::NpyArray whole_numbers{{2, 2}, data::Dtype::int64, std::vector<std::int64_t>{0, 0, 1, 1}};
  EXPECT_TRUE(has(says(data::format_npy(whole_numbers)), "int64"));
}

TEST(MeshFiles, MeshesThatCannotBeAreBrokenFiles) {
  const auto contains = [](const std::string& bytes, const std::string& words) {
    EXPECT_TRUE(has(refusal<DataError>([&] { data::parse_mesh(bytes, "m.msh"); }), {words, "m.msh"}));
  };
  contains("", "neither a .npy nor a .npz file nor a Gmsh mesh");
  contains("PK\x03\x04 and more", "npz: file=m.msh (");
  contains(replaced(square(), "1 1 0\n", "1 0 0\n"), "point=2 (lies where point 1 does");
  contains(replaced(square(), "1 1 0\n", "2 0 0\n"), "cell=0 (its corners lie on one line");
  contains(replaced(square(), "1 1 0\n", "nan 1 0\n"), "coordinate=nan");
  contains(replaced(square(), "1 1 0\n", "1e999 1 0\n"), "in place of a number");
  contains(replaced(square(), "30\n40\n", "20\n40\n"), "node=20 (comes twice)");
  contains(replaced(square(), "1 30 40", "1 30 50"), "node=50 (is the corner of an element and not there)");
  contains(replaced(square(), "2 1 0 3\n", "2 1 0 999999999999\n"), "counts more than it holds");
  contains(replaced(square(), "2 4 1 40", "2 5 1 40"), "another number of nodes");
  contains(replaced(square(), "2 3 1 3", "1 3 1 3"), "holds more than it counts");
  contains(replaced(square(), "$EndElements", ""), "was cut off");
  contains(replaced(square(), "$Nodes", "$Knots"), "section=$Nodes (is not there)");
  contains(replaced(square(), "3 1 30 40\n", ""), "ends too early");
  contains(square() + "$Nodes\n$EndNodes\n", "comes twice");

  const data::NpyArray twice{{3, 1}, data::Dtype::float64, std::vector<double>{0, 1, 0}};
  contains(data::format_npy(twice), "point=2 (lies where point 0 does");
  const data::NpyArray flat{{3, 2}, data::Dtype::float64, std::vector<double>{0, 1, 1, 1, 2, 1}};
  contains(data::format_npy(flat), "axis=1 (all points have the coordinate 1");
}

TEST(MeshFiles, ADamagedArchiveIsNoticed) {
  const std::string good = read_file(reference("plate.npz"));
  EXPECT_NE("", refusal<DataError>([&] { data::parse_mesh(good.substr(0, good.size() / 2), "m.npz"); }));
  // One bit of the compressed points, which begin behind the member's header.
  std::string damaged = good;
  damaged[200] = static_cast<char>(damaged[200] ^ 1);
  EXPECT_NE("", refusal<DataError>([&] { data::parse_mesh(damaged, "m.npz"); }));
}

TEST(MeshFiles, NoMutationCrashesAReader) {
  const std::vector<std::string> originals = {square(), old_square(), read_file(reference("plate.npz")),
                                              read_file(reference("plate_volumes.npz"))};
  const std::uint64_t trials = std::max<std::uint64_t>(mutants(), 20000);
  const Survived all = survive(
      "mesh_files", originals,
      [](const std::string& bytes) {
        const Mesh mesh = data::parse_mesh(bytes, "test");
        if (std::ranges::any_of(mesh.volumes, [](double volume) { return !(volume > 0); }))
          throw std::logic_error("a point without a volume");
      },
      trials);
  EXPECT_GT(all.taken, trials / 50) << "the mutations are too rough to reach the mesh";
  EXPECT_GT(all.refused, trials / 2);
}

constexpr int side = 16;

/// Field k is 100 k + x + 2 y in channel 0 and −1 in channel 1; its target is twice channel 0.
data::Dataset numbered(int samples) {
  data::Dataset data;
  data.pde = data.content_hash = "numbered";
  data.inputs = FieldBatch::zeros(Domain::unit({side, side}), samples, 2);
  data.targets = FieldBatch::zeros(data.inputs.domain(), samples, 1);
  data.resolutions = {4, 8};
  for (int sample = 0; sample < samples; ++sample) {
    const auto points = static_cast<std::size_t>(data.inputs.domain().points());
    for (std::size_t point = 0; point < points; ++point) {
      const std::vector<double> at = data.inputs.domain().position(static_cast<std::int64_t>(point));
      data.inputs.field(sample)[point] = 100 * sample + at[0] + 2 * at[1];
      data.inputs.field(sample)[points + point] = -1;
      data.targets.field(sample)[point] = 2 * data.inputs.field(sample)[point];
    }
    data.split.push_back(data::Split::train);
    data.resolution_slot.push_back(static_cast<std::uint8_t>(sample % 2));
  }
  return data;
}

TEST(ScatteredData, HaveTheValuesOfTheGridAtPointsOfTheGrid) {
  constexpr int points = 60;
  const data::Dataset set = data::scattered(numbered(3), points);
  ASSERT_FALSE(set.inputs.domain().is_grid());
  ASSERT_EQ(points, set.inputs.domain().points());
  EXPECT_EQ(set.inputs.domain(), set.targets.domain());
  EXPECT_EQ((std::vector<Resolution>{points}), set.resolutions);
  std::set<std::vector<double>> places;
  for (std::size_t point = 0; point < points; ++point) {
    const std::vector<double> at = set.inputs.domain().position(static_cast<std::int64_t>(point));
    EXPECT_TRUE(places.insert(at).second) << "point " << point << " twice";
    for (int sample = 0; sample < 3; ++sample) {
      EXPECT_EQ(100 * sample + at[0] + 2 * at[1], set.inputs.field(sample)[point]);
      EXPECT_EQ(-1, set.inputs.field(sample)[points + point]) << "channel 1";
      EXPECT_EQ(2 * set.inputs.field(sample)[point], set.targets.field(sample)[point]);
    }
  }
  EXPECT_EQ(0, *std::ranges::max_element(set.resolution_slot));
}

TEST(ScatteredData, AreTheSamePointsForEverySetOnAGridAndTellTheirNumber) {
  const data::Dataset one = data::scattered(numbered(1), 60), other = data::scattered(numbered(5), 60);
  EXPECT_EQ(one.inputs.domain(), other.inputs.domain());
  EXPECT_NE(numbered(1).content_hash, one.content_hash);
  EXPECT_NE(data::scattered(numbered(1), 61).content_hash, one.content_hash);
}

TEST(ScatteredData, AreRefusedWhereThePointsAreTooManyOrTooFew) {
  EXPECT_NO_THROW(data::scattered(numbered(1), side * side));
  EXPECT_THROW(data::scattered(numbered(1), side * side + 1), InvalidArgument);
  EXPECT_THROW(data::scattered(numbered(1), 3), InvalidArgument);
}

TEST(Resolutions, OfAGridAreStridesAndAMeshHasItsOwnAlone) {
  const FieldBatch fields = numbered(1).inputs.batch(), mesh = data::scattered(numbered(1), 60).inputs.batch();
  EXPECT_EQ((std::vector<int>{4, 4}), shape_of(at_resolution(fields.domain, 4)));
  EXPECT_EQ(strided(fields, {4, 4}).values, at_resolution(fields, 4).values);
  EXPECT_EQ((std::vector<int>{60}), shape_of(mesh.domain));
  EXPECT_EQ(mesh.values, at_resolution(mesh, 60).values);
  EXPECT_THROW(at_resolution(mesh.domain, 30), InvalidArgument);
  EXPECT_THROW(at_resolution(mesh, 30), InvalidArgument);
  const ScenarioRule rule{.players = ScenarioRule::Players::blocks, .blocks = 4};
  EXPECT_EQ(4, scenario_at(rule, mesh, 60).partition.players);
  EXPECT_EQ(16, scenario_at(rule, fields, 4).input.domain.points());
  EXPECT_THROW(scenario_at(rule, mesh, 4), InvalidArgument);
}

TEST(Resolutions, OwnIsEveryDomainAsItIs) {
  const Resolution own = Resolution::own();
  for (const FieldBatch& fields : {numbered(1).inputs.batch(), data::scattered(numbered(1), 60).inputs.batch()}) {
    EXPECT_TRUE(has_resolution(fields.domain, own));
    EXPECT_EQ(fields.domain, at_resolution(fields.domain, own));
    EXPECT_EQ(fields.values, at_resolution(fields, own).values);
    EXPECT_EQ(fields.domain, scenario_at({}, fields, own).input.domain);
    EXPECT_EQ((std::vector<int>{0}), shape_at(fields.domain, own));
    EXPECT_EQ(shape_of(fields.domain), shape_at(fields.domain, Resolution(shape_of(fields.domain))));
  }
  EXPECT_EQ("own", message(own));
  EXPECT_EQ(own, Resolution::parse("test", "own"));
  EXPECT_EQ(own, nlohmann::json::parse(nlohmann::json(own).dump()).get<Resolution>());
  EXPECT_FALSE(Resolution(16).is_own());
}

/// Field k is k everywhere.
FieldBatch constants(std::int64_t count) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit({32}), count, 1);
  for (std::int64_t index = 0; index < count; ++index)
    std::ranges::fill(fields.field(index), static_cast<double>(index));
  return fields;
}

TEST(InputsAlone, HaveTheUsualResolutionsOfTheirGrid) {
  using data::usual_resolutions;
  EXPECT_EQ((std::vector<Resolution>{16, 32, 64, 128, 256, 512, 1024}), usual_resolutions(Domain::unit({1024})));
  EXPECT_EQ((std::vector<Resolution>{24, 48, 96}), usual_resolutions(Domain::unit({96})));
  EXPECT_EQ((std::vector<Resolution>{101}), usual_resolutions(Domain::unit({101})));
  EXPECT_EQ((std::vector<Resolution>{4, 8, 16}), usual_resolutions(Domain::unit({16, 16})));
  EXPECT_EQ((std::vector<Resolution>{Resolution({4, 8}), Resolution({8, 16}), Resolution({16, 32})}),
            usual_resolutions(Domain::unit({16, 32})));
  EXPECT_EQ((std::vector<Resolution>{106, 211, 421}), usual_resolutions(Domain::grid({Axis::closed(421)})));
}

TEST(InputsAlone, AreServedAtAllResolutionsAndKeepSomeFromTheTraining) {
  const std::vector<Resolution> resolutions = {8, 16, 32};
  const data::Dataset set = data::of_inputs(constants(30), resolutions, 100);
  const auto train = set.indices(data::Split::train), validation = set.indices(data::Split::validation),
             test = set.indices(data::Split::test);
  EXPECT_EQ(100u, train.size());
  EXPECT_EQ(3u, validation.size());
  EXPECT_EQ(3u, test.size());
  std::map<double, std::set<int>> served;
  for (const std::int64_t sample : train)
    served[set.inputs.field(sample)[0]].insert(set.resolution_slot[static_cast<std::size_t>(sample)]);
  EXPECT_EQ(24u, served.size());
  for (const auto& [field, slots] : served) EXPECT_EQ(3u, slots.size()) << "field " << field << ", four times";
  for (const auto& part : {validation, test})
    for (const std::int64_t sample : part) EXPECT_FALSE(served.contains(set.inputs.field(sample)[0]));
  EXPECT_NE(set.content_hash, data::of_inputs(constants(31), resolutions, 100).content_hash);
  EXPECT_EQ(80u, data::of_inputs(constants(100), resolutions, 10).indices(data::Split::train).size())
      << "each at least once";
  EXPECT_THROW(data::of_inputs(constants(9), resolutions, 100), InvalidArgument);
}

TEST(InputsAlone, FurtherDrawsAreThoseOfALargerSetByTheirShares) {
  const auto& problem = pde::find("heat1d");
  data::Dataset set;
  set.pde = "heat1d";
  set.inputs = FieldBatch::zeros(problem.input().domain, 2, 1);
  set.split = {data::Split::train, data::Split::test};
  set.resolution_slot = {0, 1};
  set.resolutions = {16, 32};
  set.content_hash = "0";
  const data::Unlabelled wanted{.count = 40, .grid = 32, .shares = {3, 1}};
  const data::Dataset more = data::with_unlabelled(set, problem, 7, wanted);
  ASSERT_EQ(42, more.samples());
  EXPECT_EQ(41u, more.indices(data::Split::train).size());
  const FieldBatch drawn = strided(data::generated_input(problem, 7, 2 + 5), {32});
  EXPECT_TRUE(std::ranges::equal(drawn.values, more.inputs.field(2 + 5)));
  EXPECT_EQ(30, std::ranges::count(more.resolution_slot.begin() + 2, more.resolution_slot.end(), 0));
  EXPECT_NE(more.content_hash, data::with_unlabelled(set, problem, 7, {.count = 40, .grid = 32}).content_hash);
  EXPECT_THROW(data::with_unlabelled(set, problem, 7, {.count = 40, .grid = 32, .shares = {1}}), InvalidArgument);
  EXPECT_THROW(data::with_unlabelled(set, pde::find("burgers1d"), 7, wanted), InvalidArgument);
}

}  // namespace
}  // namespace opshap
