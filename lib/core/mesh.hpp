#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opshap {

/// Scattered points in one or two dimensions that share out a volume: the nodes of a triangulation, of a polygonal
/// line, or a point cloud.
struct Mesh {
  int dimension = 2;
  std::vector<double> points;       ///< [N, dimension], row-major
  std::vector<std::int64_t> cells;  ///< [C, dimension + 1]: edges in one dimension, triangles in two; may be empty
  std::vector<double> volumes;      ///< [N]: what of the domain belongs to each point

  /// A mesh whose volumes are given. Throws InvalidArgument for sizes that do not fit, coordinates that are not finite,
  /// two points at one place, a cell with a point that is not there, or a volume that is not positive.
  static Mesh of_points(int dimension, std::vector<double> points, std::vector<double> volumes,
                        std::vector<std::int64_t> cells = {});
  /// The nodes of a triangulation or polygonal line: each cell gives equal shares of its volume to its corners, which
  /// integrates linear functions exactly. Throws as of_points(), also for a cell without volume and for a point of no
  /// cell.
  static Mesh of_cells(int dimension, std::vector<double> points, std::vector<std::int64_t> cells);

  std::int64_t size() const { return static_cast<std::int64_t>(volumes.size()); }
  double coordinate(std::int64_t point, int axis) const {
    return points[static_cast<std::size_t>(point * dimension + axis)];
  }
  /// "mesh of 1885 points and 3518 triangles".
  std::string describe() const;

  bool operator==(const Mesh&) const = default;
};

}  // namespace opshap
