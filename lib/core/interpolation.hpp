#pragma once

#include <vector>

#include "core/field.hpp"

namespace opshap {

/// The fields on another grid of the same domain. Where the new points are points of the old grid, the values are those
/// up to rounding. No filter: waves that the new grid cannot hold are seen as others.
///
/// On a periodic axis by the trigonometric polynomial through the values: a field without waves beyond half of the old
/// points is met exactly everywhere. On another axis by the cubic through the four nearest points, which is exact for
/// cubics, and of fourth order for smooth fields. New points beyond the outermost old ones, as in the middle of smaller
/// cells, lie on the cubic of the four points at that end.
///
/// Any number of points per axis may be asked for, divisor or not. Cost: old times new points for each line of the
/// grid. Throws InvalidArgument for a mesh and for another number of axes.
FieldBatch interpolated(const FieldBatch& fields, const std::vector<int>& shape);

}  // namespace opshap
