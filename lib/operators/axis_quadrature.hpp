#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "core/domain.hpp"

namespace opshap::operators {

/// The quadrature rule of the Fourier sums along one axis of a padded grid. All lengths are in units of the spacing.
struct AxisQuadrature {
  std::vector<double> weights;  ///< of the points; they add up to the period
  double period = 0;            ///< after which the padded axis repeats

  auto operator<=>(const AxisQuadrature&) const = default;
};

/// Where the points of an axis lie in its padded grid, and how long the padding is that they stand for.
struct AxisPadding {
  std::int64_t before = 0, behind = 0;  ///< points of padding on either side
  double length = 0;                    ///< of both sides together, as a fraction of the axis
};

/// The rule that gives every point the part of the padded axis that belongs to it.
///
/// A part ends half-way to the next point, and at the ends of the axis, where a padded field jumps: no part lies on
/// both sides of a jump. So the sum is the rule of the trapezium or of the midpoint on each side, of second order in
/// the spacing, wherever the first and the last point are. The weights of nodes are Axis::length() in units of the
/// spacing. So are those of cells, unless a stride has moved the points out of the middle of their cells: the lengths
/// stay equal then, and a sum with them would be of first order. The ends of a padded periodic axis are where it begins
/// and one extent further on. The period belongs to the axis and not to the points, and is the same on every grid of
/// it. The points from either side may therefore meet in the padding at less than a spacing, or pass each other; the
/// weights allow for that. Where the padding has no point it has no length either. A periodic axis without padding has
/// no end, and all of its weights are 1.
/// Shape: before + axis.points + behind weights, in the order of the padded grid.
AxisQuadrature volume_quadrature(const Axis& axis, const AxisPadding& padding);

}  // namespace opshap::operators
