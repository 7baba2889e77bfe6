// Triangles of a mesh that cover the same part of the plane are found, and those that share a border are none.

#include "core/mesh_overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "support/for_all.hpp"
#include "support/small_trajectories.hpp"

namespace opshap {
namespace {

using Pair = std::optional<std::pair<std::int64_t, std::int64_t>>;

Pair overlap(std::vector<double> points, std::vector<std::int64_t> cells) {
  return overlapping_triangles(Mesh::of_cells(2, std::move(points), std::move(cells)));
}

// Sides of 0, 1, 2, .. that share an edge, a corner, a part of an edge, or nothing, in either orientation.
TEST(MeshOverlap, ACommonBorderIsNone) {
  const std::vector<double> square = {0, 0, 1, 0, 1, 1, 0, 1};
  EXPECT_EQ(Pair(), overlap(square, {0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(Pair(), overlap(square, {1, 0, 2, 0, 2, 3}));
  EXPECT_EQ(Pair(), overlap({0, 0, 1, 0, 1, 1, 2, 1, 2, 2}, {0, 1, 2, 2, 3, 4})) << "a corner";
  EXPECT_EQ(Pair(), overlap({0, 0, 2, 0, 1, 1, 0, 2}, {0, 1, 2, 0, 2, 3})) << "boxes overlap";
  EXPECT_EQ(Pair(), overlap({0, 0, 4, 0, 2, -1, 1, 0, 3, 0, 2, 1}, {0, 1, 2, 3, 4, 5})) << "a part of an edge";
}

TEST(MeshOverlap, TheFirstOfBothIsTold) {
  const std::vector<double> square = {0, 0, 1, 0, 1, 1, 0, 1};
  EXPECT_EQ(Pair({0, 1}), overlap(square, {0, 1, 2, 0, 1, 3, 0, 2, 3})) << "the second one has the other diagonal";
  EXPECT_EQ(Pair({0, 2}), overlap(square, {0, 1, 2, 0, 2, 3, 2, 0, 1})) << "one of them comes twice";
  EXPECT_EQ(Pair({0, 1}), overlap({0, 0, 9, 0, 0, 9, 1, 1, 2, 1, 1, 2}, {0, 1, 2, 3, 4, 5})) << "one inside the other";
  EXPECT_EQ(Pair({0, 1}), overlap({0, 0, 4, 0, 2, 3, 0, 2, 4, 2, 2, -1}, {0, 1, 2, 3, 4, 5})) << "a star";
  EXPECT_THROW(overlapping_triangles(Mesh::of_cells(1, {0, 1}, {0, 1})), InvalidArgument);
}

/// The area that two triangles have in common, by cutting the first along the edges of the second (Sutherland and
/// Hodgman).
double common_area(const Mesh& mesh, std::size_t first, std::size_t second) {
  using Polygon = std::vector<std::pair<double, double>>;
  const auto triangle = [&](std::size_t cell) {
    Polygon corners;
    for (std::size_t i = 3 * cell; i < 3 * cell + 3; ++i)
      corners.emplace_back(mesh.coordinate(mesh.cells[i], 0), mesh.coordinate(mesh.cells[i], 1));
    return corners;
  };
  const auto area = [](const Polygon& polygon) {
    double twice = 0;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const auto& [x, y] = polygon[i];
      const auto& [next_x, next_y] = polygon[(i + 1) % polygon.size()];
      twice += x * next_y - y * next_x;
    }
    return twice / 2;
  };
  Polygon left = triangle(first), knife = triangle(second);
  if (area(knife) < 0) std::swap(knife[0], knife[1]);
  for (std::size_t edge = 0; edge < 3; ++edge) {
    const auto [x, y] = knife[edge];
    const double along_x = knife[(edge + 1) % 3].first - x, along_y = knife[(edge + 1) % 3].second - y;
    const auto side = [&](const auto& point) { return along_x * (point.second - y) - along_y * (point.first - x); };
    Polygon kept;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto &here = left[i], &next = left[(i + 1) % left.size()];
      const double a = side(here), b = side(next);
      if (a >= 0) kept.push_back(here);
      if ((a < 0) != (b < 0))
        kept.emplace_back(here.first + a / (a - b) * (next.first - here.first),
                          here.second + a / (a - b) * (next.second - here.second));
    }
    left = kept;
  }
  return std::abs(area(left));
}

// Nodes are moved by up to two and a half sides of a triangle, so that some meshes fold and others do not. A common
// area below 1e-4 of a triangle's may be called either: the slack is a millionth of the mesh's size times a side.
TEST(MeshOverlap, APairHasACommonArea) {
  for_all_streams([](Rng& rng) {
    Mesh mesh = small_trajectory(rng, 2, 1).domain.as_mesh();
    RC_ASSERT(!overlapping_triangles(mesh).has_value());
    const double scale = std::exp2(static_cast<double>(rng.below(60)) - 30), angle = 6.28 * rng.uniform();
    for (std::size_t point = 0; point < mesh.points.size(); point += 2) {
      const double x = scale * mesh.points[point], y = scale * mesh.points[point + 1];
      mesh.points[point] = std::cos(angle) * x - std::sin(angle) * y;
      mesh.points[point + 1] = std::sin(angle) * x + std::cos(angle) * y;
    }
    RC_ASSERT(!overlapping_triangles(mesh).has_value());
    mesh.points[rng.below(mesh.points.size())] += scale * rng.uniform(-0.25, 0.25);
    const auto pair = overlapping_triangles(mesh);
    const double small = 1e-4 * scale * scale * 0.005;
    RC_CLASSIFY(pair.has_value());
    if (pair)
      RC_ASSERT(common_area(mesh, static_cast<std::size_t>(pair->first), static_cast<std::size_t>(pair->second)) > 0);
    double most = 0;
    for (std::size_t a = 0; 3 * a < mesh.cells.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) most = std::max(most, common_area(mesh, a, b));
    }
    RC_ASSERT(pair.has_value() || most <= small);
    RC_ASSERT(!pair.has_value() || most > 0);
  });
}

}  // namespace
}  // namespace opshap
