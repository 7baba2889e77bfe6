#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "core/rng.hpp"
#include "data/dataset.hpp"
#include "data/hdf5.hpp"
#include "pde/trajectories.hpp"

namespace opshap::data {

/// The frames of a trajectory that make a sample.
struct FrameWindow {
  std::int64_t input, target;
};

/// The windows of some trajectories on their meshes, as a data set file of schema 2 holds them.
///
///   /mesh/points [ΣN,2] float64, /mesh/point_splits [M+1] int64, /mesh/node_type [ΣN] uint8,
///   /mesh/cells [ΣC,3] int32 with numbers within their mesh, /mesh/cell_splits [M+1] int64
///   /sample/mesh, /sample/trajectory [S] int32, /sample/t0 [S] float64, /sample/split [S] uint8,
///   /sample/crc32c [S] uint32, /sample/value_splits [S+1] int64
///   /u0 [Σ N of each sample, Cin] float32, /target [.., Cout] float32
///   /params/NAME, /qc/NAME [trajectories] float64
///
/// A split says where the rows of mesh or sample number i begin and, at i + 1, end. Meshes that are equal are stored
/// once. A sample's checksum covers its mesh, its node types and its values.
struct TrajectoryTable {
  static constexpr int schema_version = 2;

  std::vector<Domain> meshes;
  std::vector<std::vector<pde::NodeType>> node_types;  ///< of each mesh
  std::vector<std::int32_t> mesh, trajectory;          ///< of each sample
  std::vector<double> t0;                              ///< of each sample
  std::vector<Split> split;                            ///< of each sample
  std::vector<std::int64_t> value_splits = {0};        ///< in nodes
  std::vector<float> u0, target;                       ///< [nodes of all samples, channels]
  int in_channels = 1, out_channels = 1;
  std::vector<Column> numbers;  ///< /params/* and /qc/*, one row a trajectory

  std::int64_t samples() const { return static_cast<std::int64_t>(mesh.size()); }
  std::int64_t trajectories() const { return trajectory.empty() ? 0 : trajectory.back() + 1; }

  /// Adds a trajectory with its windows.
  void add(const pde::Trajectories& of, const pde::Trajectory& flow, std::span<const FrameWindow> windows, Split part);
  /// Adds the trajectories of another table behind its own.
  void append(const TrajectoryTable& more);
  /// The number of a mesh among the meshes, where it is added unless it is there.
  std::int32_t place_of(const Domain& domain, const std::vector<pde::NodeType>& types);

  /// Of each sample.
  std::vector<std::uint32_t> checksums() const;
  /// xxh64 over meshes, node types and values, in their order.
  std::string content_hash() const;
  /// The mean of each input channel over the area of a mesh, and over the training samples; empty without these.
  std::vector<double> input_mean() const;

  std::vector<Column> columns() const;
  /// Throws DataError for columns that are missing, or do not fit each other, and for a mesh that cannot be one.
  static TrajectoryTable of(const Hdf5Contents& file);
};

/// The frames at which the windows of a trajectory begin, ascending: one at random from each of `windows` equal parts
/// of the possible ones. Of a test trajectory the window in the middle, which is explained, begins as near to the
/// middle of the possible ones as its part allows. Throws InvalidArgument, starting with `who`, for more windows than
/// there are possible starts.
std::vector<std::int64_t> window_starts(std::string_view who, std::int64_t frames, std::int64_t lead,
                                        std::int64_t windows, Split part, Rng stream);

/// Trajectory number `item` of a resolved request, run anew, with its windows. Throws as generate().
TrajectoryTable made_trajectory(const pde::Trajectories& of, const nlohmann::ordered_json& request, std::int64_t item);

/// "all", or the box that a data set keeps of each mesh.
std::string in_words(const std::optional<pde::Box>& frame);

/// Which part the item belongs to, in the counts of a resolved request.
Split part_of(const nlohmann::ordered_json& request, std::int64_t item);

/// The bytes of a finished file. `facts` are its metadata from "origin" on; those of the table are added.
std::string trajectory_bytes(const TrajectoryTable& table, const nlohmann::ordered_json& facts);

/// The data set of a file of schema 2. Throws DataError as read_dataset().
Dataset read_trajectories(const Hdf5Contents& file, const nlohmann::ordered_json& metadata);

}  // namespace opshap::data
