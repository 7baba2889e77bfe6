#pragma once

#include <filesystem>
#include <string>

#include "core/domain.hpp"

namespace opshap::data {

/// The mesh of a file, whose kind is found by its contents:
///
///   .npy   a point cloud, [N, 1] or [N, 2]; volumes by point_cloud()
///   .npz   `points` [N, d], with `cells` [C, d + 1] or `volumes` [N] or both; volumes that are not given are those of
///          Mesh::of_cells(), and without cells those of point_cloud(). `mesh_pos` is another name of `points`: a flow
///          that `pde solve` has written is a mesh too
///   .msh   Gmsh, the ASCII formats MSH 4.1 and 2.2
///
/// `name` is the file's, for messages. Throws DataError for bytes that are none of these, and for a mesh that cannot be
/// one: two points at one place, a volume of zero, a number that is not finite. Throws InvalidArgument for what is
/// valid and not read.
Mesh parse_mesh(std::string bytes, const std::string& name);

/// "-" is standard input. Throws as read_file() and parse_mesh().
Mesh read_mesh(const std::filesystem::path& path);

}  // namespace opshap::data
