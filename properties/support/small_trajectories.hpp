#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "pde/trajectories.hpp"

namespace opshap {

/// A flow on a sheared grid of triangles with numbers from a stream, as the formats can hold it: positions are float32,
/// some triangles run clockwise, and frame k is at start + k·step.
inline pde::Trajectory small_trajectory(Rng& rng, std::size_t channels, std::size_t frames, double start = 0,
                                        double step = 0.01) {
  const auto across = static_cast<std::int64_t>(3 + rng.below(4)), up = static_cast<std::int64_t>(3 + rng.below(3));
  std::vector<double> points;
  pde::Trajectory made;
  for (std::int64_t y = 0; y < up; ++y) {
    for (std::int64_t x = 0; x < across; ++x) {
      const double place = static_cast<double>(x) + 0.3 * static_cast<double>(y) + 0.2 * rng.uniform();
      points.push_back(static_cast<float>(0.1 * place));
      points.push_back(static_cast<float>(0.1 * (static_cast<double>(y) + 0.2 * rng.uniform())));
      const bool wall = y == 0 || y == up - 1;
      made.node_types.push_back(wall                ? pde::NodeType::wall
                                : x == 0            ? pde::NodeType::inflow
                                : x == across - 1   ? pde::NodeType::outflow
                                : rng.below(5) == 0 ? pde::NodeType::airfoil
                                                    : pde::NodeType::normal);
    }
  }
  std::vector<std::int64_t> cells;
  for (std::int64_t y = 0; y + 1 < up; ++y) {
    for (std::int64_t x = 0; x + 1 < across; ++x) {
      const std::int64_t low = y * across + x, high = low + across;
      std::vector<std::int64_t> two = {low, low + 1, high + 1, low, high + 1, high};
      if (rng.below(2) == 0) std::swap(two[0], two[1]);
      cells.insert(cells.end(), two.begin(), two.end());
    }
  }
  made.domain = Domain::mesh(Mesh::of_cells(2, std::move(points), std::move(cells)));
  for (std::size_t frame = 0; frame < frames; ++frame) made.times.push_back(start + static_cast<double>(frame) * step);
  const std::size_t numbers = frames * channels * static_cast<std::size_t>(made.nodes());
  for (std::size_t i = 0; i < numbers; ++i) made.frames.push_back(static_cast<float>(rng.normal()));
  return made;
}

/// What the formats hold of two trajectories is the same.
inline bool same_flow(const pde::Trajectory& a, const pde::Trajectory& b) {
  return a.domain == b.domain && a.node_types == b.node_types && a.times == b.times && a.frames == b.frames;
}

}  // namespace opshap
