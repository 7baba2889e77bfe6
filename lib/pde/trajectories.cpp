#include "pde/trajectories.hpp"

#include <utility>

#include "core/error.hpp"

namespace opshap::pde {

bool is_wall(NodeType type) {
  return type == NodeType::obstacle || type == NodeType::airfoil || type == NodeType::wall;
}

std::vector<float> Trajectory::nodes_first(std::size_t first, std::size_t width) const {
  const auto count = static_cast<std::size_t>(nodes());
  std::vector<float> values;
  values.reserve(times.size() * count * width);
  for (std::size_t time = 0; time < times.size(); ++time) {
    const std::span<const float> all = frame(static_cast<std::int64_t>(time));
    for (std::size_t node = 0; node < count; ++node) {
      for (std::size_t channel = first; channel < first + width; ++channel)
        values.push_back(all[channel * count + node]);
    }
  }
  return values;
}

Trajectory cropped(const Trajectory& whole, const Box& box) {
  const Mesh& mesh = whole.domain.as_mesh();
  const auto nodes = static_cast<std::size_t>(mesh.size());
  constexpr std::int64_t left_out = -1;
  const auto inside = [&](std::int64_t node) {
    return box.contains(mesh.coordinate(node, 0), mesh.coordinate(node, 1));
  };
  std::vector<std::int64_t> number(nodes, left_out), cells;
  for (std::size_t cell = 0; cell + 2 < mesh.cells.size(); cell += 3) {
    const auto corners = std::span(mesh.cells).subspan(cell, 3);
    if (!inside(corners[0]) || !inside(corners[1]) || !inside(corners[2])) continue;
    for (const std::int64_t corner : corners) {
      number[static_cast<std::size_t>(corner)] = 0;
      cells.push_back(corner);
    }
  }
  require(!cells.empty(), "trajectory: box=[", box.low[0], ", ", box.high[0], "] x [", box.low[1], ", ", box.high[1],
          "] (holds no triangle of the ", mesh.describe(), "). Give a larger one.");
  std::vector<std::size_t> kept;
  std::vector<double> points;
  Trajectory part = whole;
  part.node_types.clear();
  for (std::size_t node = 0; node < nodes; ++node) {
    if (number[node] == left_out) continue;
    number[node] = static_cast<std::int64_t>(kept.size());
    kept.push_back(node);
    for (int axis = 0; axis < 2; ++axis) points.push_back(mesh.coordinate(static_cast<std::int64_t>(node), axis));
    part.node_types.push_back(whole.node_types[node]);
  }
  for (std::int64_t& corner : cells) corner = number[static_cast<std::size_t>(corner)];
  part.domain = Domain::mesh(Mesh::of_cells(2, std::move(points), std::move(cells)));
  part.frames.clear();
  for (std::size_t row = 0; row * nodes < whole.frames.size(); ++row) {
    for (const std::size_t node : kept) part.frames.push_back(whole.frames[row * nodes + node]);
  }
  return part;
}

Trajectory Trajectories::steady(const std::vector<Parameter>&) const {
  throw InvalidArgument(message(name(), ": --steady (only a flow over time is solved here). Give --time."));
}

}  // namespace opshap::pde
