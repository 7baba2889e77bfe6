#include "core/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

void require_distinct(int dimension, const std::vector<double>& points) {
  const auto width = static_cast<std::size_t>(dimension);
  const auto place = [&](std::size_t point) { return std::span(points).subspan(point * width, width); };
  std::vector<std::size_t> order(points.size() / width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return std::ranges::lexicographical_compare(place(a), place(b)); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto [first, second] = std::minmax(order[i - 1], order[i]);
    require(!std::ranges::equal(place(first), place(second)), "mesh: point=", second, " (lies where point ", first,
            " does, and a field has one value at a place). Leave one of them out.");
  }
}

void require_shape(int dimension, const std::vector<double>& points, const std::vector<std::int64_t>& cells) {
  require(dimension == 1 || dimension == 2, "mesh: dimension=", dimension,
          " (meshes have points on a line or in a plane). Give 1 or 2.");
  require(!points.empty() && points.size() % static_cast<std::size_t>(dimension) == 0,
          "mesh: coordinates=", points.size(), " (a point has ", dimension, "). Give N x ", dimension, " numbers.");
  for (std::size_t i = 0; i < points.size(); ++i) {
    require(std::isfinite(points[i]), "mesh: coordinate=", points[i], " (of point ",
            i / static_cast<std::size_t>(dimension), "; it must be finite). Repair the mesh.");
  }
  require_distinct(dimension, points);
  require(cells.size() % static_cast<std::size_t>(dimension + 1) == 0, "mesh: corners=", cells.size(), " (a cell has ",
          dimension + 1, "). Give C x ", dimension + 1, " point numbers.");
  const auto count = static_cast<std::int64_t>(points.size()) / dimension;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    require(cells[i] >= 0 && cells[i] < count, "mesh: point=", cells[i], " (in cell ",
            i / static_cast<std::size_t>(dimension + 1), "; the points are 0..", count - 1, "). Repair the cell.");
  }
}

/// Length of an edge or area of a triangle.
double cell_volume(const Mesh& mesh, const std::int64_t* corners) {
  const auto apart = [&](int corner, int axis) {
    return mesh.coordinate(corners[corner], axis) - mesh.coordinate(corners[0], axis);
  };
  if (mesh.dimension == 1) return std::abs(apart(1, 0));
  return std::abs(apart(1, 0) * apart(2, 1) - apart(1, 1) * apart(2, 0)) / 2;
}

}  // namespace

Mesh Mesh::of_points(int dimension, std::vector<double> points, std::vector<double> volumes,
                     std::vector<std::int64_t> cells) {
  require_shape(dimension, points, cells);
  const std::size_t count = points.size() / static_cast<std::size_t>(dimension);
  require(volumes.size() == count, "mesh: volumes=", volumes.size(), " (there are ", count,
          " points). Give one volume for each point.");
  for (std::size_t point = 0; point < count; ++point) {
    require(std::isfinite(volumes[point]) && volumes[point] > 0, "mesh: volume=", volumes[point], " (of point ", point,
            "; each point owns a part of the domain). Give a positive number, or leave the point out.");
  }
  return {dimension, std::move(points), std::move(cells), std::move(volumes)};
}

Mesh Mesh::of_cells(int dimension, std::vector<double> points, std::vector<std::int64_t> cells) {
  require_shape(dimension, points, cells);
  const std::size_t count = points.size() / static_cast<std::size_t>(dimension);
  Mesh mesh{dimension, std::move(points), std::move(cells), std::vector<double>(count, 0.0)};
  const auto corners = static_cast<std::size_t>(dimension + 1);
  for (std::size_t first = 0; first < mesh.cells.size(); first += corners) {
    const double volume = cell_volume(mesh, mesh.cells.data() + first);
    require(volume > 0, "mesh: cell=", first / corners,
            " (its corners lie on one line, so it has no volume). Leave the cell out.");
    for (std::size_t corner = 0; corner < corners; ++corner)
      mesh.volumes[static_cast<std::size_t>(mesh.cells[first + corner])] += volume / static_cast<double>(corners);
  }
  for (std::size_t point = 0; point < count; ++point) {
    require(mesh.volumes[point] > 0, "mesh: point=", point,
            " (is a corner of no cell, so it owns no volume). Leave the point out.");
  }
  return mesh;
}

std::string Mesh::describe() const {
  const std::string shape = message("mesh of ", size(), " points");
  if (cells.empty()) return shape;
  return message(shape, " and ", cells.size() / static_cast<std::size_t>(dimension + 1),
                 dimension == 1 ? " edges" : " triangles");
}

}  // namespace opshap
