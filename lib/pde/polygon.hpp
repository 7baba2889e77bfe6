#pragma once

#include <array>
#include <functional>
#include <vector>

namespace opshap::pde {

/// A point of the plane.
using Point = std::array<double, 2>;
/// A closed line through points; the last one is joined to the first one, which is not repeated.
using Polygon = std::vector<Point>;
/// The wanted length of an edge at (x, y), positive everywhere in the domain.
using EdgeLength = std::function<double(double x, double y)>;

/// Twice the area of a triangle, positive when it is anticlockwise.
inline double cross(const Point& a, const Point& b, const Point& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

inline double squared_distance(const Point& a, const Point& b) {
  const double x = b[0] - a[0], y = b[1] - a[1];
  return x * x + y * y;
}

/// The wanted length of an edge at a point. Throws InvalidArgument for one that is not positive and finite.
double length_at(const EdgeLength& length, const Point& point);

/// Points along a curve whose distances are the wanted edge lengths, all multiplied by one factor near 1 so that a
/// whole number of them fits. The first is curve(begin); curve(end) is left out, so that parts of a polygon join. At
/// least `fewest` points.
///
/// Throws InvalidArgument for an edge length or a place of the curve that is not finite, an edge length that is not
/// positive, and more than 100 000 points.
std::vector<Point> spaced(const std::function<Point(double)>& curve, double begin, double end, const EdgeLength& length,
                          int fewest = 1);
/// The same along the straight line between two points.
std::vector<Point> spaced(const Point& begin, const Point& end, const EdgeLength& length, int fewest = 1);

/// From a point to the nearest point of a closed line; 0 on it. Cost: 3 ns an edge.
double distance(const Polygon& line, const Point& point);
/// Whether a point is inside a closed line.
bool encloses(const Polygon& line, const Point& point);

}  // namespace opshap::pde
