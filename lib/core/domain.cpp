#include "core/domain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/error.hpp"

#define BOOST_ALLOW_DEPRECATED_HEADERS  // Boost.Geometry 1.74 includes one, and every compilation would say so.

#include <boost/geometry.hpp>
#include <boost/geometry/geometries/point.hpp>
#include <boost/geometry/index/rtree.hpp>

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

void require_axis(int points, int least, double extent) {
  require(points >= least, "domain: points=", points, " (an axis needs at least ", least, "). Give a larger number.");
  require(std::isfinite(extent) && extent > 0, "domain: extent=", extent,
          " (an axis has a positive length). Give a positive number.");
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

Axis Axis::ring(int points, double extent, double origin) {
  require_axis(points, 1, extent);
  return {.points = points, .origin = origin, .extent = extent, .intervals = static_cast<double>(points)};
}

Axis Axis::cells(int points, double extent, double origin, bool periodic) {
  Axis axis = ring(points, extent, origin);
  axis.offset = 0.5;
  axis.centring = Centring::cell;
  axis.periodic = periodic;
  return axis;
}

Axis Axis::nodes(int points, double extent, double origin) {
  require_axis(points, 2, extent);
  return {.points = points, .origin = origin, .extent = extent, .intervals = points - 1.0, .periodic = false};
}

Axis Axis::closed(int points, double extent, double origin) {
  Axis axis = nodes(points, extent, origin);
  axis.keeps_ends = true;
  return axis;
}

std::vector<double> Axis::coordinates() const {
  std::vector<double> all;
  for (int index = 0; index < points; ++index) all.push_back(coordinate(index));
  return all;
}

double Axis::length(int index) const {
  if (periodic || centring == Centring::cell) return spacing();
  const double begin = index == 0 ? origin : coordinate(index) - spacing() / 2;
  const double end = index == points - 1 ? origin + extent : coordinate(index) + spacing() / 2;
  return end - begin;
}

Axis Axis::strided(int stride) const {
  require(stride >= 1 && divided() % stride == 0, "domain: stride=", stride, " (the axis has ", divided(),
          keeps_ends ? " intervals" : " points", ", which are not a multiple). Choose a divisor.");
  Axis coarse = *this;
  coarse.points = divided() / stride + (keeps_ends ? 1 : 0);
  coarse.intervals = intervals / stride;
  coarse.offset = offset / stride;
  return coarse;
}

int Axis::stride_to(int wanted) const {
  const int parts = keeps_ends ? wanted - 1 : wanted;
  return parts >= 1 && divided() % parts == 0 ? divided() / parts : 0;
}

Axis Axis::resampled(int wanted) const {
  if (centring == Centring::cell) return cells(wanted, extent, origin, periodic);
  if (periodic) return ring(wanted, extent, origin);
  return keeps_ends ? closed(wanted, extent, origin) : nodes(wanted, extent, origin);
}

int Axis::nearest(double x) const {
  int best = 0;
  double least = HUGE_VAL;
  for (int index = 0; index < points; ++index) {
    double distance = std::abs(x - coordinate(index));
    if (periodic) distance = std::min(std::fmod(distance, extent), extent - std::fmod(distance, extent));
    if (distance < least) {
      best = index;
      least = distance;
    }
  }
  return best;
}

std::string Axis::describe() const {
  return message(points, " points on [", origin, ", ", origin + extent, periodic ? ")" : "]",
                 centring == Centring::cell ? ", in the middle of cells"
                 : keeps_ends               ? ", with both ends"
                                            : "",
                 periodic ? ", periodic" : "");
}

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

namespace {

namespace geometry = boost::geometry;
using Place = geometry::model::point<double, 2, geometry::cs::cartesian>;
using Index = geometry::index::rtree<Place, geometry::index::rstar<16>>;

struct Vector {
  double x = 0, y = 0;
};

double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y; }

/// Half of what lies between a point and its neighbours on both sides.
std::vector<double> parts_of_line(const Mesh& cloud) {
  std::vector<std::size_t> order(cloud.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t point) { return cloud.points[point]; });
  std::vector<double> parts(order.size(), 0.0);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double half = (cloud.points[order[i]] - cloud.points[order[i - 1]]) / 2;
    parts[order[i - 1]] += half;
    parts[order[i]] += half;
  }
  return parts;
}

/// The part of a convex polygon around the origin that is nearer to the origin than to `other`.
std::vector<Vector> nearer(const std::vector<Vector>& polygon, Vector other) {
  const auto beyond = [&](Vector at) { return dot(at, other) - dot(other, other) / 2; };
  std::vector<Vector> kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vector from = polygon[i], to = polygon[(i + 1) % polygon.size()];
    const double start = beyond(from), end = beyond(to);
    if (start <= 0) kept.push_back(from);
    if ((start <= 0) == (end <= 0)) continue;
    const double share = start / (start - end);
    kept.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
  }
  return kept;
}

double area(const std::vector<Vector>& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vector a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    twice += a.x * b.y - a.y * b.x;
  }
  return twice / 2;
}

/// Squared distance from the origin to the farthest corner.
double reach(const std::vector<Vector>& polygon) {
  double most = 0;
  for (const Vector corner : polygon) most = std::max(most, dot(corner, corner));
  return most;
}

/// The point that is nearest to a corner of a cell around `place`, from there, where it is nearer than `place` itself
/// by more than rounding; nothing where `place` is the nearest.
std::optional<Vector> nearer_to_corner(const Place& place, Vector corner, const Index& index) {
  const Place at(place.get<0>() + corner.x, place.get<1>() + corner.y);
  const auto found = index.qbegin(geometry::index::nearest(at, 1));
  const Vector other{found->get<0>() - place.get<0>(), found->get<1>() - place.get<1>()};
  constexpr double rounding = 1e-9;  // of the distance by which a side of the cell may be off
  if (dot(corner, other) <= (0.5 + rounding) * dot(other, other)) return std::nullopt;
  return other;
}

/// The Voronoi cell of a point in the box, around the origin: cut by its nearest neighbours, the nearest first, until
/// no other point is within twice the distance of the farthest corner. That ends most cells. The others reach far, as
/// at the edge of a cloud that does not fill its box. They are cut by whatever is nearer to one of their corners.
std::vector<Vector> cell_of(const Place& place, const Index& index, std::vector<Vector> cell) {
  constexpr unsigned neighbours = 32;
  std::vector<Vector> near;
  for (auto found = index.qbegin(geometry::index::nearest(place, neighbours)); found != index.qend(); ++found)
    near.push_back({found->get<0>() - place.get<0>(), found->get<1>() - place.get<1>()});
  std::ranges::sort(near, {}, [](Vector other) { return dot(other, other); });
  for (const Vector other : near) {
    if (dot(other, other) > 4 * reach(cell)) return cell;
    if (dot(other, other) > 0) cell = nearer(cell, other);  // else it is the point itself
  }
  for (std::size_t corner = 0; corner < cell.size();) {
    const auto other = nearer_to_corner(place, cell[corner], index);
    if (other) cell = nearer(cell, *other);
    corner = other ? 0 : corner + 1;
  }
  return cell;
}

/// The areas of the Voronoi cells in the bounding box.
std::vector<double> parts_of_box(const Mesh& cloud) {
  std::vector<Place> places;
  for (std::int64_t point = 0; point < cloud.size(); ++point)
    places.emplace_back(cloud.coordinate(point, 0), cloud.coordinate(point, 1));
  const Index index(places);
  const auto box = index.bounds();
  const Place low = box.min_corner(), high = box.max_corner();
  std::vector<double> parts;
  for (const Place& place : places) {
    const double left = low.get<0>() - place.get<0>(), right = high.get<0>() - place.get<0>(),
                 bottom = low.get<1>() - place.get<1>(), top = high.get<1>() - place.get<1>();
    parts.push_back(area(cell_of(place, index, {{left, bottom}, {right, bottom}, {right, top}, {left, top}})));
  }
  return parts;
}

}  // namespace

Mesh point_cloud(int dimension, std::vector<double> points) {
  const auto count = points.size() / static_cast<std::size_t>(std::max(dimension, 1));
  Mesh cloud = Mesh::of_points(dimension, std::move(points), std::vector<double>(count, 1.0));  // checks the points
  for (int axis = 0; axis < dimension; ++axis) {
    const auto [least, most] = bounds(cloud, axis);
    require(least < most, "point cloud: axis=", axis, " (all points have the coordinate ", least,
            " there, so they share out no volume). Give volumes, or leave the axis out.");
  }
  cloud.volumes = dimension == 1 ? parts_of_line(cloud) : parts_of_box(cloud);
  return Mesh::of_points(dimension, std::move(cloud.points), std::move(cloud.volumes));
}

int blocks_per_axis(int dimension, int blocks) {
  require(blocks >= 1, "partition: players=", blocks, " (needs at least one). Give a positive number of players.");
  if (dimension == 1) return blocks;
  const int per_axis = static_cast<int>(std::lround(std::sqrt(blocks)));
  require(per_axis * per_axis == blocks, "partition: players=", blocks,
          " (a square grid of blocks needs a square number). Use 4, 16, 64, ...");
  return per_axis;
}

MeshBlocks mesh_blocks(const Mesh& mesh, int blocks) {
  const int per_axis = blocks_per_axis(mesh.dimension, blocks);
  std::vector<int> block_of(static_cast<std::size_t>(mesh.size()), 0);
  for (int axis = mesh.dimension - 1; axis >= 0; --axis) {
    const auto [least, most] = bounds(mesh, axis);
    for (std::size_t point = 0; point < block_of.size(); ++point) {
      // Points of one coordinate are all on the near border.
      const double from_border = mesh.coordinate(static_cast<std::int64_t>(point), axis) - least;
      const double share = most > least ? from_border / (most - least) : 0;
      block_of[point] = per_axis * block_of[point] + std::min(static_cast<int>(per_axis * share), per_axis - 1);
    }
  }
  MeshBlocks found{.count = blocks, .of_player = block_of, .player_of = {}};
  std::ranges::sort(found.of_player);
  found.of_player.erase(std::ranges::unique(found.of_player).begin(), found.of_player.end());
  for (const int block : block_of)
    found.player_of.push_back(std::ranges::lower_bound(found.of_player, block) - found.of_player.begin());
  return found;
}

}  // namespace opshap
