#pragma once

#include <vector>

#include "core/field.hpp"

namespace opshap {

/// The fields on another grid of the same domain, by the trigonometric polynomial through their values. Where the new
/// points are points of the old grid, the values are those up to rounding; a field without waves beyond half of the old
/// points is met exactly everywhere. No filter: waves that the new grid cannot hold are seen as others.
///
/// Any number of points per axis may be asked for, divisor or not. Cost: old times new points for each line of the
/// grid. Throws InvalidArgument for a mesh, for an axis that is not periodic, and for another number of axes.
FieldBatch interpolated(const FieldBatch& fields, const std::vector<int>& shape);

}  // namespace opshap
