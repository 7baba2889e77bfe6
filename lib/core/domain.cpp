#include "core/domain.hpp"

#include <cstddef>
#include <utility>

#include "core/error.hpp"

namespace opshap {

Domain Domain::unit(std::vector<int> shape) {
  require(shape.size() == 1 || shape.size() == 2, "domain: dimension=", shape.size(),
          " (grids have one or two axes). Give [n] or [nx, ny].");
  for (const int points : shape)
    require(points >= 1, "domain: points=", points, " (an axis needs at least one). Give a positive size.");
  std::vector<double> extents(shape.size(), 1.0);
  return {.shape = std::move(shape), .extents = std::move(extents)};
}

std::int64_t Domain::points() const {
  std::int64_t count = 1;
  for (const int axis_points : shape) count *= axis_points;
  return count;
}

double Domain::volume() const {
  double volume = 1;
  for (const double extent : extents) volume *= extent;
  return volume;
}

double Domain::coordinate(int axis, int index) const {
  const auto a = static_cast<std::size_t>(axis);
  const double offset = centring == Centring::cell ? 0.5 : 0.0;
  return (index + offset) * extents[a] / shape[a];
}

std::int64_t Domain::centre() const {
  std::vector<int> indices;
  for (const int axis_points : shape) indices.push_back(axis_points / 2);
  return point(indices);
}

std::int64_t Domain::point(const std::vector<int>& indices) const {
  require(indices.size() == shape.size(), "query: indices=", indices.size(), " (the grid has ", shape.size(),
          " axes). Give one index per axis.");
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    require(indices[axis] >= 0 && indices[axis] < shape[axis], "query: index=", indices[axis], " (axis ", axis,
            " has the points 0..", shape[axis] - 1, "). Give an index of the grid.");
    number = number * shape[axis] + indices[axis];
  }
  return number;
}

}  // namespace opshap
