#include "core/field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/error.hpp"

namespace opshap {

FieldBatch FieldBatch::zeros(Domain domain, std::int64_t batch, int channels) {
  FieldBatch fields{.domain = std::move(domain), .batch = batch, .channels = channels, .values = {}};
  fields.values.assign(static_cast<std::size_t>(batch) * fields.field_size(), 0.0);
  return fields;
}

FieldBatch FieldBatch::one(std::int64_t index) const {
  const auto from = field(index);
  return {.domain = domain, .batch = 1, .channels = channels, .values = {from.begin(), from.end()}};
}

FieldBatch strided(const FieldBatch& fields, const std::vector<int>& shape) {
  const Domain& native = fields.domain;
  const Domain domain = native.strided(shape);
  std::vector<int> strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) strides.push_back(native.axes()[axis].stride_to(shape[axis]));
  FieldBatch coarse = FieldBatch::zeros(domain, fields.batch, fields.channels);
  const int rows = shape.size() == 2 ? shape[0] : 1, columns = shape.back();
  for (std::int64_t plane = 0; plane < fields.batch * fields.channels; ++plane) {
    const double* from = fields.values.data() + plane * native.points();
    double* to = coarse.values.data() + plane * domain.points();
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        to[row * columns + column] =
            from[static_cast<std::int64_t>(row) * strides.front() * native.shape().back() + column * strides.back()];
      }
    }
  }
  return coarse;
}

void require_finite(const FieldBatch& fields, const char* who) {
  const auto bad = std::ranges::find_if_not(fields.values, [](double value) { return std::isfinite(value); });
  if (bad == fields.values.end()) return;
  const std::int64_t flat = bad - fields.values.begin();
  const std::int64_t points = fields.domain.points();
  throw DataError(message(who, ": value=", *bad, " (sample ", flat / (points * fields.channels), ", channel ",
                          flat / points % fields.channels, ", point ", flat % points,
                          " is not a finite number). Repair the field or leave that sample out."));
}

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
  std::vector<double> all(static_cast<std::size_t>(to.points) * static_cast<std::size_t>(from.points));
  double* row = all.data();
  for (int i = 0; i < to.points; ++i, row += from.points) {
    if (!from.periodic) add_cubic(from.points, (to.coordinate(i) - from.coordinate(0)) / from.spacing(), row);
    for (int j = 0; from.periodic && j < from.points; ++j)
      row[j] = cardinal(from.points, to.coordinate(i) - from.coordinate(j), from.extent);
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
