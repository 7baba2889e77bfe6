#include "pde/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

constexpr std::size_t most_points_of_a_curve = 100000;

}  // namespace

double length_at(const EdgeLength& length, const Point& point) {
  const double value = length(point[0], point[1]);
  require(value > 0 && std::isfinite(value), "mesher: edge length=", value, " at (", point[0], ", ", point[1],
          ") (no triangle has such an edge). Give a function that is positive and finite.");
  return value;
}

std::vector<Point> spaced(const std::function<Point(double)>& curve, double begin, double end, const EdgeLength& length,
                          int fewest) {
  // How many edges fit up to each of many places, refined until a piece is a small part of an edge.
  std::vector<double> places, edges;
  for (std::size_t pieces = 512; pieces < 64 * most_points_of_a_curve; pieces *= 2) {
    places.assign(1, begin);
    edges.assign(1, 0);
    double most = 0;
    Point before = curve(begin);
    double length_before = length_at(length, before);
    for (std::size_t piece = 1; piece <= pieces; ++piece) {
      const double share = static_cast<double>(piece) / static_cast<double>(pieces);
      places.push_back(begin + share * (end - begin));
      const Point here = curve(places.back());
      const double length_here = length_at(length, here);
      const double part = 2 * std::sqrt(squared_distance(before, here)) / (length_before + length_here);
      require(std::isfinite(part), "mesher: curve at ", places.back(), " (is not finite). Give another curve.");
      most = std::max(most, part);
      edges.push_back(edges.back() + part);
      before = here;
      length_before = length_here;
    }
    if (most < 0.1 || edges.back() > 2.0 * most_points_of_a_curve) break;
  }
  require(edges.back() < static_cast<double>(most_points_of_a_curve), "mesher: points=", edges.back(),
          " (along one curve). Give larger edge lengths.");
  const double count = std::max<double>({1, static_cast<double>(fewest), std::round(edges.back())});
  std::vector<Point> points;
  std::size_t piece = 0;
  for (double k = 0; k < count; ++k) {
    const double wanted = k / count * edges.back();
    while (piece + 2 < edges.size() && edges[piece + 1] < wanted) ++piece;
    const double part = edges[piece + 1] - edges[piece];
    const double share = part > 0 ? (wanted - edges[piece]) / part : 0;
    points.push_back(curve(places[piece] + share * (places[piece + 1] - places[piece])));
  }
  return points;
}

std::vector<Point> spaced(const Point& begin, const Point& end, const EdgeLength& length, int fewest) {
  const auto line = [&](double t) {
    return Point{begin[0] + t * (end[0] - begin[0]), begin[1] + t * (end[1] - begin[1])};
  };
  return spaced(line, 0, 1, length, fewest);
}

double distance(const Polygon& line, const Point& point) {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Point &a = line[i], &b = line[i + 1 < line.size() ? i + 1 : 0];
    const double along_x = b[0] - a[0], along_y = b[1] - a[1], x = point[0] - a[0], y = point[1] - a[1];
    const double length = along_x * along_x + along_y * along_y;
    const double share = length > 0 ? std::clamp((x * along_x + y * along_y) / length, 0.0, 1.0) : 0;
    const double off_x = x - share * along_x, off_y = y - share * along_y;
    nearest = std::min(nearest, off_x * off_x + off_y * off_y);
  }
  return std::sqrt(nearest);
}

bool encloses(const Polygon& line, const Point& point) {
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Point &a = line[i], &b = line[(i + 1) % line.size()];
    if ((a[1] > point[1]) != (b[1] > point[1])) inside ^= (cross(a, b, point) > 0) == (b[1] > a[1]);
  }
  return inside;
}

}  // namespace opshap::pde
