#include "core/mesh_overlap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/error.hpp"

namespace opshap {

namespace {

struct Corner {
  double x, y;
};

/// Twice the area of the triangle a, b, c; positive where c is on the left of the line from a to b.
double left_of(const Corner& a, const Corner& b, const Corner& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

struct Triangle {
  std::array<Corner, 3> corners;  ///< counter-clockwise
  std::int64_t number = 0;
  Corner low, high;  ///< of its box

  Triangle(const std::array<Corner, 3>& of, std::int64_t number) : corners(of), number(number) {
    if (left_of(corners[0], corners[1], corners[2]) < 0) std::swap(corners[1], corners[2]);
    const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x});
    const auto [bottom, top] = std::minmax({corners[0].y, corners[1].y, corners[2].y});
    low = {left, bottom};
    high = {right, top};
  }
};

/// Whether an edge of `a` has all of `b` on its right, but for `slack`.
bool parts(const Triangle& a, const Triangle& b, double slack) {
  for (std::size_t edge = 0; edge < 3; ++edge) {
    const Corner &from = a.corners[edge], &to = a.corners[(edge + 1) % 3];
    const double most = slack * std::hypot(to.x - from.x, to.y - from.y);
    if (std::ranges::all_of(b.corners, [&](const Corner& corner) { return left_of(from, to, corner) <= most; }))
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> overlapping_triangles(const Mesh& mesh) {
  require(mesh.dimension == 2, "mesh: dimension=", mesh.dimension, " (triangles lie in a plane). Give a mesh in it.");
  double largest = 0;
  for (const double coordinate : mesh.points) largest = std::max(largest, std::abs(coordinate));
  // Each of the two corners may have moved by half a unit of its last digit along both axes.
  const double slack = 2 * static_cast<double>(std::numeric_limits<float>::epsilon()) * largest;
  std::vector<Triangle> triangles;
  triangles.reserve(mesh.cells.size() / 3);
  for (std::size_t first = 0; first + 2 < mesh.cells.size(); first += 3) {
    std::array<Corner, 3> corners{};
    for (std::size_t corner = 0; corner < 3; ++corner) {
      const std::int64_t point = mesh.cells[first + corner];
      corners[corner] = {mesh.coordinate(point, 0), mesh.coordinate(point, 1)};
    }
    triangles.emplace_back(corners, static_cast<std::int64_t>(first / 3));
  }
  std::ranges::sort(triangles, {}, [](const Triangle& triangle) { return triangle.low.x; });
  std::vector<const Triangle*> open;  // those whose boxes the line x = (left end of the next one) meets
  for (const Triangle& next : triangles) {
    std::erase_if(open, [&](const Triangle* before) { return before->high.x <= next.low.x; });
    for (const Triangle* before : open) {
      const bool boxes_overlap = before->low.y < next.high.y && next.low.y < before->high.y;
      if (boxes_overlap && !parts(*before, next, slack) && !parts(next, *before, slack))
        return std::minmax(before->number, next.number);
    }
    open.push_back(&next);
  }
  return std::nullopt;
}

}  // namespace opshap
