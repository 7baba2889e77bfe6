#pragma once

#include <string>

namespace opshap {

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

}  // namespace opshap
