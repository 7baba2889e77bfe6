#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/domain.hpp"
#include "core/rng.hpp"

namespace opshap {

/// A rectangle of nx · ny cells, [x0, x1] x [y0, y1], each cut into two triangles along diagonals that alternate. Its
/// inner nodes are moved by up to `moved` of a cell along each axis.
inline Mesh rectangle_mesh(std::pair<double, double> x, std::pair<double, double> y, int nx, int ny, double moved = 0,
                           Rng rng = Rng(1)) {
  std::vector<double> points;
  std::vector<std::int64_t> cells;
  for (int i = 0; i <= nx; ++i) {
    for (int j = 0; j <= ny; ++j) {
      const bool inner_x = i > 0 && i<nx, inner_y = j> 0 && j < ny;
      points.push_back(x.first + (x.second - x.first) * (i + (inner_x ? rng.uniform(-moved, moved) : 0)) / nx);
      points.push_back(y.first + (y.second - y.first) * (j + (inner_y ? rng.uniform(-moved, moved) : 0)) / ny);
    }
  }
  const auto node = [ny](int i, int j) { return static_cast<std::int64_t>(i) * (ny + 1) + j; };
  for (int i = 0; i < nx; ++i) {
    for (int j = 0; j < ny; ++j) {
      const std::int64_t a = node(i, j), b = node(i + 1, j), c = node(i + 1, j + 1), d = node(i, j + 1);
      for (const std::int64_t corner : (i + j) % 2 == 0 ? std::vector{a, b, c, a, c, d} : std::vector{a, b, d, b, c, d})
        cells.push_back(corner);
    }
  }
  return Mesh::of_cells(2, std::move(points), std::move(cells));
}

}  // namespace opshap
