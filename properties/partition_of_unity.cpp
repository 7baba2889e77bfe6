// Masks that add up to 1, and the graded cells that hold shares of them.

#include "games/partition_of_unity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "support/for_all.hpp"
#include "support/operator_inputs.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// Points at j/n on each axis, whether or not the axis goes round.
Domain unit_grid(const std::vector<int>& shape, bool periodic) {
  std::vector<Axis> axes = Domain::unit(shape).axes();
  for (Axis& axis : axes) axis.periodic = periodic;
  return Domain::grid(std::move(axes));
}

Domain random_domain(Rng& rng) {
  const std::vector<int> shape = rng.below(2) == 0 ? std::vector<int>{24 + static_cast<int>(rng.below(20))}
                                                   : std::vector<int>{8 + static_cast<int>(rng.below(4)), 9};
  std::vector<Axis> axes;
  for (const int points : shape) {
    const double extent = rng.uniform(1, 2);
    const bool periodic = rng.below(2) == 0;
    if (rng.below(2) == 0)
      axes.push_back(Axis::cells(points, extent, 0, periodic));
    else
      axes.push_back(periodic ? Axis::ring(points, extent) : Axis::nodes(points, extent));
  }
  return Domain::grid(std::move(axes));
}

TEST(PartitionOfUnity, MasksAddUpToOneAtEveryPoint) {
  for_all_streams([](Rng& rng) {
    const games::PartitionOfUnity masks = random_partition_of_unity(random_domain(rng), rng);
    const std::vector<double> values = masks.values();
    std::vector<double> sums(static_cast<std::size_t>(masks.domain().points()), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += values[i];
    // Sums of up to 9 masks, each divided by a sum of the kernel's weights.
    RC_ASSERT(mismatch(std::vector<double>(sums.size(), 1.0), sums, rounding(32, 1)) == "");
    RC_ASSERT(std::ranges::all_of(values, [](double value) { return value >= 0 && value <= 1; }));
    RC_ASSERT(std::ranges::all_of(masks.integrals(), [](double integral) { return integral > 0; }));
  });
}

TEST(PartitionOfUnity, IsTheSameFromItsOwnValues) {
  for_all_streams([](Rng& rng) {
    const Domain domain = random_domain(rng);
    const auto points = static_cast<std::size_t>(domain.points());
    std::vector<double> values(3 * points);
    for (std::size_t point = 0; point < points; ++point) {
      const auto split = static_cast<double>(rng.below(65)) / 64;
      values[(point % 3) * points + point] = split;
      values[(point + 1) % 3 * points + point] = 1 - split;
    }
    RC_ASSERT(games::PartitionOfUnity::from_values(domain, values).values() == values);
  });
}

// The step between two centres, at a quarter and a half: t/(1−t) of 1/t − 1/(1−t) = 4 − 4/3 and 0.
TEST(PartitionOfUnity, BumpsAreOneAtTheirCentresAndZeroFromTheNeighboursOn) {
  const std::vector<double> centres = {0.125, 0.375, 0.875};
  const double quarter = 1 / (1 + std::exp(4 - 4.0 / 3));
  const double eighth = 1 / (1 + std::exp(8 - 8.0 / 7)), three_eighths = 1 / (1 + std::exp(8.0 / 3 - 8.0 / 5));
  const std::vector<double> middle = {
      0,       0,      0, quarter, 0.5, 1 - quarter, 1, 1 - eighth, 1 - quarter, 1 - three_eighths, 0.5, three_eighths,
      quarter, eighth, 0, 0};
  for (const bool periodic : {true, false}) {
    const std::vector<double> values = games::PartitionOfUnity::bumps(unit_grid({16}, periodic), {centres}).values();
    EXPECT_EQ("", mismatch(middle, {values.begin() + 16, values.begin() + 32}, rounding(16, 1)));
    EXPECT_EQ(periodic ? 0.5 : 1.0, values[0]) << "half way from 0.875 to 1.125, or beyond the first centre";
    EXPECT_EQ(1.0, values[2]);
    EXPECT_EQ(periodic ? 0.5 : 0.0, values[32]);
    EXPECT_EQ(1.0, values[46]);
  }
}

TEST(PartitionOfUnity, BumpsOfThePlaneAreProducts) {
  const std::vector<double> x = games::graded_centres(3, 1, 2), y = games::graded_centres(4, 1, 0.5);
  const std::vector<double> found = games::PartitionOfUnity::bumps(Domain::unit({8, 12}), {x, y}).values();
  const std::vector<double> of_x = games::PartitionOfUnity::bumps(Domain::unit({8}), {x}).values();
  const std::vector<double> of_y = games::PartitionOfUnity::bumps(Domain::unit({12}), {y}).values();
  std::vector<double> expected;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t row = 0; row < 8; ++row)
        for (std::size_t column = 0; column < 12; ++column)
          expected.push_back(of_x[i * 8 + row] * of_y[j * 12 + column]);
  EXPECT_EQ(expected, found);
}

/// The largest fourth difference of the masks on a line, the border left out when it is one.
double roughness(const games::PartitionOfUnity& masks) {
  const std::vector<double> values = masks.values();
  const auto points = static_cast<std::size_t>(masks.domain().points());
  double roughest = 0;
  for (std::size_t first = 0; first < values.size(); first += points) {
    const auto at = [&](std::size_t point) { return values[first + point % points]; };
    for (std::size_t i = 0; i < (masks.domain().periodic() ? points : points - 4); ++i)
      roughest = std::max(roughest, std::abs(at(i) - 4 * at(i + 1) + 6 * at(i + 2) - 4 * at(i + 3) + at(i + 4)));
  }
  return roughest;
}

// Fourth differences of a smooth function fall like h⁴, those of a function with a kink like h.
TEST(PartitionOfUnity, BumpsGaussiansAndSmoothedCellsAreSmooth) {
  for (const bool periodic : {true, false}) {
    const auto roughnesses = [&](int points) {
      const Domain domain = unit_grid({points}, periodic);
      return std::vector<double>{
          roughness(games::PartitionOfUnity::bumps(domain, {{0.1, 0.4, 0.8}})),
          roughness(games::PartitionOfUnity::gaussians(domain, std::vector<double>{0.1, 0.4, 0.8}, 0.1)),
          roughness(games::PartitionOfUnity::smoothed_cells(domain, Partition::blocks(domain, 4), 0.1))};
    };
    const std::vector<double> coarse = roughnesses(1024), fine = roughnesses(2048);
    for (std::size_t kind = 0; kind < coarse.size(); ++kind)
      EXPECT_GT(coarse[kind] / fine[kind], 12) << "16 in the limit; kind " << kind << (periodic ? ", periodic" : "");
  }
}

TEST(PartitionOfUnity, GaussiansHaveTheirQuotients) {
  const Domain domain = unit_grid({10, 10}, false);
  const std::vector<double> centres = {0.2, 0.5, 0.7, 0.5};
  const std::vector<double> values = games::PartitionOfUnity::gaussians(domain, centres, 0.25).values();
  // At (0.3, y): |x − c|² differ by 0.16 − 0.01, whatever y is.
  const double expected = 1 / (1 + std::exp(-0.15 / (2 * 0.0625)));
  for (std::size_t column = 0; column < 10; ++column)
    EXPECT_EQ("", mismatch(expected, values[30 + column], rounding(64, 1)));
  const std::vector<double> wrapped =
      games::PartitionOfUnity::gaussians(unit_grid({10, 10}, true), std::vector<double>{0, 0, 0.5, 0}, 0.25).values();
  EXPECT_EQ("", mismatch(wrapped[10], wrapped[90], rounding(64, 1)))
      << "0.1 and 0.9 are equally far from 0 on a circle";
  const double chord = 1 / (std::numbers::pi * std::numbers::pi);
  EXPECT_EQ("", mismatch(1 / (1 + std::exp(-chord / (2 * 0.0625))), wrapped[0], rounding(64, 1)));
}

TEST(PartitionOfUnity, NarrowGaussiansShowTheNearestCentre) {
  const std::vector<double> values =
      games::PartitionOfUnity::gaussians(Domain::unit({10}), std::vector<double>{0.12, 0.67}, 1e-3).values();
  EXPECT_EQ((std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0}), values);
}

TEST(PartitionOfUnity, SmoothedCellsAreTheCellsWithinRadius) {
  for_all_streams([](Rng& rng) {
    Domain domain = random_domain(rng);
    const Partition cells = random_cells(domain, 1 + static_cast<int>(rng.below(6)), rng);
    const auto points = static_cast<std::size_t>(domain.points());
    std::vector<double> indicators(static_cast<std::size_t>(cells.players) * points, 0.0);
    for (std::size_t point = 0; point < points; ++point)
      indicators[static_cast<std::size_t>(cells.player_of[point]) * points + point] = 1;
    RC_ASSERT(games::PartitionOfUnity::smoothed_cells(domain, cells, 1e-3).values() == indicators);
  });
  const Domain line = Domain::unit({32});
  const auto values = games::PartitionOfUnity::smoothed_cells(line, Partition::blocks(line, 2), 0.1).values();
  for (const std::size_t inside : {4U, 8U, 12U}) EXPECT_EQ(1.0, values[inside]);
  for (const std::size_t outside : {20U, 24U, 27U}) EXPECT_EQ(0.0, values[outside]);
  EXPECT_EQ("", mismatch(1, values[0] + values[31], rounding(8, 1))) << "the edge between the last and the first point";
  EXPECT_GT(values[0], 0.5);
  EXPECT_LT(values[0], 1);
  const Domain open = unit_grid({32}, false);
  EXPECT_EQ(1.0, games::PartitionOfUnity::smoothed_cells(open, Partition::blocks(open, 2), 0.1).values()[0]);
}

TEST(PartitionOfUnity, SharesAreTheIntegralsOverTheCells) {
  for_all_streams([](Rng& rng) {
    const games::PartitionOfUnity masks = random_partition_of_unity(random_domain(rng), rng);
    const Partition cells = random_cells(masks.domain(), 5, rng);
    const auto points = static_cast<std::size_t>(masks.domain().points()), m = static_cast<std::size_t>(masks.masks());
    const std::vector<double> values = masks.values();
    std::vector<double> expected(5 * m, 0.0), found(5 * m, 0.0);
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<double> parts(points);
      for (std::size_t point = 0; point < points; ++point)
        parts[point] = values[i * points + point] * masks.domain().volume(static_cast<std::int64_t>(point));
      const double whole = std::accumulate(parts.begin(), parts.end(), 0.0);
      for (std::size_t point = 0; point < points; ++point)
        expected[static_cast<std::size_t>(cells.player_of[point]) * m + i] += parts[point] / whole;
    }
    const games::SparseRows shares = masks.shares(cells);
    for (std::size_t player = 0; player < 5; ++player) shares.add_to(std::span(found).subspan(player * m, m), player);
    RC_ASSERT(mismatch(expected, found, rounding(4.0 * static_cast<double>(points), 1)) == "");
  });
}

TEST(PartitionOfUnity, CombineAndIntegrateAreTransposes) {
  for_all_streams([](Rng& rng) {
    const games::PartitionOfUnity masks = random_partition_of_unity(random_domain(rng), rng);
    const FieldBatch field = random_field(masks.domain(), 1, rng);
    std::vector<double> coefficients(static_cast<std::size_t>(masks.masks())), moments(coefficients.size());
    for (double& coefficient : coefficients) coefficient = rng.normal();
    std::vector<double> combined(field.values.size());
    masks.combine(coefficients, combined);
    masks.integrate(field.values, moments);
    const double over_points = std::inner_product(combined.begin(), combined.end(), field.values.begin(), 0.0);
    const double over_masks = std::inner_product(moments.begin(), moments.end(), coefficients.begin(), 0.0);
    // At most 12·9 points of size 16 and 9 masks.
    RC_ASSERT(mismatch(over_points, over_masks, rounding(1000, 16)) == "");
  });
}

TEST(PartitionOfUnity, NamesTheDeviationAndThePlace) {
  const Domain domain = Domain::unit({4, 5});
  std::vector<double> values(40, 0.5);
  EXPECT_EQ("", refusal([&] { games::PartitionOfUnity::from_values(domain, values); }));
  values[13] -= 0.125;
  values[20 + 17] += 1e-9;
  const std::string words = refusal([&] { games::PartitionOfUnity::from_values(domain, values); });
  EXPECT_TRUE(has(words, {"deviation=-0.125", "point 13, x=0.5, y=0.6"}));
  values[13] += 0.125;
  EXPECT_TRUE(has(refusal([&] { games::PartitionOfUnity::from_values(domain, values); }), "point 17")) << words;
}

TEST(PartitionOfUnity, RefusesWhatIsNoPartition) {
  const Domain line = Domain::unit({8}), plane = Domain::unit({8, 8});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto from = [&](std::vector<double> values) {
    return refusal([&] { games::PartitionOfUnity::from_values(line, values); });
  };
  EXPECT_NE("", from({}));
  EXPECT_NE("", from(std::vector<double>(9, 1.0)));
  EXPECT_NE("", from({1, 1, 1, 1, 1, 1, 1, nan}));
  std::vector<double> with_zero(16, 0.0);
  std::fill_n(with_zero.begin(), 8, 1.0);
  EXPECT_TRUE(has(from(with_zero), "mask=1 (0 at each"));
  std::vector<double> negative(16, 2.0);
  std::fill_n(negative.begin(), 8, -1.0);
  EXPECT_TRUE(has(from(negative), "value=-1 (mask 0 at point 0"));
  const auto bumps = [&](const Domain& domain, const std::vector<std::vector<double>>& centres) {
    return refusal([&] { games::PartitionOfUnity::bumps(domain, centres); });
  };
  EXPECT_EQ("", bumps(line, {{0, 0.5}}));
  EXPECT_NE("", bumps(plane, {{0, 0.5}}));
  for (const std::vector<double>& centres : {std::vector<double>{}, {0.5, 0.5}, {0.5, 0.25}, {0.5, 1.25}, {0.5, nan}})
    EXPECT_NE("", bumps(line, {centres}));
  EXPECT_NE("", bumps(line, {{0, 1}})) << "the same place of a periodic axis";
  EXPECT_NE("", bumps(line, {{0.01, 0.02, 0.03}})) << "no point near the middle one";
  EXPECT_NE("", bumps(line, {std::vector<double>(9, 0.5)}));
  const auto gaussians = [&](const std::vector<double>& centres, double width) {
    return refusal([&] { games::PartitionOfUnity::gaussians(plane, centres, width); });
  };
  EXPECT_EQ("", gaussians({0.5, 0.5}, 1e-3));
  for (const std::vector<double>& centres : {std::vector<double>{}, {0.5, 0.5, 0.5}, {0.5, 1.5}, {0.5, nan}})
    EXPECT_NE("", gaussians(centres, 1));
  for (const double width : {0.0, nan}) EXPECT_NE("", gaussians({0.5, 0.5}, width));
  EXPECT_NE("", gaussians({0.5, 0.5, 0.51, 0.5, 0.52, 0.5}, 1e-4)) << "no point is nearest to the second one";
  const auto cells = [&](const Domain& domain, double radius) {
    return refusal([&] { games::PartitionOfUnity::smoothed_cells(domain, Partition::blocks(line, 4), radius); });
  };
  EXPECT_EQ("", cells(line, 0.49));
  for (const double radius : {0.5, 0.0, nan}) EXPECT_NE("", cells(line, radius));
  EXPECT_NE("", cells(plane, 0.1));
  const Domain open = unit_grid(line.shape(), false);
  EXPECT_EQ("", cells(open, 100));
  EXPECT_NE("", cells(open, -1));
  EXPECT_NE("", refusal([] { games::graded_centres(0, 1, 1); }));
}

TEST(Grading, IsAMapOfTheUnitIntervalOntoItself) {
  for (const double ratio : {1e-6, 0.2, 1.0, 1 + 1e-9, 3.0, 1e6}) {
    const Grading grading(ratio);
    EXPECT_EQ(0, grading(0));
    EXPECT_EQ(1, grading(1));
    for (const double x : {0.1, 0.5, 0.9})
      EXPECT_EQ("", mismatch(x, grading.inverse(grading(x)), rounding(1e3 * std::max(ratio, 1 / ratio), 1)));
    // The last quarter is ratio^¾ times the first: (r − r^¾)/(r^¼ − 1).
    const double quarters = (1 - grading(0.75)) / grading(0.25);
    EXPECT_EQ("", mismatch(1, quarters / std::pow(ratio, 0.75), rounding(1e6, 1))) << "1 − 0.99997 for 10⁻⁶";
  }
  for (const double ratio : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(Grading{ratio}, InvalidArgument);
}

TEST(GradedPartition, OfRatioOneIsTheOneOfEqualBlocks) {
  for (const int players : {1, 4, 16, 64})
    for (const auto& shape : std::vector<std::vector<int>>{{64}, {8, 16}}) {
      const Domain domain = Domain::unit(shape);
      EXPECT_EQ(Partition::blocks(domain, players).player_of, Partition::graded(domain, players, 1).player_of);
    }
  const Domain odd = Domain::unit({147});  // 49·(1/49) is not 1
  EXPECT_EQ(Partition::blocks(odd, 49).player_of, Partition::graded(odd, 49, 1).player_of);
}

TEST(GradedPartition, IsNestedAndFallsByTheRatio) {
  const Domain line = Domain::unit({4096}), plane = Domain::unit({128, 128});
  for (const double ratio : {0.125, 2.0, 4.0}) {
    for (int players = 2; players <= 256; players *= 2) {
      const Partition coarse = Partition::graded(line, players, ratio);
      const Partition fine = Partition::graded(line, 2 * players, ratio);
      for (std::size_t point = 0; point < coarse.player_of.size(); ++point)
        ASSERT_EQ(coarse.player_of[point], fine.player_of[point] / 2);
    }
    const Partition many = Partition::graded(line, 128, ratio);
    // The two outer widths are those of the map up to half a cell of the partition and one point of the grid.
    const double first = std::round(many.volumes.front() * 4096), last = std::round(many.volumes.back() * 4096);
    EXPECT_NEAR(std::log(ratio), std::log(first / last),
                std::log(std::max(ratio, 1 / ratio)) / 64 + 1 / first + 1 / last);
    const Partition coarse = Partition::graded(plane, 16, ratio), fine = Partition::graded(plane, 64, ratio);
    for (std::size_t point = 0; point < coarse.player_of.size(); ++point) {
      const int row = fine.player_of[point] / 8, column = fine.player_of[point] % 8;
      ASSERT_EQ(coarse.player_of[point], row / 2 * 4 + column / 2);
    }
  }
}

TEST(GradedPartition, RefusesCellsWithoutPoints) {
  for (const auto& [players, ratio] : {std::pair(0, 2.0), {17, 1.0}, {16, 2.0}, {4, 1e6}, {4, 0.0}})
    EXPECT_THROW(Partition::graded(Domain::unit({16}), players, ratio), InvalidArgument);
  EXPECT_THROW(Partition::graded(Domain::unit({16, 16}), 8, 2), InvalidArgument);
  EXPECT_NO_THROW(Partition::graded(Domain::unit({16}), 15, 1.01)) << "cells are not wider than points need";
}

}  // namespace
}  // namespace opshap
