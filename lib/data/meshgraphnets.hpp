#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.hpp"
#include "data/meshgraphnets_meta.hpp"
#include "data/meshgraphnets_sources.hpp"
#include "data/trajectory_arrays.hpp"
#include "pde/trajectories.hpp"

namespace opshap::data {

/// The name of a part in the release: "train", "valid", "test".
std::string meshgraphnets_name(Split part);

/// What a folder of flows is made of.
enum class FlowFormat { tfrecord, npz, hdf5 };
/// "TFRecord", "npz", "HDF5".
std::string_view to_string(FlowFormat format);

/// The trajectories of one part, one after the other.
class TrajectoryStream {
 public:
  TrajectoryStream(std::unique_ptr<TrajectorySource> source, TrajectoryAssembler assembler, KeptFrames keep)
      : source_(std::move(source)), assembler_(std::move(assembler)), keep_(std::move(keep)) {}

  /// The next trajectory with its kept frames; nothing at the end. Throws DataError as TrajectorySource::next() and
  /// TrajectoryAssembler::assemble().
  std::optional<pde::Trajectory> next();

 private:
  std::unique_ptr<TrajectorySource> source_;
  TrajectoryAssembler assembler_;
  KeptFrames keep_;
  std::int64_t done_ = 0;
};

/// Flows on meshes in a folder: cylinder_flow and airfoil of the MeshGraphNets release (Pfaff and others, 2021), or
/// what somebody made of them.
///
/// What it holds is found by what is there, the first of these kinds (of the parts train, valid and test one may be
/// missing or two):
///
/// - tfrecord: meta.json and train.tfrecord, valid.tfrecord, test.tfrecord, a record a trajectory;
/// - npz: folders train, valid, test with a .npz file a trajectory;
/// - hdf5: train.h5, valid.h5, test.h5, a group a trajectory.
///
/// The last two do not say the time step. It is that of a meta.json in the folder, else the release's: .0002 s where
/// there is a density (airfoil), .08 s for the arrays `uvp`, which have every eighth frame, else .01 s (cylinder_flow).
/// Arrays and their shapes: data/trajectory_arrays.hpp. Pickled objects are refused, since loading them runs code.
/// Memory: one trajectory as it is stored, of HDF5 files some frames. The HDF5 library crashes on some damaged files,
/// so a command reads them by in_own_process(), as import_pdebench() does.
class MeshgraphnetsFolder {
 public:
  /// Throws DataError("meshgraphnets: ..") for a folder that is none of these, and as parse_meshgraphnets_meta(). Of
  /// npz and HDF5 files the first trajectory is looked at.
  explicit MeshgraphnetsFolder(const std::filesystem::path& folder);

  FlowFormat format() const { return format_; }
  /// As meta.json has it: "comsol". Empty where nobody says.
  const std::string& simulator() const { return meta_->simulator; }
  /// Seconds from frame to frame.
  double time_step() const { return meta_->time_step; }
  /// Time of frame 0: 0 unless the files are ours.
  double start_time() const { return meta_->start; }
  /// The channels of a frame: velocity_x, velocity_y, density where there is one, pressure where there is one.
  const std::vector<std::string>& channels() const { return channels_; }
  /// Sentences on what to know of these data before they are used.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Those that are there.
  std::vector<Split> parts() const;
  /// The files that hold a part, in the order of its trajectories; none of a part that is not there.
  std::vector<std::filesystem::path> files(Split part) const;
  /// How many trajectories a part has. Cost: a few bytes of each. Throws DataError for a damaged file.
  std::int64_t trajectories(Split part) const;
  /// From the first one on. Throws DataError for a part that is not there. The stream must not outlive the folder.
  TrajectoryStream read(Split part, KeptFrames keep = {}) const;

 private:
  std::unique_ptr<TrajectorySource> source(Split part) const;
  void suppose_time_step(const TrajectoryArrays& arrays);

  std::filesystem::path folder_;
  FlowFormat format_;
  std::unique_ptr<MeshgraphnetsMeta> meta_;
  std::vector<std::string> channels_, notes_;
};

}  // namespace opshap::data
