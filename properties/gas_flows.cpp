// A gas by finite volumes: closed volumes, a free stream that stays, mass that is kept, mirrored flows; and the flow
// around the airfoil, on a coarse mesh. How near its numbers come to published ones is a study (convergence/gas_flows).

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "pde/finite_volumes.hpp"
#include "pde/registry.hpp"
#include "support/for_all.hpp"
#include "support/rectangle_mesh.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using pde::DualMesh;
using pde::Gas;
using pde::GasFlow;

constexpr double pressure_of_stream = 1 / pde::heat_ratio;

/// Unequal sides, nodes out of their places.
Mesh any_mesh(Rng& rng) {
  const int nx = 3 + static_cast<int>(rng.uniform() * 8), ny = 3 + static_cast<int>(rng.uniform() * 8);
  return rectangle_mesh({-1, 2}, {0, 1.5}, nx, ny, 0.25, rng.stream(1));
}

std::shared_ptr<const DualMesh> volumes(const Mesh& mesh, const std::function<bool(double, double)>& is_wall) {
  return std::make_shared<const DualMesh>(DualMesh::of(mesh, is_wall));
}

constexpr auto no_wall = [](double, double) { return false; };
constexpr auto all_walls = [](double, double) { return true; };

Gas stream(double mach, double angle) {
  return {1, mach * std::cos(angle), mach * std::sin(angle), pressure_of_stream};
}

Gas any_gas(Rng& rng) {
  return {rng.uniform(0.8, 1.25), rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), rng.uniform(0.6, 0.8)};
}

void fill_randomly(GasFlow& flow, const DualMesh& mesh, Rng& rng) {
  for (std::int64_t node = 0; node < mesh.nodes; ++node) flow.set(node, any_gas(rng));
}

std::vector<double> numbers_of(const Gas& gas) { return {gas.density, gas.velocity_x, gas.velocity_y, gas.pressure}; }

// What flows out of a volume at a constant flux is what flows in: the normals of its borders add up to nothing.
TEST(DualMeshes, HaveClosedVolumesThatFillTheDomain) {
  for_all_streams([](Rng& rng) {
    const Mesh mesh = any_mesh(rng);
    const DualMesh dual = DualMesh::of(mesh, [](double x, double) { return x < 0; });
    std::vector<double> x(static_cast<std::size_t>(dual.nodes), 0), y = x;
    for (std::size_t e = 0; e < dual.left.size(); ++e) {
      for (const auto& [node, sense] : {std::pair(dual.left[e], 1), std::pair(dual.right[e], -1)}) {
        x[static_cast<std::size_t>(node)] += sense * dual.normal_x[e] * dual.face[e];
        y[static_cast<std::size_t>(node)] += sense * dual.normal_y[e] * dual.face[e];
      }
    }
    for (const auto* halves : {&dual.wall, &dual.far_field}) {
      for (const DualMesh::Half& half : *halves) {
        x[static_cast<std::size_t>(half.node)] += half.normal_x * half.face;
        y[static_cast<std::size_t>(half.node)] += half.normal_y * half.face;
      }
    }
    const std::vector<double> nothing(x.size(), 0);
    RC_ASSERT(mismatch(nothing, x, rounding(30, 1)) == "");
    RC_ASSERT(mismatch(nothing, y, rounding(30, 1)) == "");
    RC_ASSERT(mismatch(3 * 1.5, sum(dual.volume), rounding(300, 4.5)) == "");
    RC_ASSERT(!dual.wall.empty() && !dual.far_field.empty());
  });
}

TEST(DualMeshes, GiveTheGradientsOfLinearFunctions) {
  for_all_streams([](Rng& rng) {
    const Mesh mesh = any_mesh(rng);
    const DualMesh dual = DualMesh::of(mesh, no_wall);
    const double a = rng.uniform(-1, 1), b = rng.uniform(-1, 1);
    const auto value = [&](std::int64_t node) { return a * mesh.coordinate(node, 0) + b * mesh.coordinate(node, 1); };
    for (std::size_t i = 0; i < static_cast<std::size_t>(dual.nodes); ++i) {
      double x = 0, y = 0;
      for (auto k = static_cast<std::size_t>(dual.first[i]); k < static_cast<std::size_t>(dual.first[i + 1]); ++k) {
        const double difference = value(dual.neighbour[k]) - value(static_cast<std::int64_t>(i));
        x += dual.weight_x[k] * difference;
        y += dual.weight_y[k] * difference;
      }
      // Some tens of products of numbers up to 10, the weights of the shortest edges.
      RC_ASSERT(mismatch({a, b}, {x, y}, rounding(1000, 10)) == "");
    }
  });
}

TEST(DualMeshes, RefuseWhatIsNoTriangulation) {
  const std::vector<double> square = {0, 0, 1, 0, 1, 1, 0, 1};
  const auto made = [&](std::vector<std::int64_t> cells) {
    // Volumes are given, since of_cells() refuses triangles without area itself.
    DualMesh::of(Mesh::of_points(2, square, {1, 1, 1, 1}, std::move(cells)), no_wall);
  };
  expect_refusals<InvalidArgument, std::vector<std::int64_t>>({{{}, "has no triangles"},
                                                               {{0, 1, 2, 0, 1, 3}, "edge=0-1"},
                                                               {{0, 1, 2, 0, 2, 3, 0, 2, 1}, "edge=0-"},
                                                               {{0, 1, 1, 0, 2, 3}, "triangle=0"}},
                                                              made);
  EXPECT_THROW(DualMesh::of(Mesh::of_cells(1, {0, 1}, {0, 1}), no_wall), InvalidArgument);
}

TEST(GasFlows, KeepAFreeStream) {
  for_all_streams([](Rng& rng) {
    const auto mesh = volumes(any_mesh(rng), no_wall);
    for (const auto limiter : {GasFlow::Limiter::van_albada, GasFlow::Limiter::none}) {
      GasFlow flow(mesh, limiter);
      const Gas free = stream(rng.uniform(0, 2), rng.uniform(-4, 4));
      flow.fill(free);
      for (int step = 0; step < 10; ++step) flow.advance(1);
      for (std::int64_t node = 0; node < mesh->nodes; ++node) {
        // 40 stages that round at most some ten times each.
        RC_ASSERT(mismatch(numbers_of(free), numbers_of(flow.at(node)), rounding(400, 1)) == "");
      }
    }
  });
}

TEST(GasFlows, KeepTheirMassBetweenWallsAndCountWhatLeaves) {
  for_all_streams([](Rng& rng) {
    for (const bool closed : {true, false}) {
      const auto mesh = volumes(any_mesh(rng), [&](double x, double) { return closed || x < 0; });
      GasFlow flow(mesh);
      flow.fill(stream(0.3, 1));
      fill_randomly(flow, *mesh, rng);
      const double before = flow.mass();
      for (int step = 0; step < 20; ++step) flow.advance(1);
      RC_ASSERT((flow.mass_gone() == 0) == closed);
      // 20 steps of 4 stages, in each of which a volume has some seven borders.
      RC_ASSERT(mismatch(before, flow.mass() + flow.mass_gone(), rounding(560, before)) == "");
    }
  });
}

TEST(GasFlows, RestBetweenWalls) {
  for_all_streams([](Rng& rng) {
    const auto mesh = volumes(any_mesh(rng), all_walls);
    GasFlow flow(mesh);
    const Gas still = {rng.uniform(0.5, 2), 0, 0, rng.uniform(0.5, 2)};
    flow.fill(still);
    for (int step = 0; step < 10; ++step) flow.advance(1);
    for (std::int64_t node = 0; node < mesh->nodes; ++node)
      RC_ASSERT(mismatch(numbers_of(still), numbers_of(flow.at(node)), rounding(4000, 1)) == "");
  });
}

TEST(GasFlows, MirroredAreMirroredFlows) {
  for_all_streams([](Rng& rng) {
    const Mesh mesh = any_mesh(rng);
    Mesh mirrored = mesh;
    for (std::size_t k = 1; k < mirrored.points.size(); k += 2) mirrored.points[k] *= -1;
    const auto is_wall = [](double x, double) { return x < 1; };
    const auto here = volumes(mesh, is_wall), there = volumes(mirrored, is_wall);
    GasFlow flow(here), other(there);
    flow.fill(stream(0.4, 0.7));
    other.fill(stream(0.4, -0.7));
    for (std::int64_t node = 0; node < here->nodes; ++node) {
      const Gas gas = any_gas(rng);
      flow.set(node, gas);
      other.set(node, {gas.density, gas.velocity_x, -gas.velocity_y, gas.pressure});
    }
    for (int step = 0; step < 5; ++step) RC_ASSERT(mismatch(flow.advance(1), other.advance(1), rounding(1e4, 1)) == "");
    for (std::int64_t node = 0; node < here->nodes; ++node) {
      Gas gas = other.at(node);
      gas.velocity_y *= -1;
      // 20 stages of some hundred roundings, each of which the limiter may enlarge.
      RC_ASSERT(mismatch(numbers_of(flow.at(node)), numbers_of(gas), rounding(1e4, 2)) == "");
    }
    const auto force = flow.force_on_walls(), opposite = other.force_on_walls();
    RC_ASSERT(mismatch({force[0], force[1]}, {opposite[0], -opposite[1]}, rounding(1e5, 2)) == "");
  });
}

// Neighbours of a thousand times each other's density and pressure, with streams against each other.
TEST(GasFlows, RefuseToGoOnWithoutAGas) {
  int refused = 0;
  for_all_streams([&refused](Rng& rng) {
    const auto mesh = volumes(any_mesh(rng), all_walls);
    for (const bool steady : {false, true}) {
      GasFlow flow(mesh);
      for (std::int64_t node = 0; node < mesh->nodes; ++node) {
        const auto wild = [&] { return std::pow(10, rng.uniform(-3, 0)); };
        flow.set(node, {wild(), rng.uniform(-3, 3), rng.uniform(-3, 3), wild()});
      }
      try {
        for (int step = 0; step < 10; ++step) steady ? flow.relax() : static_cast<void>(flow.advance(1));
      } catch (const NumericalError& error) {
        ++refused;
        RC_ASSERT(has(error.what(), "both are positive and finite"));
        continue;
      }
      for (std::int64_t node = 0; node < mesh->nodes; ++node) {
        const Gas gas = flow.at(node);
        RC_ASSERT(gas.density > 0 && gas.pressure > 0 && std::isfinite(gas.density + gas.pressure));
      }
    }
  });
  EXPECT_GT(refused, 0);
}

// A straight line through a jump of a thousand leaves what a gas can be; the averages do not.
TEST(GasFlows, GoOnWhereAReconstructionIsNoGas) {
  for_all_streams([](Rng& rng) {
    const auto mesh = volumes(any_mesh(rng), all_walls);
    for (const auto limiter : {GasFlow::Limiter::van_albada, GasFlow::Limiter::none}) {
      GasFlow flow(mesh, limiter);
      for (std::int64_t node = 0; node < mesh->nodes; ++node)
        flow.set(node, 2 * node < mesh->nodes ? Gas{1, 0, 0, 1} : Gas{1e-3, 0, 0, 1e-3});
      RC_ASSERT(flow.advance(1e-3) > 0);
    }
  });
}

TEST(GasFlows, RefuseWhatIsNoGas) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  GasFlow flow(volumes(rectangle_mesh({0, 1}, {0, 1}, 2, 2), no_wall));
  expect_refusals<InvalidArgument, Gas>({{{0, 0, 0, 1}, "density=0"},
                                         {{1, 0, 0, -1}, "pressure=-1"},
                                         {{1, nan, 0, 1}, "velocity=(nan"},
                                         {{nan, 0, 0, 1}, "density=nan"},
                                         {{1, 0, 0, std::numeric_limits<double>::infinity()}, "pressure=inf"}},
                                        [&](const Gas& gas) { flow.set(0, gas); });
  EXPECT_THROW(flow.surround(std::vector<Gas>(3, stream(0.5, 0))), InvalidArgument);
}

const pde::Trajectories& airfoil() { return pde::find_trajectories("airfoil"); }

/// On a mesh of some hundred nodes.
std::unique_ptr<pde::Trajectories> coarse(pde::ParameterValues changes = {}) {
  changes.merge(airfoil().quick());
  return airfoil().with(changes);
}

std::vector<pde::Parameter> flying(double mach, double angle) {
  return pde::changed("airfoil", airfoil().numbers(), {{"mach", mach}, {"angle", angle}});
}

std::int64_t count(const pde::Trajectory& trajectory, pde::NodeType type) {
  return std::ranges::count(trajectory.node_types, type);
}

TEST(Airfoil, HasAMeshFromTheAirfoilToTheCircle) {
  const pde::Trajectory start = airfoil().run(flying(0.5, 3), std::vector{0.0});

  EXPECT_NEAR(5259, static_cast<double>(start.nodes()), 300);  // of the prototype that the defaults come from
  EXPECT_NEAR(170, static_cast<double>(count(start, pde::NodeType::airfoil)), 5);
  EXPECT_GT(count(start, pde::NodeType::inflow), 40);
  const Mesh& mesh = start.domain.as_mesh();
  for (std::int64_t node = 0; node < mesh.size(); ++node) {
    const double x = mesh.coordinate(node, 0), y = mesh.coordinate(node, 1);
    const auto type = start.node_types[static_cast<std::size_t>(node)];
    ASSERT_EQ(type == pde::NodeType::inflow, std::abs(std::hypot(x, y) - 20) < 1e-9) << x << ", " << y;
    if (type == pde::NodeType::airfoil) {
      // The thickest place of NACA 0012 is .06 to each side.
      ASSERT_TRUE(x >= 0 && x <= 1 && std::abs(y) < 0.0601) << x << ", " << y;
    }
  }
  EXPECT_EQ(64, mesh_blocks(cropped(start, *airfoil().frame()).domain.as_mesh(), 64).of_player.size());
  // The corners of the box lie beyond the circle.
  EXPECT_EQ(60, mesh_blocks(mesh, 64).of_player.size());
  EXPECT_FALSE(airfoil().with({{"frame", "box"}})->frame());
  const std::int64_t query = start.domain.nearest(airfoil().default_rule().position);
  EXPECT_EQ(pde::NodeType::normal, start.node_types[static_cast<std::size_t>(query)]);
}

TEST(Airfoil, StartsInTheFreeStream) {
  const pde::Trajectory start = coarse()->run(flying(0.5, 3), std::vector{0.0});
  const auto nodes = static_cast<std::size_t>(start.nodes());
  const double turned = 3 * std::numbers::pi / 180;
  const std::vector<double> state = {0.5 * std::cos(turned), 0.5 * std::sin(turned), 1, pressure_of_stream};
  for (std::size_t k = 0; k < start.frames.size(); ++k)
    ASSERT_EQ(static_cast<float>(state[k / nodes]), start.frames[k]);
  // A closed line at one pressure feels no force.
  EXPECT_NEAR(0, start.recorded[0].values[0], 1e-13);
  EXPECT_NEAR(0, start.recorded[1].values[0], 1e-13);
}

// The mesh is not symmetric, and a coarse one shows it: the lift of the stream from ahead is 1 % of that at 5 degrees,
// and the lifts to both sides are as much apart.
TEST(Airfoil, LiftsTowardsTheSideThatTheStreamComesFrom) {
  const std::vector<double> times = {2.0};
  const auto lift = [&](double angle) { return coarse()->run(flying(0.5, angle), times).recorded[0].values[0]; };
  const double up = lift(5), down = lift(-5);
  EXPECT_GT(up, 0.2);
  EXPECT_NEAR(up, -down, 0.05 * up);
  EXPECT_NEAR(0, lift(0), 0.05 * up);
}

TEST(Airfoil, KeepsItsMassAndIsTheSameOnAllThreads) {
  const auto trajectories = coarse();
  const std::vector<double> times = trajectories->times();
  std::vector<pde::Trajectory> runs(3);
  {
    std::vector<std::jthread> threads;
    for (pde::Trajectory& run : runs) threads.emplace_back([&] { run = trajectories->run(flying(0.7, 25), times); });
  }
  for (const pde::Trajectory& run : runs) {
    EXPECT_EQ(runs[0].frames, run.frames);
    EXPECT_LE(run.departures.at(0), trajectories->invariants().at(0).limit);
    EXPECT_EQ(times, run.times);
    EXPECT_EQ(12, static_cast<int>(run.recorded[0].values.size()));
  }
}

// The frames that lie between do not change a frame by more than shorter steps do.
TEST(Airfoil, IsSteadyWhereTheFlowIs) {
  const auto trajectories = coarse();
  const pde::Trajectory steady = trajectories->steady(flying(0.3, 2)),
                        late = trajectories->run(flying(0.3, 2), std::vector{60.0});
  // Both have settled to some parts in ten thousand of the lift.
  EXPECT_NEAR(late.recorded[0].values[0], steady.recorded[0].values[0], 2e-3);
  EXPECT_NEAR(late.recorded[1].values[0], steady.recorded[1].values[0], 2e-3);
  EXPECT_EQ(1u, steady.times.size());
}

TEST(Airfoil, ObservesMachNumbers) {
  // Three nodes: still air, sound, and (3, 4) where sound has speed 1.
  const std::vector<float> frame = {0, 1, 3, 0, 0, 4, 1, 1.4f, 1.4f, 1, 1, 1};
  const std::vector<float> mach = airfoil().observed(frame);
  ASSERT_EQ(3u, mach.size());
  EXPECT_FLOAT_EQ(0, mach[0]);
  EXPECT_FLOAT_EQ(1, mach[1]);
  EXPECT_FLOAT_EQ(5, mach[2]);
}

TEST(Airfoil, DrawsFromTheRangesOfTheOriginal) {
  std::vector<double> machs, angles;
  for (std::uint64_t k = 0; k < 400; ++k) {
    const auto drawn = airfoil().draw(Rng(7, "airfoil"), k);
    machs.push_back(pde::number(drawn, "mach"));
    angles.push_back(pde::number(drawn, "angle"));
  }
  const auto [slow, fast] = std::ranges::minmax(machs);
  const auto [down, up] = std::ranges::minmax(angles);
  // Of 400 uniform numbers none in an outer 5 % of the range: a chance of 1e-9.
  EXPECT_TRUE(slow >= 0.2 && slow < 0.225 && fast < 0.7 && fast > 0.675) << slow << ", " << fast;
  EXPECT_TRUE(down >= -25 && down < -22.5 && up < 25 && up > 22.5) << down << ", " << up;
}

TEST(Airfoil, HasFramesAWholeLeadApart) {
  const std::vector<double> times = airfoil().times();
  ASSERT_EQ(100u, times.size());
  EXPECT_DOUBLE_EQ(0.12, times.front());
  EXPECT_DOUBLE_EQ(12, times.back());
  EXPECT_NEAR(airfoil().lead(), times[10] - times[0], 1e-12);
}

TEST(Airfoil, RefusesWhatCannotWork) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refusals<InvalidArgument, pde::ParameterValues>(
      {{{{"far_field", 1.0}}, "far_field=1"},
       {{{"far_field", nan}}, "far_field=nan"},
       {{{"edge", 0.05}}, "edge=0.05, middle=0.0125"},
       {{{"edge", 0.0}}, "edge=0"},
       {{{"edge", 1e-6}}, "edge=1e-06"},
       {{{"growth", 0.5}}, "growth=0.5"},
       {{{"frames", 2.5}}, "frames=2.5"},
       {{{"lead", 0.13}}, "lead=0.13"},
       {{{"lead", 12.0}}, "lead=12"},
       {{{"frame", "far"}}, "frame=far"},
       {{{"nose", 1.0}}, "parameter=nose"}},
      [](const pde::ParameterValues& changes) { airfoil().with(changes); });
  const auto trajectories = coarse();
  expect_refusals<InvalidArgument, std::pair<double, double>>({{{0, 1}, "mach=0"},
                                                               {{1e-200, 1}, "mach=1e-200"},
                                                               {{-0.5, 1}, "mach=-0.5"},
                                                               {{1, 1}, "mach=1"},
                                                               {{0.5, 91}, "angle=91"}},
                                                              [&](const std::pair<double, double>& given) {
                                                                trajectories->run(flying(given.first, given.second),
                                                                                  std::vector{0.1});
                                                              });
  expect_refusals<InvalidArgument, std::vector<double>>(
      {{{}, "times=0"}, {{-1}, "-1"}, {{1, 0.5}, "time=0.5"}, {{nan}, "nan"}, {{1e9}, "steps to the end"}},
      [&](const std::vector<double>& times) { trajectories->run(flying(0.5, 1), times); });
}

}  // namespace
}  // namespace opshap
