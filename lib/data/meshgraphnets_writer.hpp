#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/meshgraphnets_meta.hpp"
#include "pde/trajectories.hpp"

namespace opshap::data {

/// Writes trajectories in the format of the MeshGraphNets release: meta.json, train.tfrecord, valid.tfrecord and
/// test.tfrecord. MeshgraphnetsFolder reads them back equal, but for the rounding of positions to float32.
///
/// Until finish() the files have temporary names; a writer that is destroyed before leaves none behind. meta.json gets
/// its name last, so that a folder that has it is whole. Memory: a few times one trajectory.
class MeshgraphnetsWriter {
 public:
  /// `simulator` names the program that made the flows. `channels` are those of Trajectories::state(): velocity_x and
  /// velocity_y, density if there is one, pressure if there is one, in this order. Makes the folder.
  ///
  /// Throws InvalidArgument for other channels and for a folder that has a meta.json; else as NewFile.
  MeshgraphnetsWriter(const std::filesystem::path& folder, std::string simulator,
                      const std::vector<std::string>& channels);

  /// The next trajectory of a part.
  ///
  /// The release has no time of frame 0. Where that is not 0, meta.json has it as `start_time`.
  /// Throws InvalidArgument for a trajectory of other channels, without a triangle, or whose times are not those of the
  /// first one, equally spaced and two at least. Throws NumericalError for a value that is not finite and for a mesh
  /// that is none once its positions are rounded, EnvironmentError on a full disk.
  void add(Split part, const pde::Trajectory& trajectory);
  /// Gives the files their names. Throws InvalidArgument without any trajectory, else as NewFile.
  void finish();

 private:
  void take_times(const std::vector<double>& times);

  std::filesystem::path folder_;
  MeshgraphnetsMeta meta_;
  std::vector<std::string> dynamic_;  ///< velocity, density, pressure: those that there are
  std::vector<double> times_;
  std::vector<std::unique_ptr<NewFile>> files_;  ///< in the order of Split
};

}  // namespace opshap::data
