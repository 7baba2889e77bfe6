#include "data/mesh_file.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/domain.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/gmsh.hpp"
#include "data/npy.hpp"
#include "data/npz.hpp"

namespace opshap::data {

namespace {

/// What a file says of a mesh.
struct Parts {
  int dimension = 2;
  std::vector<double> points;
  std::optional<std::vector<std::int64_t>> cells = {};
  std::optional<std::vector<double>> volumes = {};
};

Parts points_of(const NpyArray& array, const std::string& who) {
  const std::vector<double>& points = array.reals(who);
  require(array.shape.size() == 2 && array.shape[0] >= 1 && (array.shape[1] == 1 || array.shape[1] == 2), who,
          ": shape=", shape_text(array.shape),
          " (points lie on a line or in a plane). Give an array of shape [N,1] or [N,2].");
  return {.dimension = static_cast<int>(array.shape[1]), .points = points};
}

Parts parts_of(const NpzFile& file, const std::string& name) {
  std::string there;
  for (const std::string& array : file.names()) there += (there.empty() ? "" : ", ") + array;
  require<DataError>(file.contains("points"), name, ": array=points (missing; the file has ",
                     there.empty() ? "no arrays" : there,
                     "). Save points [N,2], and cells or volumes if you have them.");
  Parts parts = points_of(file.array("points"), name + ", points");
  if (file.contains("cells")) {
    const NpyArray array = file.array("cells");
    require(array.shape.size() == 2 && array.shape[1] == parts.dimension + 1, name,
            ", cells: shape=", shape_text(array.shape), " (cells are ", parts.dimension == 1 ? "edges" : "triangles",
            "). Give an array of shape [C,", parts.dimension + 1, "].");
    parts.cells = array.integers(name + ", cells");
  }
  if (file.contains("volumes")) {
    const NpyArray array = file.array("volumes");
    require(array.shape.size() == 1, name, ", volumes: shape=", shape_text(array.shape),
            " (each point has one volume). Give an array of shape [N].");
    parts.volumes = array.reals(name + ", volumes");
  }
  return parts;
}

Parts parts_of(std::string bytes, const std::string& name) {
  if (is_gmsh(bytes)) {
    GmshMesh mesh = parse_gmsh(bytes, name);
    return {.dimension = mesh.dimension, .points = std::move(mesh.points), .cells = std::move(mesh.cells)};
  }
  if (bytes.starts_with("PK")) return parts_of(NpzFile(std::move(bytes), name), name);
  require<DataError>(bytes.starts_with("\x93NUMPY"), "mesh: file=", name,
                     " (is neither a .npy nor a .npz file nor a Gmsh mesh). Give one of these.");
  return points_of(parse_npy(std::as_bytes(std::span(bytes)), name), name);
}

}  // namespace

Mesh parse_mesh(std::string bytes, const std::string& name) {
  Parts parts = parts_of(std::move(bytes), name);
  try {
    if (parts.volumes)
      return Mesh::of_points(parts.dimension, std::move(parts.points), *std::move(parts.volumes),
                             std::move(parts.cells).value_or(std::vector<std::int64_t>{}));
    if (parts.cells) return Mesh::of_cells(parts.dimension, std::move(parts.points), *std::move(parts.cells));
    return point_cloud(parts.dimension, std::move(parts.points));
  } catch (const InvalidArgument& error) {
    throw DataError(message(name, ": ", error.what()));
  }
}

Mesh read_mesh(const std::filesystem::path& path) {
  return parse_mesh(read_file(path), path == "-" ? "standard input" : path.string());
}

}  // namespace opshap::data
