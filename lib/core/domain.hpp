#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/axis.hpp"
#include "core/mesh.hpp"

namespace opshap {

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

}  // namespace opshap
