#include "core/axis.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace opshap {

namespace {

void require_axis(int points, int least, double extent) {
  require(points >= least, "domain: points=", points, " (an axis needs at least ", least, "). Give a larger number.");
  require(std::isfinite(extent) && extent > 0, "domain: extent=", extent,
          " (an axis has a positive length). Give a positive number.");
}

}  // namespace

Axis Axis::ring(int points, double extent, double origin) {
  require_axis(points, 1, extent);
  return {.points = points, .origin = origin, .extent = extent, .intervals = static_cast<double>(points)};
}

Axis Axis::cells(int points, double extent, double origin, bool periodic) {
  require_axis(points, 1, extent);
  return {.points = points,
          .origin = origin,
          .extent = extent,
          .intervals = static_cast<double>(points),
          .offset = 0.5,
          .centring = Centring::cell,
          .periodic = periodic};
}

Axis Axis::nodes(int points, double extent, double origin) {
  require_axis(points, 2, extent);
  return {.points = points,
          .origin = origin,
          .extent = extent,
          .intervals = static_cast<double>(points - 1),
          .offset = 0,
          .centring = Centring::node,
          .periodic = false};
}

Axis Axis::closed(int points, double extent, double origin) {
  Axis axis = nodes(points, extent, origin);
  axis.keeps_ends = true;
  return axis;
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

}  // namespace opshap
