#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain.hpp"
#include "core/rng.hpp"
#include "pde/equation.hpp"

namespace opshap::pde {

/// What a node of a mesh is to a flow. The numbers are those of the MeshGraphNets release.
enum class NodeType : std::uint8_t {
  normal = 0,
  obstacle = 1,
  airfoil = 2,
  handle = 3,
  inflow = 4,
  outflow = 5,
  wall = 6
};

/// Whether a flow sticks to a node, or cannot pass it: an obstacle, an airfoil, a wall.
bool is_wall(NodeType type);

/// A number for each frame of a trajectory, "drag".
struct Recorded {
  std::string name;
  std::vector<double> values;  ///< [T]
};

/// A flow on a mesh of its own, at some times.
struct Trajectory {
  Domain domain;                     ///< a mesh with triangles
  std::vector<NodeType> node_types;  ///< [N]
  std::vector<double> times;         ///< [T]
  std::vector<float> frames;         ///< [T, C, N], of the channels of Trajectories::state()
  double step = 0;                   ///< the time step, the first one where steps differ; 0 where nobody knows
  std::int64_t steps = 0;
  std::vector<double> departures;  ///< how far each of the equation's invariants was from holding, in their order
  std::vector<Recorded> recorded;  ///< forces and the like, where the solver records them

  std::int64_t nodes() const { return domain.points(); }
  /// Numbers of one frame: channels × nodes.
  std::size_t frame_size() const { return times.empty() ? 0 : frames.size() / times.size(); }
  std::span<const float> frame(std::int64_t index) const {
    return {frames.data() + static_cast<std::size_t>(index) * frame_size(), frame_size()};
  }
  /// The channels first, .., first + width − 1 of the frames as [T, N, width], which is how the release has them.
  std::vector<float> nodes_first(std::size_t first, std::size_t width) const;
};

/// Corners of a box in the plane.
struct Box {
  std::array<double, 2> low, high;

  bool contains(double x, double y) const { return x >= low[0] && x <= high[0] && y >= low[1] && y <= high[1]; }
};

/// What of a trajectory lies in a box: the triangles with all corners in it, and their nodes in their order. Throws
/// InvalidArgument for a box without a triangle.
Trajectory cropped(const Trajectory& whole, const Box& box);

/// What a data set on meshes is made of: flows whose geometry and numbers are drawn, each on a mesh of its own, and how
/// a frame becomes the input or the target of an operator. A sample is the window (t, t + lead) of a trajectory.
///
/// Immutable and safe to call from several threads. Adding one: a file in lib/pde and a line TRAJECTORIES(name) in
/// lib/pde/registry.def.
class Trajectories : public Equation {
 public:
  using Equation::Equation;
  /// The same with other parameters. Throws InvalidArgument for unknown names and for values that cannot work.
  virtual std::unique_ptr<Trajectories> with(const ParameterValues& changes) const = 0;

  /// The channels of a frame, as the release has them: "velocity_x", "velocity_y", "density" where there is one,
  /// "pressure".
  virtual std::vector<Channel> state() const = 0;
  /// The channels of the operator's fields, which go in and come out.
  virtual std::vector<Channel> channels() const = 0;
  /// A frame [C, N] of the state as a field of the operator, [channels, N].
  virtual std::vector<float> observed(std::span<const float> frame) const = 0;

  /// The numbers that are drawn for a trajectory, geometry among them, each with a usual value.
  virtual std::vector<Parameter> numbers() const = 0;
  /// Those of one trajectory: a function of the stream's key (seed, domain) and the trajectory's number alone.
  virtual std::vector<Parameter> draw(const Rng& root, std::uint64_t trajectory) const = 0;
  /// The times at which a data set holds frames, equally spaced.
  virtual std::vector<double> times() const = 0;
  /// From the input of a sample to its target: a whole number of frames.
  virtual double lead() const = 0;
  /// What a data set keeps of each mesh; nothing: all of it.
  virtual std::optional<Box> frame() const { return std::nullopt; }

  /// The flow for these numbers, from rest or from the free stream at time 0, at ascending times. Its mesh is a
  /// function of parameters and numbers alone. Single-threaded.
  ///
  /// Throws InvalidArgument for numbers or times that cannot work, NumericalError when the solution cannot be trusted.
  virtual Trajectory run(const std::vector<Parameter>& numbers, std::span<const double> times) const = 0;
  /// The steady flow, as a trajectory of one frame. Throws InvalidArgument where there is no such form; otherwise as
  /// run().
  virtual Trajectory steady(const std::vector<Parameter>& numbers) const;
};

}  // namespace opshap::pde
