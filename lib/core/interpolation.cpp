#include "core/interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

/// The value at a distance from its point of the trigonometric polynomial that is 1 there and 0 at the other points of
/// a ring. The highest wave of an even number of points is a cosine.
double cardinal(int points, double distance, double period) {
  const double angle = 2 * std::numbers::pi * std::remainder(distance, period) / period;
  const double wave = std::sin(points * angle / 2);
  const double half = points % 2 == 0 ? std::tan(angle / 2) : std::sin(angle / 2);
  return half == 0 ? 1 : wave / (points * half);
}

/// The weights of the cubic through the four old points around a place, three or fewer where the axis has no more. Near
/// an end they are the four points at the end. The place is in spacings behind the first point.
void add_cubic(int points, double place, double* weights) {
  const int used = std::min(4, points);
  const int first = std::clamp(static_cast<int>(std::floor(place)) - 1, 0, points - used);
  for (int j = first; j < first + used; ++j) {
    double weight = 1;
    for (int other = first; other < first + used; ++other)
      if (other != j) weight *= (place - other) / (j - other);
    weights[j] += weight;
  }
}

/// [to.points, from.points]: what each old value gives to each new one.
std::vector<double> weights(const Axis& from, const Axis& to) {
  if (!from.periodic) {
    std::vector<double> all(static_cast<std::size_t>(to.points) * static_cast<std::size_t>(from.points));
    for (int i = 0; i < to.points; ++i) {
      const double place = (to.coordinate(i) - from.coordinate(0)) / from.spacing();
      add_cubic(from.points, place, all.data() + static_cast<std::ptrdiff_t>(i) * from.points);
    }
    return all;
  }
  std::vector<double> all;
  for (int i = 0; i < to.points; ++i) {
    for (int j = 0; j < from.points; ++j)
      all.push_back(cardinal(from.points, to.coordinate(i) - from.coordinate(j), from.extent));
  }
  return all;
}

/// The same fields with one axis replaced.
FieldBatch along(const FieldBatch& fields, std::size_t axis, const Axis& to) {
  std::vector<Axis> axes = fields.domain.axes();
  const Axis from = std::exchange(axes[axis], to);
  std::size_t inner = 1;
  for (std::size_t after = axis + 1; after < axes.size(); ++after)
    inner *= static_cast<std::size_t>(axes[after].points);
  const auto old_points = static_cast<std::size_t>(from.points), new_points = static_cast<std::size_t>(to.points);
  const std::size_t outer = fields.values.size() / (old_points * inner);
  const std::vector<double> weight = weights(from, to);
  FieldBatch found = FieldBatch::zeros(Domain::grid(std::move(axes)), fields.batch, fields.channels);
  for (std::size_t block = 0; block < outer; ++block) {
    for (std::size_t i = 0; i < new_points; ++i) {
      for (std::size_t j = 0; j < old_points; ++j) {
        for (std::size_t line = 0; line < inner; ++line) {
          found.values[(block * new_points + i) * inner + line] +=
              weight[i * old_points + j] * fields.values[(block * old_points + j) * inner + line];
        }
      }
    }
  }
  return found;
}

}  // namespace

FieldBatch interpolated(const FieldBatch& fields, const std::vector<int>& shape) {
  require(fields.domain.is_grid(), "interpolation: domain=", fields.domain.describe(),
          " (has no axes to interpolate on). Use a field on a regular grid.");
  require(shape.size() == fields.domain.axes().size(), "interpolation: axes=", shape.size(), " (the domain has ",
          fields.domain.axes().size(), "). Give the points of each axis.");
  FieldBatch found = fields;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    found = along(found, axis, fields.domain.axes()[axis].resampled(shape[axis]));
  return found;
}

}  // namespace opshap
