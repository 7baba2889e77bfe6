#pragma once

#include <cstdint>
#include <memory>
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

/// Where the points of an axis sit.
enum class Centring {
  node,  ///< on the borders between cells; the first point is where the axis begins
  cell,  ///< in the middle of cells of equal width
};

/// One axis of a regular grid: equally spaced points on an interval.
struct Axis {
  int points = 0;
  double origin = 0;     ///< where the interval begins
  double extent = 1;     ///< length of the interval; a periodic axis repeats after it
  double intervals = 0;  ///< extent / spacing; not a whole number where strides left points out
  double offset = 0;     ///< of the first point from the origin, in units of the spacing
  Centring centring = Centring::node;
  bool periodic = true;
  /// Of nodes with both ends: strides keep both, so that they divide points − 1. Otherwise strides divide points.
  bool keeps_ends = false;

  /// x_j = origin + j·extent/points: a period without its end. Throws InvalidArgument unless points >= 1 and extent >
  /// 0; so do the others.
  static Axis ring(int points, double extent = 1, double origin = 0);
  /// x_j = origin + (j + ½)·extent/points: the middles of equal cells.
  static Axis cells(int points, double extent = 1, double origin = 0, bool periodic = false);
  /// x_j = origin + j·extent/(points − 1): both ends are points. At least two points. Its strides divide `points` and
  /// lose the last node.
  static Axis nodes(int points, double extent = 1, double origin = 0);
  /// The same points. Strides divide points − 1 and keep both ends.
  static Axis closed(int points, double extent = 1, double origin = 0);

  double spacing() const { return extent / intervals; }
  double coordinate(int index) const { return origin + (index + offset) * extent / intervals; }
  /// Of all points.
  std::vector<double> coordinates() const;
  /// Length of the part of the axis that belongs to a point. Equal for cells and on periodic axes. Otherwise it ends
  /// half-way to the next point, or at an end of the axis.
  double length(int index) const;
  /// Every `stride`-th point from point 0 on. The points keep their coordinates. Throws InvalidArgument unless the
  /// stride divides the number of points, or of intervals where it keeps both ends.
  Axis strided(int stride) const;
  /// What strides divide: the points, or the intervals where strides keep both ends.
  int divided() const { return keeps_ends ? points - 1 : points; }
  /// The stride that leaves `wanted` points; 0 where none does.
  int stride_to(int wanted) const;
  /// The same kind of points, `points` of them, on the same interval: from the native grid of a problem to another size
  /// of it.
  Axis resampled(int points) const;
  /// The point nearest to x, on a periodic axis around its end; the first of two that are equally near.
  int nearest(double x) const;
  /// "64 points on [0, 1), periodic".
  std::string describe() const;

  bool operator==(const Axis&) const = default;
};

/// Where a field lives: a regular grid in one or two dimensions, or a mesh.
///
/// Points are numbered from 0. On a grid axis 0 is x, and the number is row-major (axis 1 fastest). Each point owns a
/// part of the domain, its volume; whatever integrates uses volume(point). A value: cheap to copy, compared by content.
class Domain {
 public:
  /// No points.
  Domain() = default;
  /// Throws InvalidArgument unless there are one or two axes.
  static Domain grid(std::vector<Axis> axes);
  /// The unit interval or square with the given points per axis, periodic, node centred. Throws InvalidArgument unless
  /// 1 or 2 positive sizes.
  static Domain unit(const std::vector<int>& shape);
  static Domain mesh(Mesh mesh);

  bool is_grid() const { return mesh_ == nullptr; }
  /// The axes of a grid. Throws InvalidArgument for a mesh; so do shape(), coordinate() and strided().
  const std::vector<Axis>& axes() const;
  /// Points per axis of a grid.
  const std::vector<int>& shape() const;
  /// Throws InvalidArgument for a grid.
  const Mesh& as_mesh() const;

  int dimension() const;
  std::int64_t points() const { return points_; }
  /// What of the domain belongs to the point.
  double volume(std::int64_t point) const;
  /// Of the whole domain: the sum over its points.
  double volume() const { return volume_; }
  /// One coordinate per dimension.
  std::vector<double> position(std::int64_t point) const;
  double coordinate(int axis, int index) const { return axes().at(static_cast<std::size_t>(axis)).coordinate(index); }
  /// Whether every axis of a grid is periodic; false for a mesh.
  bool periodic() const;

  /// The point with index n/2 on every axis of a grid: strides of the native grid keep its position. Of a mesh the
  /// point nearest to the middle of its bounding box.
  std::int64_t centre() const;
  /// The number of the grid point with these indices, or of the mesh point with this one. Throws InvalidArgument when
  /// an index is outside.
  std::int64_t point(const std::vector<int>& indices) const;
  /// The point nearest to a position, one coordinate per dimension. Throws InvalidArgument for another number of
  /// coordinates, one that is not finite, and a position outside the grid's box or the mesh's bounding box.
  std::int64_t nearest(const std::vector<double>& position) const;
  /// The grid with these points per axis: every s-th point of each axis from point 0 on. Throws InvalidArgument unless
  /// a stride gets there on each axis (Axis::stride_to).
  Domain strided(const std::vector<int>& shape) const;

  /// "grid 16 x 16: x: 16 points on [0, 1), periodic; y: ...", or that of the mesh.
  std::string describe() const;

  bool operator==(const Domain& other) const;

 private:
  std::vector<Axis> axes_;
  std::vector<int> shape_;
  std::shared_ptr<const Mesh> mesh_;  ///< null for a grid
  std::int64_t points_ = 0;
  double volume_ = 0;
};

/// The mesh of a point cloud that says nothing of volumes: the cloud fills its bounding box, and each point owns what
/// is nearer to it than to any other point, its Voronoi cell in the box.
///
/// On the nodes of a regular grid these are the weights of the trapezoidal rule. The rule does not know of holes:
/// points around one share it out. Where the domain has holes, give volumes or cells. `points` [N, dimension],
/// row-major.
/// Cost: about 20 neighbours a point, found in O(log N) each, wherever the points lie in their box.
/// Throws InvalidArgument as Mesh::of_points(), and for points without extent along an axis.
Mesh point_cloud(int dimension, std::vector<double> points);

/// How many blocks each axis is cut into: all of them in one dimension, their square root in two. Throws
/// InvalidArgument for less than one, and in two dimensions for a number that is no square.
int blocks_per_axis(int dimension, int blocks);

/// The blocks of a mesh that hold points; each of them is a player.
///
/// The bounding box is cut into m equal parts along each axis. With x and y on [0, 1] in that box, a point is in block
/// m·⌊m·y⌋ + ⌊m·x⌋ of m², in one dimension in block ⌊m·x⌋ of m; the far border belongs to the last one. A block without
/// a point could change no value and does not play, so there may be fewer players than blocks.
struct MeshBlocks {
  int count = 0;                        ///< of all blocks
  std::vector<int> of_player;           ///< [players]: the block of each, ascending
  std::vector<std::int64_t> player_of;  ///< [points]
};

/// Throws as blocks_per_axis().
MeshBlocks mesh_blocks(const Mesh& mesh, int blocks);

}  // namespace opshap
