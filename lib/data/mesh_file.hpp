#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain.hpp"

namespace opshap::data {

/// Whether the text is that of a Gmsh mesh, by how it starts.
bool is_gmsh(std::string_view text);

/// Nodes and cells of a mesh, as Mesh::of_cells() takes them.
struct GmshMesh {
  int dimension = 2;
  std::vector<double> points;       ///< [N, dimension]
  std::vector<std::int64_t> cells;  ///< [C, dimension + 1]
};

/// Reads the ASCII formats MSH 4.1 and 2.2 of Gmsh.
///
/// Points are the file's nodes in its order; their tags may be any numbers. Triangles make a mesh in the plane, and
/// lines and points of its boundary are passed over. A file with lines alone makes a mesh on a line. MSH 2.2 repeats an
/// element for each of its physical groups; it counts once.
///
/// `name` is the file's, for messages. Throws DataError for a text that is no such file, and InvalidArgument for what
/// is valid but not read: binary files, other versions, elements that are no lines or triangles of first order (named),
/// a mesh that does not lie in a plane z = c, and a node of no element.
/// Source: the Gmsh reference manual, "MSH file format".
GmshMesh parse_gmsh(std::string_view text, std::string_view name);

/// The mesh of a file, whose kind is found by its contents:
///
///   .npy   a point cloud, [N, 1] or [N, 2]; volumes by point_cloud()
///   .npz   `points` [N, d], with `cells` [C, d + 1] or `volumes` [N] or both; volumes that are not given are those of
///          Mesh::of_cells(), and without cells those of point_cloud()
///   .msh   Gmsh, as parse_gmsh() reads it
///
/// `name` is the file's, for messages. Throws DataError for bytes that are none of these, and for a mesh that cannot be
/// one: two points at one place, a volume of zero, a number that is not finite. Throws InvalidArgument for what is
/// valid and not read.
Mesh parse_mesh(std::string bytes, const std::string& name);

/// "-" is standard input. Throws as read_file() and parse_mesh().
Mesh read_mesh(const std::filesystem::path& path);

}  // namespace opshap::data
