#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/domain.hpp"
#include "pde/trajectories.hpp"

namespace opshap::data {

/// The arrays of one trajectory, as a file holds them: node values by their names, "velocity".
class TrajectoryArrays {
 public:
  /// `count` entries of one axis, from `first` on, with all entries of the other axes.
  struct Block {
    std::size_t axis = 0;
    std::int64_t first = 0, count = 1;
  };

  /// `place` is "FILE, record=3": where the trajectory stands, for messages.
  explicit TrajectoryArrays(std::string place) : place_(std::move(place)) {}
  virtual ~TrajectoryArrays() = default;

  const std::string& place() const { return place_; }
  /// Sizes of the axes of an array; nothing where it is not there. Throws DataError for one that cannot be read.
  virtual std::optional<std::vector<std::int64_t>> shape(const std::string& array) const = 0;
  /// Appends a block in row-major order. Wider numbers are rounded to float. Throws DataError for an array that is
  /// damaged or holds the other kind of number.
  virtual void read(const std::string& array, const Block& block, std::vector<float>& values) const = 0;
  virtual void read(const std::string& array, const Block& block, std::vector<std::int64_t>& values) const = 0;

 private:
  std::string place_;
};

/// Appends a block of an array that is in memory. `at(i)` is its i-th number in row-major order.
template <typename Number, typename At>
void append_block(const std::vector<std::int64_t>& shape, const TrajectoryArrays::Block& block, const At& at,
                  std::vector<Number>& values) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis < block.axis) outer *= shape[axis];
    if (axis > block.axis) inner *= shape[axis];
  }
  const std::int64_t size = block.count * inner;
  auto to = static_cast<std::ptrdiff_t>(values.size());
  values.resize(values.size() + static_cast<std::size_t>(outer * size));
  for (std::int64_t row = 0; row < outer; ++row) {
    const std::int64_t from = (row * shape[block.axis] + block.first) * inner;
    for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(to++)] = static_cast<Number>(at(from + i));
  }
}

/// The channels of the frames that these arrays hold: velocity_x, velocity_y, density where there is one, pressure
/// where there is one. Throws DataError without velocities.
std::vector<std::string> channels_of(const TrajectoryArrays& arrays);

/// Which frames of a trajectory to keep, ascending, once their number is known. Empty: all.
using KeptFrames = std::function<std::vector<std::int64_t>(std::int64_t trajectory, std::int64_t frames)>;

/// Makes trajectories of their arrays. N nodes, C triangles, T frames:
///
/// - `mesh_pos` or `pos` [N,2], `cells` [C,3], `node_type` [N,1] or [N]. They may have a first axis of 1 or T entries,
///   and then all of them are equal.
/// - `velocity` [T,N,2], `density` and `pressure` [T,N,1] or [T,N], or `uvp` [T,N,3] in place of them; each may have
///   [N,T] in place of [T,N].
class TrajectoryAssembler {
 public:
  /// Frame k is at start + k·time_step. `channels` are those that every trajectory must have.
  TrajectoryAssembler(std::vector<std::string> channels, double start, double time_step)
      : channels_(std::move(channels)), start_(start), time_step_(time_step) {}

  /// Throws DataError("meshgraphnets: file=.. (why). ..") for arrays that are missing, do not fit each other, or are no
  /// mesh: a cell with a node that is not there, triangles that overlap or have no area, two nodes in one place, a node
  /// of no triangle, an unknown node type, a number in a kept frame that is not finite. Throws InvalidArgument for
  /// frames to keep that are not there.
  pde::Trajectory assemble(const TrajectoryArrays& arrays, std::int64_t trajectory, const KeptFrames& keep);

 private:
  Domain domain_of(const TrajectoryArrays& arrays, std::vector<double> points, std::vector<std::int64_t> cells);

  std::vector<std::string> channels_;
  double start_, time_step_;
  Domain last_;  ///< of the trajectory before: often all have one mesh
};

}  // namespace opshap::data
