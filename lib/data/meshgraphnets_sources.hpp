#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/meshgraphnets_meta.hpp"
#include "data/trajectory_arrays.hpp"

namespace opshap::data {

/// One part of a data set, its trajectories one after the other.
class TrajectorySource {
 public:
  virtual ~TrajectorySource() = default;
  /// The arrays of the next trajectory, which live until the next call; nothing at the end.
  virtual const TrajectoryArrays* next() = 0;
};

/// The records of a .tfrecord file, in its order. `meta` must outlive the source. Throws as TfRecordReader; so does
/// next(), which throws DataError also for a record that does not hold what `meta` says.
std::unique_ptr<TrajectorySource> open_records(const std::filesystem::path& file, const MeshgraphnetsMeta& meta);
/// By the lengths of records alone.
std::int64_t count_records(const std::filesystem::path& file);

/// The archives of a folder, one a trajectory, in the order of the last number in their names: ex2.npz before ex10.npz.
/// Names without a number are passed over. Throws DataError for two of one number.
std::vector<std::filesystem::path> trajectory_archives(const std::filesystem::path& folder);
/// Each archive is read whole. next() throws DataError for one that is damaged or holds Python objects.
std::unique_ptr<TrajectorySource> open_archives(std::vector<std::filesystem::path> archives);

/// The groups of an HDF5 file, one a trajectory, in the order of the last number in their names: "2" before "10".
/// Throws as Hdf5Source; DataError for two of one number.
std::vector<std::string> trajectory_groups(const std::filesystem::path& file);
/// Reads block by block. The HDF5 library crashes on some damaged files: see in_own_process().
std::unique_ptr<TrajectorySource> open_groups(const std::filesystem::path& file);

}  // namespace opshap::data
