// Domains and scenarios: grids and meshes share out their volume among their points, and one rule makes one game of a
// field.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "core/explainer.hpp"
#include "core/scenario.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "games/cell_mask_game.hpp"
#include "games/partition_of_unity.hpp"
#include "support/for_all.hpp"
#include "support/operator_inputs.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

Axis random_axis(Rng& rng) {
  const int points = 2 * (1 + static_cast<int>(rng.below(12)));
  const double extent = rng.uniform(0.5, 3), origin = rng.uniform(-1, 1);
  const auto kind = rng.below(4);
  Axis axis = kind == 0   ? Axis::ring(points, extent, origin)
              : kind == 1 ? Axis::nodes(points, extent, origin)
                          : Axis::cells(points, extent, origin, kind == 2);
  return rng.below(2) == 0 ? axis : axis.strided(2);
}

Domain random_grid(Rng& rng) {
  std::vector<Axis> axes = {random_axis(rng)};
  if (rng.below(2) == 0) axes.push_back(random_axis(rng));
  return Domain::grid(std::move(axes));
}

/// The unit square cut into nx × ny rectangles, each cut into two triangles. Inner nodes are moved by up to a fifth of
/// a rectangle.
Domain random_triangulation(Rng& rng) {
  const int nx = 1 + static_cast<int>(rng.below(4)), ny = 1 + static_cast<int>(rng.below(4));
  std::vector<double> points;
  std::vector<std::int64_t> cells;
  for (int i = 0; i <= nx; ++i) {
    for (int j = 0; j <= ny; ++j) {
      const bool inner = i > 0 && i < nx && j > 0 && j < ny;
      points.push_back((i + (inner ? rng.uniform(-0.2, 0.2) : 0)) / nx);
      points.push_back((j + (inner ? rng.uniform(-0.2, 0.2) : 0)) / ny);
      if (i == nx || j == ny) continue;
      const std::int64_t corner = i * (ny + 1) + j;
      cells.insert(cells.end(), {corner, corner + ny + 1, corner + 1, corner + 1, corner + ny + 1, corner + ny + 2});
    }
  }
  return Domain::mesh(Mesh::of_cells(2, std::move(points), std::move(cells)));
}

Domain random_line(Rng& rng) {
  std::vector<double> points = {rng.uniform(-1, 1)};
  std::vector<std::int64_t> cells;
  for (std::int64_t edge = 0, edges = 1 + static_cast<std::int64_t>(rng.below(12)); edge < edges; ++edge) {
    points.push_back(points.back() + rng.uniform(0.1, 1));
    cells.insert(cells.end(), {edge, edge + 1});
  }
  return Domain::mesh(Mesh::of_cells(1, std::move(points), std::move(cells)));
}

Domain random_mesh(Rng& rng) { return rng.below(2) == 0 ? random_triangulation(rng) : random_line(rng); }

/// At most nine players, and at most one per point.
Partition random_groups(const Domain& domain, Rng& rng) {
  const auto most = static_cast<std::uint64_t>(std::min<std::int64_t>(domain.points(), 9));
  return random_cells(domain, 1 + static_cast<int>(rng.below(most)), rng);
}

/// G(u)(x) = (1 + x₀)·(∫u₀ + ½∫u₁)² on any domain: its Shapley values are the player's own term times the whole, for a
/// baseline of 0.
class SquaredIntegral final : public Operator {
 public:
  explicit SquaredIntegral(int dimension) : dimension_(dimension) {}
  std::string describe() const override { return "squared integral"; }
  int dimension() const override { return dimension_; }
  int input_channels() const override { return 2; }
  int output_channels() const override { return 1; }

  FieldBatch apply(const FieldBatch& inputs) const override {
    FieldBatch outputs = FieldBatch::zeros(inputs.domain, inputs.batch, 1);
    for (std::int64_t b = 0; b < inputs.batch; ++b)
      for (std::int64_t point = 0; point < inputs.domain.points(); ++point)
        outputs.field(b)[static_cast<std::size_t>(point)] =
            factor(inputs.domain, point) * std::pow(whole(inputs, b), 2);
    return outputs;
  }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    if (!readout.is_query()) return by_queries(readout, [&](Query each) { return gradient_at(inputs, each); });
    const Query query = readout.query();
    Gradient found{.values = values_at(inputs, query), .gradient = FieldBatch::zeros(inputs.domain, inputs.batch, 2)};
    const auto points = static_cast<std::size_t>(inputs.domain.points());
    for (std::int64_t b = 0; b < inputs.batch; ++b) {
      for (std::size_t i = 0; i < 2 * points; ++i)
        found.gradient.field(b)[i] = 2 * factor(inputs.domain, query.point) * whole(inputs, b) * weight(i / points) *
                                     inputs.domain.volume(static_cast<std::int64_t>(i % points));
    }
    return found;
  }

  static double weight(std::size_t channel) { return channel == 0 ? 1 : 0.5; }
  static double factor(const Domain& domain, std::int64_t point) { return 1 + domain.position(point)[0]; }
  static double whole(const FieldBatch& fields, std::int64_t b) {
    const auto points = static_cast<std::size_t>(fields.domain.points());
    double sum = 0;
    for (std::size_t i = 0; i < 2 * points; ++i)
      sum += weight(i / points) * fields.field(b)[i] * fields.domain.volume(static_cast<std::int64_t>(i % points));
    return sum;
  }

 private:
  int dimension_;
};

TEST(Domains, TheVolumesOfThePointsAddUpToTheDomain) {
  for_all_streams([](Rng& rng) {
    const Domain domain = rng.below(2) == 0 ? random_grid(rng) : random_mesh(rng);
    RC_TAG(domain.is_grid() ? "grid" : "mesh");
    double volume = 0;
    for (std::int64_t point = 0; point < domain.points(); ++point) volume += domain.volume(point);
    // Volumes of up to 9, up to 24² of them, and a few roundings each in coordinates of size 4.
    RC_ASSERT(mismatch(domain.volume(), volume, rounding(8.0 * static_cast<double>(domain.points()), 16)) == "");
  });
}

TEST(Domains, ATriangulationIntegratesLinearFunctionsExactly) {
  for_all_streams([](Rng& rng) {
    const Domain domain = random_triangulation(rng);
    const double a = rng.normal(), b = rng.normal(), c = rng.normal();
    double integral = 0;
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      const std::vector<double> at = domain.position(point);
      integral += domain.volume(point) * (a + b * at[0] + c * at[1]);
    }
    // Of the unit square, whatever the inner nodes are: the rule is exact on every triangle.
    RC_ASSERT(mismatch(a + b / 2 + c / 2, integral,
                       rounding(64.0 * static_cast<double>(domain.points()),
                                1 + std::abs(a) + std::abs(b) + std::abs(c))) == "");
  });
}

TEST(Domains, AStrideKeepsTheCoordinatesOfItsPoints) {
  for_all_streams([](Rng& rng) {
    const int points = 4 * (1 + static_cast<int>(rng.below(8)));
    for (const Axis& fine : {Axis::ring(points, 2, -1), Axis::nodes(points, 2, -1), Axis::cells(points, 2, -1)}) {
      for (const int stride : {1, 2, 4}) {
        const Axis coarse = fine.strided(stride);
        RC_ASSERT(coarse.points == points / stride);
        for (int index = 0; index < coarse.points; ++index)
          RC_ASSERT(mismatch(fine.coordinate(stride * index), coarse.coordinate(index), rounding(8, 2)) == "");
      }
    }
  });
}

// Every size that a stride leaves of 421 nodes, as the data sets of Darcy flow are thinned out.
TEST(Domains, AStrideOfAClosedAxisKeepsBothEnds) {
  const Axis fine = Axis::closed(421, 2, -1);
  std::vector<int> sizes;
  for (int points = 421; points >= 61; --points) {
    const int stride = fine.stride_to(points);
    if (stride == 0) continue;
    sizes.push_back(points);
    const Axis coarse = fine.strided(stride);
    EXPECT_EQ(points, coarse.points);
    EXPECT_DOUBLE_EQ(-1, coarse.coordinate(0));
    EXPECT_DOUBLE_EQ(1, coarse.coordinate(points - 1));
    EXPECT_EQ("", mismatch(coarse.spacing() / 2, coarse.length(points - 1), rounding(8, 1))) << "nothing is left out";
    EXPECT_EQ(Axis::closed(points, 2, -1), coarse);
  }
  EXPECT_EQ((std::vector<int>{421, 211, 141, 106, 85, 71, 61}), sizes);
  EXPECT_EQ(0, Axis::closed(16).stride_to(8));
  EXPECT_EQ(2, Axis::nodes(16).stride_to(8)) << "other node grids lose their last point";
}

TEST(Domains, CellCentresAndEndsAreWhereTheyAreDefined) {
  EXPECT_DOUBLE_EQ(0.125, Axis::cells(4).coordinate(0));
  EXPECT_DOUBLE_EQ(0.125, Axis::cells(4).strided(2).coordinate(0));
  EXPECT_DOUBLE_EQ(0.625, Axis::cells(4).strided(2).coordinate(1));
  EXPECT_DOUBLE_EQ(1.0, Axis::nodes(5).coordinate(4));
  EXPECT_DOUBLE_EQ(0.125, Axis::nodes(5).length(0)) << "half an interval at an end";
  EXPECT_DOUBLE_EQ(0.25, Axis::nodes(5).length(1));
  EXPECT_DOUBLE_EQ(0.5, Axis::nodes(6, 1.25).strided(2).length(2)) << "the last point also owns what a stride left out";
  EXPECT_EQ(0, Axis::ring(10).nearest(0.97)) << "around the end of a period";
  EXPECT_EQ(9, Axis::nodes(10).nearest(0.97));
  EXPECT_EQ("grid 4 x 2: x: 4 points on [0, 1), periodic; y: 2 points on [0, 1], in the middle of cells",
            Domain::grid({Axis::ring(4), Axis::cells(2)}).describe());
}

TEST(Domains, ThePositionNamesItsPoint) {
  for_all_streams([](Rng& rng) {
    const Domain domain = rng.below(2) == 0 ? random_grid(rng) : random_mesh(rng);
    const auto point = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(domain.points())));
    RC_ASSERT(domain.nearest(domain.position(point)) == point);
  });
}

// The work per point does not grow with the cloud: eight times the points take about eight times the processor
// time, and would take 64 times if each point asked for all others. 24 leaves a factor of three for caches and noise.
TEST(PointClouds, TheirCostGrowsWithTheNumberOfPoints) {
  const auto seconds = [](int count) {
    Rng rng(3);
    std::vector<double> points(static_cast<std::size_t>(2 * count));
    for (double& coordinate : points) coordinate = rng.normal();  // the box is mostly empty
    const std::clock_t start = std::clock();
    const Mesh cloud = point_cloud(2, std::move(points));
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(count, cloud.size());
    return taken;
  };
  seconds(100);
  EXPECT_LT(seconds(4000) / seconds(500), 24);
}

/// The area of the cell of a point in a box, cut by every other point of the cloud.
double cell_cut_by_all(const std::vector<double>& points, std::size_t own, const std::array<double, 4>& box) {
  using Corner = std::array<double, 2>;
  std::vector<Corner> cell = {{box[0], box[1]}, {box[2], box[1]}, {box[2], box[3]}, {box[0], box[3]}};
  const auto squared = [&](std::size_t point, const Corner& at) {
    return std::pow(points[2 * point] - at[0], 2) + std::pow(points[2 * point + 1] - at[1], 2);
  };
  for (std::size_t other = 0; other < points.size() / 2; ++other) {
    std::vector<Corner> kept;
    for (std::size_t i = 0; other != own && i < cell.size(); ++i) {
      const Corner &from = cell[i], &to = cell[(i + 1) % cell.size()];
      const double start = squared(own, from) - squared(other, from), end = squared(own, to) - squared(other, to);
      if (start <= 0) kept.push_back(from);
      const double share = start / (start - end);
      if ((start <= 0) != (end <= 0))
        kept.push_back({from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])});
    }
    if (other != own) cell = kept;
  }
  double twice = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const Corner &from = cell[i], &to = cell[(i + 1) % cell.size()];
    twice += from[0] * to[1] - from[1] * to[0];
  }
  return twice / 2;
}

// Also where most points crowd in a small part of the box, and the outer cells reach far.
TEST(PointClouds, EachPointOwnsWhatIsNearerToItThanToAnyOther) {
  for (const bool crowded : {false, true}) {
    Rng rng(4);
    std::vector<double> points;
    for (int i = 0; i < 2 * 300; ++i) points.push_back(crowded ? std::pow(rng.normal(), 3) : rng.uniform(0, 1));
    const Mesh cloud = point_cloud(2, points);
    std::array<double, 4> box = {points[0], points[1], points[0], points[1]};
    for (std::size_t i = 0; i < points.size(); ++i) {
      box[i % 2] = std::min(box[i % 2], points[i]);
      box[2 + i % 2] = std::max(box[2 + i % 2], points[i]);
    }
    const double area = (box[2] - box[0]) * (box[3] - box[1]);
    // A side may be off by 1e-9 of its distance from the point, and a cell has about six.
    for (std::size_t point = 0; point < points.size() / 2; ++point)
      EXPECT_NEAR(cell_cut_by_all(points, point, box), cloud.volumes[point], 1e-8 * area) << point;
  }
}

TEST(PointClouds, TheNodesOfAGridHaveTheWeightsOfTheTrapezoidalRule) {
  for_all_streams([](Rng& rng) {
    const auto axis = [&] {
      const int points = 2 + static_cast<int>(rng.below(7));
      const double extent = rng.uniform(0.5, 3), origin = rng.uniform(-1, 1);
      return Axis::nodes(points, extent, origin);
    };
    std::vector<Axis> axes = {axis()};
    if (rng.below(3) > 0) axes.push_back(axis());
    const Domain grid = Domain::grid(axes);
    std::vector<int> order(static_cast<std::size_t>(grid.points()));
    std::iota(order.begin(), order.end(), 0);
    rng.shuffle(order);
    std::vector<double> points, weights;
    for (const int point : order) {
      const std::vector<double> at = grid.position(point);
      points.insert(points.end(), at.begin(), at.end());
      weights.push_back(grid.volume(point));
    }
    // Corners of cells are cuts of nearly parallel lines nowhere: some 20 cuts of numbers up to 9.
    RC_ASSERT(mismatch(weights, point_cloud(grid.dimension(), points).volumes, rounding(1e3, 9)) == "");
  });
}

TEST(PointClouds, APointOwnsWhatIsNearestToIt) {
  Rng rng(5, "point_clouds");
  for (int trial = 0; trial < 10; ++trial) {
    const std::size_t count = 4 + rng.below(8);
    std::vector<double> points = {0, 0, 1, 1};  // so that the box is the unit square
    while (points.size() < 2 * count) points.push_back(rng.uniform(0, 1));
    const Mesh cloud = point_cloud(2, points);
    // Counted on side² squares, by their middles.
    constexpr int side = 300;
    std::vector<double> counted(count, 0.0);
    for (int i = 0; i < side * side; ++i) {
      const double x = (i / side + 0.5) / side, y = (i % side + 0.5) / side;
      std::size_t nearest = 0;
      double least = HUGE_VAL;
      for (std::size_t point = 0; point < count; ++point) {
        const double distance = std::hypot(points[2 * point] - x, points[2 * point + 1] - y);
        if (distance >= least) continue;
        least = distance;
        nearest = point;
      }
      counted[nearest] += 1.0 / (side * side);
    }
    // The border of a convex cell crosses each line between rows or columns at most twice, so it cuts at most 4·side
    // squares.
    EXPECT_EQ("", mismatch(counted, cloud.volumes, discretisation(4, 1.0 / side, 1)));
    EXPECT_EQ("", mismatch(1.0, sum(cloud.volumes), rounding(1e3, 1)));
  }
}

TEST(Domains, ImpossibleOnesAreRefused) {
  EXPECT_NE("", refusal([] { Axis::ring(0); }));
  EXPECT_NE("", refusal([] { Axis::nodes(1); }));
  EXPECT_NE("", refusal([] { Axis::ring(4, -1); }));
  EXPECT_NE("", refusal([] { Axis::ring(4).strided(3); }));
  EXPECT_NE("", refusal([] { Domain::grid({Axis::ring(2), Axis::ring(2), Axis::ring(2)}); }));
  EXPECT_NE("", refusal([] { Mesh::of_cells(2, {0, 0, 1, 0, 2, 0}, {0, 1, 2}); })) << "a triangle without area";
  EXPECT_NE("", refusal([] { Mesh::of_cells(2, {0, 0, 1, 0, 0, 1, 5, 5}, {0, 1, 2}); })) << "a point of no cell";
  EXPECT_NE("", refusal([] { Mesh::of_cells(2, {0, 0, 1, 0, 0, 1}, {0, 1, 3}); })) << "a corner that is not there";
  EXPECT_NE("", refusal([] { Mesh::of_points(1, {0, std::nan("")}, {1, 1}); }));
  EXPECT_NE("", refusal([] { Mesh::of_points(1, {0, 1}, {1, 0}); }));
  EXPECT_TRUE(has(refusal([] { Mesh::of_points(2, {0, 1, 2, 0, -0.0, 1}, {1, 1, 1}); }), "point=2"));
  EXPECT_NE("", refusal([] { point_cloud(2, {0, 1, 1, 1}); })) << "two points on a line share out no area";
  EXPECT_NE("", refusal([] { point_cloud(1, {0}); }));
  const Domain mesh = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 1}, {1, 2}));
  EXPECT_NE("", refusal([&] { static_cast<void>(mesh.shape()); }));
  EXPECT_NE("", refusal([&] { strided(FieldBatch::zeros(mesh, 1, 1), {1}); }));
  EXPECT_NE("", refusal([&] { static_cast<void>(mesh.nearest({2, 0})); })) << "outside of the bounding box";
}

TEST(Meshes, CellValuesAddUpAndAreTheIntegralsOfAnEfficientDensity) {
  for_all_streams([](Rng& rng) {
    const Domain domain = random_mesh(rng);
    const Partition partition = random_groups(domain, rng);
    const std::vector<double> density = random_field(domain, 1, rng).values;
    std::vector<double> integrals(static_cast<std::size_t>(partition.players), 0.0);
    for (std::size_t point = 0; point < density.size(); ++point)
      integrals[static_cast<std::size_t>(partition.player_of[point])] +=
          density[point] * domain.volume(static_cast<std::int64_t>(point));
    const double whole = sum(integrals), empty = rng.normal();
    const Tolerance tolerance = rounding(16.0 * static_cast<double>(domain.points()), 16 * domain.volume());
    RC_ASSERT(mismatch(integrals, cell_values(density, domain, partition, empty, empty + whole), tolerance) == "");

    const double grand = rng.normal();
    const std::vector<double> shifted = cell_values(density, domain, partition, empty, grand);
    RC_ASSERT(mismatch(grand - empty, sum(shifted), tolerance) == "");
    // The shift is one density for all: gap / volume of the domain.
    for (std::size_t player = 0; player < shifted.size(); ++player) {
      const double shift = (shifted[player] - integrals[player]) / partition.volumes[player];
      RC_ASSERT(mismatch((grand - empty - whole) / domain.volume(), shift,
                         rounding(1e3 * static_cast<double>(domain.points()), 16 / partition.volumes[player])) == "");
    }
    RC_ASSERT(mismatch(domain.volume(), sum(partition.volumes), tolerance) == "");
  });
}

TEST(Meshes, BlocksAreThoseOfTheBoundingBoxThatHoldPoints) {
  for_all_streams([](Rng& rng) {
    const Domain domain = random_mesh(rng);
    const int per_axis = 1 + static_cast<int>(rng.below(6)),
              blocks = domain.dimension() == 1 ? per_axis : per_axis * per_axis;
    const Partition partition = Partition::blocks(domain, blocks);
    const MeshBlocks of_mesh = mesh_blocks(domain.as_mesh(), blocks);
    RC_ASSERT(of_mesh.count == blocks);
    RC_ASSERT(static_cast<int>(of_mesh.of_player.size()) == partition.players);
    RC_ASSERT(std::ranges::adjacent_find(of_mesh.of_player, std::greater_equal<>()) == of_mesh.of_player.end());
    RC_TAG(partition.players == blocks ? "all play" : "some are empty");
    std::vector<double> low(2, HUGE_VAL), high(2, -HUGE_VAL);
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      for (std::size_t axis = 0; axis < domain.position(point).size(); ++axis) {
        low[axis] = std::min(low[axis], domain.position(point)[axis]);
        high[axis] = std::max(high[axis], domain.position(point)[axis]);
      }
    }
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      const std::vector<double> at = domain.position(point);
      int expected = 0;
      for (std::size_t axis = at.size(); axis-- > 0;) {
        const double share = (at[axis] - low[axis]) / (high[axis] - low[axis]);
        expected = per_axis * expected + std::min(per_axis - 1, static_cast<int>(std::floor(per_axis * share)));
      }
      const int player = partition.player_of[static_cast<std::size_t>(point)];
      RC_ASSERT(of_mesh.of_player[static_cast<std::size_t>(player)] == expected);
    }
    RC_ASSERT(mismatch(domain.volume(), sum(partition.volumes),
                       rounding(16.0 * static_cast<double>(domain.points()), 16 * domain.volume())) == "");
  });
}

TEST(Meshes, EmptyBlocksDoNotPlay) {
  // An L: three of the four quarters of the square hold points.
  const Domain domain = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 0, 1, 0.1, 0.9}, {1, 2, 3, 4}));
  const Partition partition = Partition::blocks(domain, 4);
  EXPECT_EQ(3, partition.players);
  EXPECT_EQ((std::vector<int>{0, 1, 2, 2}), partition.player_of);
  EXPECT_EQ((std::vector<double>{1, 2, 7}), partition.volumes);
  EXPECT_EQ((std::vector<int>{0, 1, 2}), mesh_blocks(domain.as_mesh(), 4).of_player);
  EXPECT_NE("", refusal([&] { Partition::blocks(domain, 8); })) << "8 is no square";
  EXPECT_NE("", refusal([&] { Partition::blocks(domain, 0); }));
}

TEST(Meshes, GamesHaveTheirClosedFormShapleyValues) {
  for_all_streams([](Rng& rng) {
    const Domain domain = rng.below(4) == 0 ? random_grid(rng) : random_mesh(rng);
    const SquaredIntegral op(domain.dimension());
    const FieldBatch input = random_field(domain, 2, rng);
    const Partition groups = random_groups(domain, rng);
    const Query query{.point = domain.centre()};
    const auto game = games::cell_mask_game(op, {input, FieldBatch::zeros(domain, 1, 2), groups, query});
    std::vector<double> own(static_cast<std::size_t>(groups.players), 0.0);
    const auto points = static_cast<std::size_t>(domain.points());
    for (std::size_t i = 0; i < 2 * points; ++i)
      own[static_cast<std::size_t>(groups.player_of[i % points])] +=
          SquaredIntegral::weight(i / points) * input.values[i] * domain.volume(static_cast<std::int64_t>(i % points));
    const double whole = sum(own), factor = SquaredIntegral::factor(domain, query.point);
    double scale = 0;
    for (const double term : own) scale += std::abs(term);
    for (double& term : own) term *= factor * whole;
    const Tolerance tolerance = rounding(1e3 * static_cast<double>(points), std::abs(factor) * scale * scale);
    RC_ASSERT(mismatch(own, attribute(estimators::find("exact"), *game, {}, 0).values, tolerance) == "");
    // Products of two measures: the gradient along the diagonal gives the same, and the midpoint rule is exact for it.
    RC_ASSERT(mismatch(own,
                       attribute(*estimators::integrated_gradients(estimators::Rule::midpoint, 3), *game, {}, 0).values,
                       tolerance) == "");
  });
}

TEST(Meshes, FixedMasksAreSharedOutByVolume) {
  for_all_streams([](Rng& rng) {
    const Domain domain = random_mesh(rng);
    const SquaredIntegral op(domain.dimension());
    const FieldBatch input = random_field(domain, 2, rng);
    const Partition groups = random_groups(domain, rng);
    const auto points = static_cast<std::size_t>(domain.points());
    std::vector<double> masks(2 * points);
    for (std::size_t point = 0; point < points; ++point) {
      masks[point] = rng.uniform(0.1, 0.9);
      masks[points + point] = 1 - masks[point];
    }
    const auto partition = games::PartitionOfUnity::from_values(domain, masks);
    const games::SparseRows shares = partition.shares(groups);
    std::vector<double> expected(2 * static_cast<std::size_t>(groups.players), 0.0), found(expected.size(), 0.0);
    for (std::size_t mask = 0; mask < 2; ++mask)
      for (std::size_t point = 0; point < points; ++point)
        expected[static_cast<std::size_t>(groups.player_of[point]) * 2 + mask] +=
            masks[mask * points + point] * domain.volume(static_cast<std::int64_t>(point)) /
            partition.integrals()[mask];
    for (std::size_t player = 0; player < static_cast<std::size_t>(groups.players); ++player)
      shares.add_to(std::span(found).subspan(2 * player, 2), player);
    RC_ASSERT(mismatch(expected, found, rounding(16.0 * static_cast<double>(points), 1)) == "");
    const auto game =
        games::smooth_operator_game(op, input, FieldBatch::zeros(domain, 1, 2), partition, groups, Query{.point = 0});
    const Attribution exact = attribute(estimators::find("exact"), *game, {}, 0);
    const double scale = std::pow(SquaredIntegral::whole(input, 0), 2) + 100 * domain.volume() * domain.volume();
    RC_ASSERT(mismatch(exact.grand - exact.empty, sum(exact.values), rounding(1e4, 4 * scale)) == "");
  });
}

FieldBatch counting_field(const Domain& domain, int channels) {
  FieldBatch field = FieldBatch::zeros(domain, 1, channels);
  std::iota(field.values.begin(), field.values.end(), 1.0);
  return field;
}

TEST(Scenarios, TheDefaultRuleIsThePapers) {
  const Scenario scenario = make_scenario({}, counting_field(Domain::unit({4, 4}), 1), {2, 2});
  EXPECT_EQ((std::vector<double>{1, 3, 9, 11}), scenario.input.values);
  EXPECT_EQ((std::vector<double>(4, 0.0)), scenario.baseline.values);
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3}), scenario.partition.player_of);
  EXPECT_EQ(3, scenario.readout.query().point);
  EXPECT_EQ("players: points; baseline: zero; query: centre, channel 0; masked channels: all",
            ScenarioRule{}.describe());
}

TEST(Scenarios, BlocksAreThePointsOfAGridOfAsMany) {
  const ScenarioRule rule{.players = ScenarioRule::Players::blocks, .blocks = 4};
  const FieldBatch field = counting_field(Domain::unit({4, 4}), 1);
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3}), make_scenario(rule, field, {2, 2}).partition.player_of);
  EXPECT_EQ((std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}),
            make_scenario(rule, field).partition.player_of);
}

TEST(Scenarios, ChannelsThatAreNotMaskedAlwaysShowTheInput) {
  const FieldBatch field = counting_field(Domain::unit({3}), 2);
  const Scenario scenario =
      make_scenario({.baseline = ScenarioRule::Hidden::mean, .constants = {-1, -2}, .masked = {1}}, field);
  EXPECT_EQ((std::vector<double>{1, 2, 3, -2, -2, -2}), scenario.baseline.values);
  const SquaredIntegral op(1);
  const auto game = games::cell_mask_game(op, scenario);
  Coalitions none(3);
  none.append_empty();
  EXPECT_EQ("", mismatch(op.values_at(scenario.baseline, scenario.readout), game->values(none), rounding(16, 10)));
}

TEST(Scenarios, ABaselineFieldIsStridedWithTheInput) {
  ScenarioRule rule{.baseline = ScenarioRule::Hidden::field};
  rule.hidden = counting_field(Domain::unit({4}), 1);
  EXPECT_EQ((std::vector<double>{1, 3}),
            make_scenario(rule, FieldBatch::zeros(Domain::unit({4}), 1, 1), {2}).baseline.values);
}

TEST(Scenarios, APositionIsTheNearestPoint) {
  const FieldBatch field = counting_field(Domain::grid({Axis::cells(8, 2), Axis::ring(4)}), 1);
  EXPECT_EQ(
      2 * 4 + 3,
      make_scenario({.query = ScenarioRule::Where::position, .position = {0.6, 0.8}}, field).readout.query().point);
  EXPECT_EQ(7 * 4 + 1,
            make_scenario({.query = ScenarioRule::Where::index, .index = {7, 1}}, field).readout.query().point);
}

TEST(Scenarios, RulesThatDoNotFitAreRefusedByName) {
  const FieldBatch field = counting_field(Domain::unit({6}), 2);
  const auto says = [&](const ScenarioRule& rule) { return refusal([&] { make_scenario(rule, field); }); };
  EXPECT_EQ("", says({.players = ScenarioRule::Players::blocks, .blocks = 4})) << "blocks of one point and of two";
  EXPECT_TRUE(has(says({.players = ScenarioRule::Players::blocks, .blocks = 12}), "players=12"));
  EXPECT_TRUE(has(says({.players = ScenarioRule::Players::labels, .labels = {0, 1, 2}}), "labels=3"));
  EXPECT_TRUE(has(says({.baseline = ScenarioRule::Hidden::mean, .constants = {0}}),
                  "has numbers: 1, channels of the input: 2"));
  EXPECT_TRUE(has(says({.masked = {2}}), "channel=2"));
  EXPECT_TRUE(has(says({.query = ScenarioRule::Where::index, .index = {6}}), "index=6"));
  EXPECT_TRUE(has(says({.query = ScenarioRule::Where::position, .position = {1.5}}), "coordinate=1.5"));
  ScenarioRule other{.baseline = ScenarioRule::Hidden::field};
  other.hidden = counting_field(Domain::unit({3}), 2);
  EXPECT_TRUE(has(says(other), "baseline=2 channels of 3 points"));
  EXPECT_NE("", refusal([&] { make_scenario({}, FieldBatch::zeros(Domain::unit({4}), 2, 1)); }));
}

}  // namespace
}  // namespace opshap
