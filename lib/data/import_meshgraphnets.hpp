#pragma once

#include <cstdint>
#include <filesystem>

namespace opshap::data {

/// Which windows of the flows of a folder become samples.
struct MeshgraphnetsRequest {
  std::filesystem::path folder;        ///< MeshgraphnetsFolder
  std::int64_t lead = 0;               ///< from the input of a sample to its target, in frames
  std::int64_t windows = 0;            ///< samples of each trajectory
  std::int64_t trajectories = 0;       ///< the most of each part; 0: all
  std::uint64_t seed = 42;             ///< of the times at which windows begin
  std::filesystem::path windows_like;  ///< a data set of trajectories whose windows are taken; empty: none
};

/// Makes a data set file of trajectories at `path`, as generate() does for ours, but for the solver: its parts train,
/// validation and test are those of the folder.
///
/// The flows are those of cylinder_flow, or of airfoil where they have a density, whose channels and default game they
/// get. A test trajectory whose explained point is a node of a wall has nothing to explain there: the file says how
/// many there are, and Dataset::explained() passes them by. Streams trajectory by trajectory; memory is that of the
/// finished set.
///
/// With `windows_like`, lead and windows are that set's, and so are the times at which windows begin. When the file is
/// already there for the same import, nothing is done.
/// Throws InvalidArgument for a lead or windows that the trajectories do not have, and for windows of a set that has
/// others; DataError as MeshgraphnetsFolder and for a folder without one of the parts; InvalidArgument when `path` is
/// another file; EnvironmentError on a full disk; Stopped after a signal. After an error there is no file.
void import_meshgraphnets(const MeshgraphnetsRequest& request, const std::filesystem::path& path);

}  // namespace opshap::data
