#include "core/domain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

/// Smallest and largest coordinate of the mesh's points.
std::pair<double, double> bounds(const Mesh& mesh, int axis) {
  double least = mesh.coordinate(0, axis), most = least;
  for (std::int64_t point = 1; point < mesh.size(); ++point) {
    least = std::min(least, mesh.coordinate(point, axis));
    most = std::max(most, mesh.coordinate(point, axis));
  }
  return {least, most};
}

std::int64_t nearest_of_mesh(const Mesh& mesh, const std::vector<double>& position) {
  std::int64_t best = 0;
  double least = HUGE_VAL;
  for (std::int64_t point = 0; point < mesh.size(); ++point) {
    double distance = 0;
    for (int axis = 0; axis < mesh.dimension; ++axis)
      distance = std::hypot(distance, mesh.coordinate(point, axis) - position[static_cast<std::size_t>(axis)]);
    if (distance < least) {
      best = point;
      least = distance;
    }
  }
  return best;
}

}  // namespace

Domain Domain::grid(std::vector<Axis> axes) {
  require(axes.size() == 1 || axes.size() == 2, "domain: dimension=", axes.size(),
          " (grids have one or two axes). Give [n] or [nx, ny].");
  Domain domain;
  domain.points_ = 1;
  domain.volume_ = 1;
  for (const Axis& axis : axes) {
    domain.shape_.push_back(axis.points);
    domain.points_ *= axis.points;
    double covered = axis.extent;  // the same as the sum of the points' lengths, without its rounding
    if (!axis.periodic && axis.centring == Centring::cell) covered = axis.spacing() * axis.points;
    domain.volume_ *= covered;
  }
  domain.axes_ = std::move(axes);
  return domain;
}

Domain Domain::unit(const std::vector<int>& shape) {
  std::vector<Axis> axes;
  for (const int points : shape) axes.push_back(Axis::ring(points));
  return grid(std::move(axes));
}

Domain Domain::mesh(Mesh mesh) {
  Domain domain;
  domain.points_ = mesh.size();
  domain.volume_ = std::accumulate(mesh.volumes.begin(), mesh.volumes.end(), 0.0);
  domain.mesh_ = std::make_shared<const Mesh>(std::move(mesh));
  return domain;
}

// Not require(): its message would be made at every call, and these are called for every point.
const std::vector<Axis>& Domain::axes() const {
  if (!is_grid())
    throw InvalidArgument(message("domain: axes (", describe(), " has none). Use a field on a regular grid."));
  return axes_;
}

const std::vector<int>& Domain::shape() const {
  if (!is_grid()) {
    throw InvalidArgument(
        message("domain: shape (", describe(), " has no points per axis). Use a field on a regular grid."));
  }
  return shape_;
}

const Mesh& Domain::as_mesh() const {
  if (is_grid()) throw InvalidArgument(message("domain: mesh (", describe(), " is none). Use a field on a mesh."));
  return *mesh_;
}

int Domain::dimension() const { return is_grid() ? static_cast<int>(axes_.size()) : mesh_->dimension; }

double Domain::volume(std::int64_t point) const {
  if (!is_grid()) return mesh_->volumes[static_cast<std::size_t>(point)];
  double volume = 1;
  for (std::size_t axis = axes_.size(); axis-- > 0; point /= shape_[axis])
    volume *= axes_[axis].length(static_cast<int>(point % shape_[axis]));
  return volume;
}

std::vector<double> Domain::position(std::int64_t point) const {
  std::vector<double> position(static_cast<std::size_t>(dimension()));
  for (std::size_t axis = position.size(); axis-- > 0;) {
    if (is_grid()) {
      position[axis] = axes_[axis].coordinate(static_cast<int>(point % shape_[axis]));
      point /= shape_[axis];
    } else {
      position[axis] = mesh_->coordinate(point, static_cast<int>(axis));
    }
  }
  return position;
}

bool Domain::periodic() const {
  return is_grid() && std::ranges::all_of(axes_, [](const Axis& axis) { return axis.periodic; });
}

std::int64_t Domain::centre() const {
  if (!is_grid()) {
    std::vector<double> middle;
    for (int axis = 0; axis < mesh_->dimension; ++axis) {
      const auto [least, most] = bounds(*mesh_, axis);
      middle.push_back((least + most) / 2);
    }
    return nearest_of_mesh(*mesh_, middle);
  }
  std::vector<int> indices;
  for (const int axis_points : shape_) indices.push_back(axis_points / 2);
  return point(indices);
}

std::int64_t Domain::point(const std::vector<int>& indices) const {
  const std::vector<int> sizes = is_grid() ? shape_ : std::vector<int>{static_cast<int>(points_)};
  require(indices.size() == sizes.size(), "query: indices=", indices.size(), " (the ", is_grid() ? "grid" : "mesh",
          " has ", sizes.size(), sizes.size() == 1 ? " axis" : " axes", "). Give one index per axis.");
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    require(indices[axis] >= 0 && indices[axis] < sizes[axis], "query: index=", indices[axis], " (axis ", axis,
            " has the points 0..", sizes[axis] - 1, "). Give an index of the grid.");
    number = number * sizes[axis] + indices[axis];
  }
  return number;
}

std::int64_t Domain::nearest(const std::vector<double>& position) const {
  require(static_cast<int>(position.size()) == dimension(), "query: coordinates=", position.size(), " (the domain has ",
          dimension(), "). Give one coordinate per dimension.");
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    // The last node's coordinate may be rounded to just beyond the end of its axis.
    const auto [begin, end] =
        is_grid() ? std::pair(axes_[axis].origin, std::max(axes_[axis].origin + axes_[axis].extent,
                                                           axes_[axis].coordinate(axes_[axis].points - 1)))
                  : bounds(*mesh_, static_cast<int>(axis));
    require(position[axis] >= begin && position[axis] <= end, "query: coordinate=", position[axis], " (axis ", axis,
            " is ", begin, "..", end, "). Give a position of the domain.");
  }
  if (!is_grid()) return nearest_of_mesh(*mesh_, position);
  std::vector<int> indices;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) indices.push_back(axes_[axis].nearest(position[axis]));
  return point(indices);
}

Domain Domain::strided(const std::vector<int>& wanted) const {
  require(wanted.size() == shape().size(), "strided: axes=", wanted.size(), " (the field has ", shape_.size(),
          "). Give one size per axis.");
  std::vector<Axis> coarse;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    const int stride = axes_[axis].stride_to(wanted[axis]);
    require(stride >= 1, "strided: points=", wanted[axis], " (no stride leaves so many of ", axes_[axis].describe(),
            "). Choose ",
            axes_[axis].keeps_ends ? "one more than a divisor of its intervals." : "a divisor of its points.");
    coarse.push_back(axes_[axis].strided(stride));
  }
  return grid(std::move(coarse));
}

std::string Domain::describe() const {
  if (!is_grid()) return mesh_->describe();
  std::string shape, parts;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    shape += message(axis == 0 ? "" : " x ", shape_[axis]);
    parts += message(axis == 0 ? ": x: " : "; y: ", axes_[axis].describe());
  }
  return message("grid ", shape, parts);
}

bool Domain::operator==(const Domain& other) const {
  if (is_grid() != other.is_grid()) return false;
  return is_grid() ? axes_ == other.axes_ : mesh_ == other.mesh_ || *mesh_ == *other.mesh_;
}

}  // namespace opshap
