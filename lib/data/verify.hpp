#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace opshap::data {

/// The same samples on a mesh: at `points` points of their grid that are drawn at random, as a point cloud.
///
/// Values are those of the grid, so nothing is interpolated. The points depend on the grid and on their number alone:
/// they are the same for all samples, seeds and runs. Volumes are those of point_cloud(). The set has one resolution,
/// the number of points. Throws InvalidArgument for more points than the grid has, for fewer than 4, and for inputs and
/// targets on different grids.
Dataset scattered(Dataset data, int points);

struct DataCheck {
  std::string name;
  bool passed = false;
  std::string detail;  ///< what was found, as a sentence without its full stop
};

/// Re-reads a whole data set file and checks all that can be checked: seal, checksums, NaN and infinity, split, spaces
/// and mean, the solver's invariants, the laws that tie each target to its input, and that five of its samples come out
/// the same when they are made again. A set that was imported has no solver: its last check says so, in place of these
/// three. A set of trajectories has trajectory_checks().
///
/// When the seal is broken, the other checks are left out. Throws DataError for a file that is missing or not a data
/// set.
std::vector<DataCheck> verify_dataset(const std::filesystem::path& path);

}  // namespace opshap::data
