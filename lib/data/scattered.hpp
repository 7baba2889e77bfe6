#pragma once

#include "data/dataset.hpp"

namespace opshap::data {

/// The same samples on a mesh: at `points` points of their grid that are drawn at random, as a point cloud.
///
/// Values are those of the grid, so nothing is interpolated. The points depend on the grid and on their number alone:
/// they are the same for all samples, seeds and runs. Volumes are those of point_cloud(). The set has one resolution,
/// the number of points. Throws InvalidArgument for more points than the grid has, for fewer than 4, and for inputs and
/// targets on different grids.
Dataset scattered(Dataset data, int points);

}  // namespace opshap::data
