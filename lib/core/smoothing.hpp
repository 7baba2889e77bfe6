#pragma once

#include "core/domain.hpp"
#include "core/field.hpp"

namespace opshap {

/// Throws InvalidArgument, starting with `who`, where smoothed() has no such width: one that is not in (0, 1], one that
/// is less than half the distance of the points of an axis (a Gaussian sampled that coarsely has another width), an
/// axis of more than 32768 points, and a mesh.
///
/// A mesh does not say where its domain ends and which points a hole keeps apart, so an average over near points would
/// mix what the domain does not.
void require_smoothing(const char* who, const Domain& domain, double width);

/// The fields after a Gaussian filter along each axis, whose standard deviation is `width` times the length of that
/// axis.
///
/// A periodic axis is wrapped around. Another one is reflected at the ends of its interval, which are walls for cells
/// and the outermost points for nodes. The weights are those of the axis's points times the Gaussian, and add up to 1.
/// So constants stay as they are. The mean over the domain stays on periodic axes, between walls, and on nodes with
/// both ends; not where strides took the points of an axis away from its middle or lost its last node. Each channel is
/// smoothed alone.
///
/// Cost: the square of the points of an axis for each line along it. Throws as require_smoothing().
FieldBatch smoothed(const FieldBatch& fields, double width);

}  // namespace opshap
