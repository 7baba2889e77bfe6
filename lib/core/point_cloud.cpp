#define BOOST_ALLOW_DEPRECATED_HEADERS  // Boost.Geometry 1.74 includes one, and every compilation would say so.

#include "core/point_cloud.hpp"

#include <algorithm>
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/point.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace opshap {

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
    if (!other) {
      ++corner;
      continue;
    }
    cell = nearer(cell, *other);
    corner = 0;
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
    double least = cloud.coordinate(0, axis), most = least;
    for (std::int64_t point = 1; point < cloud.size(); ++point) {
      least = std::min(least, cloud.coordinate(point, axis));
      most = std::max(most, cloud.coordinate(point, axis));
    }
    require(least < most, "point cloud: axis=", axis, " (all points have the coordinate ", least,
            " there, so they share out no volume). Give volumes, or leave the axis out.");
  }
  cloud.volumes = dimension == 1 ? parts_of_line(cloud) : parts_of_box(cloud);
  return Mesh::of_points(dimension, std::move(cloud.points), std::move(cloud.volumes));
}

}  // namespace opshap
