// Meshes of files: Gmsh's, NumPy's point clouds and triangulations. What they say is read, and what cannot be a mesh is
// refused by name.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/mesh_file.hpp"
#include "data/npy.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

std::filesystem::path reference(const std::string& name) {
  return std::filesystem::path(OPSHAP_SOURCE_DIR) / "reference_data/meshes" / name;
}

double whole(const Mesh& mesh) { return std::accumulate(mesh.volumes.begin(), mesh.volumes.end(), 0.0); }

/// What an error of this kind says, "" for no error.
template <typename E>
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

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
  EXPECT_NE(std::string::npos, file_says("plate_quadrangles.msh").find("4-node quadrangle"));
  EXPECT_NE(std::string::npos, file_says("plate_second_order.msh").find("second-order"));
  EXPECT_NE(std::string::npos, file_says("plate_binary.msh").find("binary"));
  EXPECT_NE(std::string::npos, file_says("plate_with_centre.msh").find("node=77 (is a corner of no triangle"));
  EXPECT_NE(std::string::npos, says(replaced(square(), "4.1 0 8", "4.0 0 8")).find("version=4.0"));
  EXPECT_NE(std::string::npos, says(replaced(square(), "1 1 0\n", "1 1 0.5\n")).find("node=30 (lies at z = 0.5"));
  EXPECT_NE(std::string::npos, says(replaced(old_square(), "2 2 2 0 1 1 20 30", "2 4 2 0 1 1 20 30 40"))
                                   .find("element type=4 (4-node tetrahedron"));
  EXPECT_NE(std::string::npos,
            says(replaced(square(), "2 3 1 3\n1 1 1 1\n1 1 20\n2 1 2 2\n2 1 20 30\n3 1 30 40\n", "0 0 0 0\n"))
                .find("neither triangles nor lines"));

  const data::NpyArray space{{2, 3}, data::Dtype::float64, std::vector<double>(6, 0.0)};
  EXPECT_NE(std::string::npos, says(data::format_npy(space)).find("shape=[2,3]"));
  const data::NpyArray whole_numbers{{2, 2}, data::Dtype::int64, std::vector<std::int64_t>{0, 0, 1, 1}};
  EXPECT_NE(std::string::npos, says(data::format_npy(whole_numbers)).find("int64"));
}

TEST(MeshFiles, MeshesThatCannotBeAreBrokenFiles) {
  const auto says = [](const std::string& bytes) {
    return refusal<DataError>([&] { data::parse_mesh(bytes, "m.msh"); });
  };
  const auto contains = [&](const std::string& bytes, const std::string& words) {
    const std::string said = says(bytes);
    EXPECT_NE(std::string::npos, said.find(words)) << "wanted: " << words << "\ngot: " << said;
    EXPECT_NE(std::string::npos, said.find("m.msh")) << said;
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
  const std::size_t half = good.size() / 2;
  EXPECT_NE("", refusal<DataError>([&] { data::parse_mesh(good.substr(0, half), "m.npz"); }));
  // One bit of the compressed points, which begin behind the member's header.
  std::string damaged = good;
  damaged[200] = static_cast<char>(damaged[200] ^ 1);
  EXPECT_NE("", refusal<DataError>([&] { data::parse_mesh(damaged, "m.npz"); }));
}

TEST(MeshFiles, NoMutationCrashesAReader) {
  const std::vector<std::string> originals = {square(), old_square(), read_file(reference("plate.npz")),
                                              read_file(reference("plate_volumes.npz"))};
  const std::string alphabet = "0123456789 -.e\n$";
  Rng rng(20261123, "mesh_files");
  constexpr int trials = 20000;
  int refused = 0, read = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::string bytes = originals[rng.below(originals.size())];
    for (std::uint64_t changes = 1 + rng.below(3); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = rng.below(bytes.size());
      switch (rng.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
          break;
        case 1:
          bytes[at] = alphabet[rng.below(alphabet.size())];
          break;
        case 2:
          bytes.erase(at, 1 + rng.below(4));
          break;
        default:
          bytes.insert(at, 1 + rng.below(4), alphabet[rng.below(alphabet.size())]);
      }
    }
    try {
      const Mesh mesh = data::parse_mesh(bytes, "test");
      ASSERT_TRUE(std::ranges::all_of(mesh.volumes, [](double volume) { return volume > 0; }));
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_EQ(trials, refused + read);
  EXPECT_GT(read, trials / 50) << "the mutations are too rough to reach the mesh";
  EXPECT_GT(refused, trials / 2);
}

}  // namespace
}  // namespace opshap
