#pragma once

#include <cstdint>
#include <vector>

namespace opshap {

/// Where the points of a regular grid sit in their cells.
enum class Centring {
  node,  ///< x_j = j·extent/n on a periodic axis
  cell,  ///< x_j = (j + ½)·extent/n
};

/// A regular grid on a box, in one or two dimensions; axis 0 is x, and points are numbered row-major (axis 1 fastest).
struct Domain {
  std::vector<int> shape;       ///< points per axis
  std::vector<double> extents;  ///< side lengths of the box, one per axis
  Centring centring = Centring::node;
  bool periodic = true;

  /// The unit interval or square with the given points per axis, periodic, node centred. Throws InvalidArgument unless 1 or 2 positive sizes.
  static Domain unit(std::vector<int> shape);

  int dimension() const { return static_cast<int>(shape.size()); }
  std::int64_t points() const;
  double volume() const;
  /// Every cell of a regular grid has the same one.
  double cell_volume() const { return volume() / static_cast<double>(points()); }
  double coordinate(int axis, int index) const;
  /// The point with index n/2 on every axis: strides of the native grid keep its position.
  std::int64_t centre() const;
  /// The row-major number of the point with these indices. Throws InvalidArgument when an index is outside the grid.
  std::int64_t point(const std::vector<int>& indices) const;

  bool operator==(const Domain&) const = default;
};

}  // namespace opshap
