// Fields on grids that the data were not made for: exact for what a grid can hold, and the same where points coincide.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.hpp"
#include "core/field.hpp"
#include "core/rng.hpp"
#include "support/for_all.hpp"

namespace opshap {
namespace {

/// Sums of waves of at most `highest` periods on each axis.
class Waves {
 public:
  Waves(int dimension, int highest, std::uint64_t seed) {
    Rng rng(seed, "waves");
    for (int wave = 0; wave < 6; ++wave) {
      Term term{.amplitude = rng.normal(), .phase = 6 * rng.uniform()};
      for (int axis = 0; axis < dimension; ++axis)
        term.periods.push_back(rng.below(static_cast<std::uint64_t>(highest + 1)));
      terms_.push_back(std::move(term));
    }
  }

  double at(const Domain& domain, std::int64_t point) const {
    const std::vector<double> position = domain.position(point);
    double sum = 0;
    for (const Term& term : terms_) {
      double angle = term.phase;
      for (std::size_t axis = 0; axis < position.size(); ++axis)
        angle += 2 * std::numbers::pi * static_cast<double>(term.periods[axis]) *
                 (position[axis] - domain.axes()[axis].origin) / domain.axes()[axis].extent;
      sum += term.amplitude * std::cos(angle);
    }
    return sum;
  }

  FieldBatch on(const Domain& domain) const {
    FieldBatch field = FieldBatch::zeros(domain, 1, 1);
    for (std::int64_t point = 0; point < domain.points(); ++point)
      field.values[static_cast<std::size_t>(point)] = at(domain, point);
    return field;
  }

 private:
  struct Term {
    double amplitude = 0, phase = 0;
    std::vector<std::uint64_t> periods = {};
  };
  std::vector<Term> terms_;
};

/// A value is a sum of as many products as an axis has points, each with a weight of order 1 from an angle with a few
/// roundings, once for each axis.
double rounding(const Domain& from) {
  double points = 0;
  for (const int axis : from.shape()) points += axis;
  return 64 * std::numeric_limits<double>::epsilon() * points;
}

Domain ring_or_torus(int dimension, int points, bool cells) {
  std::vector<Axis> axes;
  for (int axis = 0; axis < dimension; ++axis)
    axes.push_back(cells ? Axis::cells(points + axis, 2.5, -1, true) : Axis::ring(points + axis, 2.5, -1));
  return Domain::grid(std::move(axes));
}

TEST(Interpolation, IsExactForWavesThatTheOldGridHolds) {
  for_all([] {
    const int dimension = *rc::gen::inRange(1, 3), points = *rc::gen::inRange(5, 20);
    const Domain from = ring_or_torus(dimension, points, *rc::gen::arbitrary<bool>());
    const Waves waves(dimension, (points - 1) / 2, *rc::gen::arbitrary<std::uint64_t>());
    std::vector<int> shape;
    for (int axis = 0; axis < dimension; ++axis) shape.push_back(*rc::gen::inRange(1, 40));
    const FieldBatch found = interpolated(waves.on(from), shape);
    RC_ASSERT(found.domain.shape() == shape);
    for (std::int64_t point = 0; point < found.domain.points(); ++point)
      RC_ASSERT(std::abs(found.values[static_cast<std::size_t>(point)] - waves.at(found.domain, point)) <
                6 * 4 * rounding(from));
  });
}

TEST(Interpolation, AgreesWithStridesWhereTheyExist) {
  for_all([] {
    const int points = 4 * *rc::gen::inRange(1, 12);
    Rng rng(*rc::gen::arbitrary<std::uint64_t>(), "field");
    FieldBatch field = FieldBatch::zeros(Domain::unit({points, points}), 2, 3);
    for (double& value : field.values) value = rng.normal();
    const std::vector<int> shape = {points / 2, points / 4};
    const FieldBatch strides = strided(field, shape), found = interpolated(field, shape);
    RC_ASSERT(found.domain == strides.domain);
    for (std::size_t i = 0; i < strides.values.size(); ++i)
      RC_ASSERT(std::abs(found.values[i] - strides.values[i]) < 6 * rounding(field.domain));
  });
}

TEST(Interpolation, IsExactForCubicsOnAxesThatAreNotPeriodic) {
  for_all([] {
    const int points = *rc::gen::inRange(4, 20), wanted = *rc::gen::inRange(2, 40);
    const bool cells = *rc::gen::arbitrary<bool>();
    const Axis axis = cells ? Axis::cells(points, 2, -1) : Axis::closed(points, 2, -1);
    const auto cubic = [](double x, double y) { return 1 + x * (2 - x * (3 - 4 * x)) + std::cos(y); };
    FieldBatch field = FieldBatch::zeros(Domain::grid({axis, Axis::ring(8, 2 * std::numbers::pi)}), 1, 1);
    for (std::int64_t point = 0; point < field.domain.points(); ++point)
      field.values[static_cast<std::size_t>(point)] =
          cubic(field.domain.position(point)[0], field.domain.position(point)[1]);
    const FieldBatch found = interpolated(field, {wanted, 5});
    RC_ASSERT(found.domain.axes()[0] == axis.resampled(wanted));
    for (std::int64_t point = 0; point < found.domain.points(); ++point) {
      const std::vector<double> at = found.domain.position(point);
      // The largest value is 11. Beyond the outermost middle of a cell, by half a cell at the most, the four weights
      // add up to 4.25 in absolute value.
      RC_ASSERT(std::abs(found.values[static_cast<std::size_t>(point)] - cubic(at[0], at[1])) <
                11 * 4.25 * rounding(field.domain));
    }
  });
}

TEST(Interpolation, RefusesAnotherNumberOfAxes) {
  EXPECT_THROW(interpolated(FieldBatch::zeros(Domain::unit({8}), 1, 1), {7, 7}), InvalidArgument);
  EXPECT_THROW(interpolated(FieldBatch::zeros(Domain::unit({8}), 1, 1), {0}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
