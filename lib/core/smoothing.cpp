#include "core/smoothing.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap {

namespace {

constexpr int most_smoothed_points = 1 << 15;
/// Beyond so many standard deviations a Gaussian is less than the rounding of its largest value.
constexpr double reach_of_gaussian = 9;

/// The Gaussian at a distance, with its images one period apart.
double with_images(double distance, double period, double deviation) {
  const double nearest = std::remainder(distance, period);
  double sum = 0;
  for (double away = 0; away * period <= reach_of_gaussian * deviation + period; ++away) {
    const double right = (nearest + away * period) / deviation, left = (nearest - away * period) / deviation;
    sum += std::exp(-right * right / 2) + (away > 0 ? std::exp(-left * left / 2) : 0);
  }
  return sum;
}

/// The weights of the points of an axis in the average around each of them.
class SmoothingWeights {
 public:
  SmoothingWeights(const Axis& axis, double width) : axis_(axis), row_(static_cast<std::size_t>(axis.points)) {
    const double deviation = width * axis.extent, period = axis.periodic ? axis.extent : 2 * axis.extent;
    for (int steps = 0; steps < axis.points; ++steps)
      apart_.push_back(with_images(steps * axis.spacing(), period, deviation));
    // The mirror image of a point at x, with the walls at 0 and at the extent, is at −x.
    for (int steps = 0; steps < 2 * axis.points - 1 && !axis.periodic; ++steps)
      mirrored_.push_back(with_images((steps + 2 * axis.offset) * axis.spacing(), period, deviation));
  }

  /// Those around a point; they add up to 1.
  const std::vector<double>& around(int point) {
    for (int other = 0; other < axis_.points; ++other) {
      double weight = apart_[static_cast<std::size_t>(std::abs(point - other))];
      if (!axis_.periodic) weight += mirrored_[static_cast<std::size_t>(point + other)];
      row_[static_cast<std::size_t>(other)] = weight * axis_.length(other);
    }
    const double sum = std::accumulate(row_.begin(), row_.end(), 0.0);
    for (double& weight : row_) weight /= sum;
    return row_;
  }

 private:
  const Axis& axis_;
  std::vector<double> row_, apart_, mirrored_;
};

/// Along an axis whose neighbours are `stride` numbers apart.
void smooth_along(const Axis& axis, std::size_t stride, double width, std::vector<double>& values) {
  const std::vector<double> before = values;
  const std::size_t points = static_cast<std::size_t>(axis.points), block = points * stride;
  SmoothingWeights weights(axis, width);
  for (std::size_t point = 0; point < points; ++point) {
    const std::vector<double>& row = weights.around(static_cast<int>(point));
    for (std::size_t first = 0; first < values.size(); first += block) {
      for (std::size_t line = 0; line < stride; ++line) {
        double sum = 0;
        for (std::size_t other = 0; other < points; ++other) sum += row[other] * before[first + other * stride + line];
        values[first + point * stride + line] = sum;
      }
    }
  }
}

}  // namespace

void require_smoothing(const char* who, const Domain& domain, double width) {
  require(width > 0 && width <= 1, who, ": blur=", width,
          " (is the width of a Gaussian as a part of an axis's length). Give more than 0 and at most 1.");
  require(domain.is_grid(), who, ": blur=", width, " (the domain is a ", domain.describe(),
          ", which does not say where it ends or has holes, so nobody can smooth on it). Give another baseline, for "
          "example a field that you smoothed.");
  for (const Axis& axis : domain.axes()) {
    require(axis.points <= most_smoothed_points, who, ": blur=", width, " (an axis has ", axis.points,
            " points, and at most ", most_smoothed_points, " can be smoothed). Give a field that you smoothed.");
    const double least = axis.spacing() / axis.extent / 2;
    require(width >= least, who, ": blur=", width, " (", axis.points, " points on an axis are ", 2 * least,
            " of its length apart, and a Gaussian narrower than half of that falls between them). Give ",
            shortest(least), " or more.");
  }
}

FieldBatch smoothed(const FieldBatch& fields, double width) {
  require_smoothing("smoothed", fields.domain, width);
  FieldBatch found = fields;
  std::size_t stride = 1;
  const std::vector<Axis>& axes = fields.domain.axes();
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    smooth_along(axes[axis], stride, width, found.values);
    stride *= static_cast<std::size_t>(axes[axis].points);
  }
  return found;
}

}  // namespace opshap
