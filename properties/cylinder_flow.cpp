// The flow of Taylor–Hood elements against closed forms, and the one past a cylinder: its geometry, its symmetry, and
// what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "pde/mesher.hpp"
#include "pde/registry.hpp"
#include "pde/taylor_hood.hpp"
#include "support/for_all.hpp"
#include "support/refusal.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using pde::NodeType;
using pde::Point;
using pde::TaylorHood;
using pde::Trajectories;
using pde::Trajectory;

constexpr double viscosity = 1e-3, length = 1, height = 0.41, peak = 1;

Point parabola(double, double y, double) { return {4 * peak * y * (height - y) / (height * height), 0}; }
double falling(double x, double, double) { return 8 * viscosity * peak / (height * height) * (length - x); }
bool is_outlet(double x, double) { return x > length - 1e-9; }
bool is_lower_wall(double, double y) { return y < 1e-9; }

Mesh channel() {
  const auto edge = [](double, double) { return 0.07; };
  pde::Polygon points;
  for (const auto& [from, to] : {std::pair{Point{0, 0}, Point{length, 0}},
                                 {Point{length, 0}, Point{length, height}},
                                 {Point{length, height}, Point{0, height}},
                                 {Point{0, height}, Point{0, 0}}}) {
    const auto side = pde::spaced(from, to, edge);
    points.insert(points.end(), side.begin(), side.end());
  }
  return pde::triangulated({points}, edge, Rng(test_seed(), "channel"));
}

TaylorHood poiseuille(double step) {
  TaylorHood flow(channel(), {.viscosity = viscosity, .boundary = parabola, .outlet = is_outlet});
  flow.start(parabola, falling, 0, step);
  return flow;
}

// Quadratic velocities and linear pressures hold Poiseuille's flow exactly, so that only rounding is left: 200 steps of
// about 100 operations a node, and systems whose condition is below 1000.
TEST(TaylorHood, KeepsPoiseuillesFlow) {
  TaylorHood flow = poiseuille(0.005);
  for (int step = 0; step < 100; ++step) flow.advance();
  flow.set_step(0.003);
  for (int step = 0; step < 100; ++step) flow.advance();
  EXPECT_LT(flow.velocity_error(parabola), 1e-11);
  EXPECT_LT(flow.pressure_error(falling), 1e-11);
  EXPECT_LT(flow.divergence(), 1e-11);
  EXPECT_EQ("", mismatch(100 * 0.005 + 100 * 0.003, flow.time(), rounding(200, 1)));
  EXPECT_LE(flow.fastest(), peak + 1e-11);
  EXPECT_GT(flow.fastest(), 0.95 * peak);  // some node is nearer to the middle than a tenth of the height
}

// The wall takes what viscosity and pressure leave: ν ∂u/∂y along it, and the pressure on it.
TEST(TaylorHood, KnowsTheForceOnAWall) {
  TaylorHood flow = poiseuille(0.005);
  flow.advance();
  const Point force = flow.force_on(is_lower_wall);
  // At its corners the wall shares nodes with the inlet and the outlet, whose load is theirs as well.
  const double shear = viscosity * 4 * peak / height * length, weight = -falling(0, 0, 0) / 2 * length;
  EXPECT_NEAR(shear, force[0], 0.1 * shear);
  EXPECT_NEAR(weight, force[1], 0.1 * std::abs(weight));
}

// A flow that is the same everywhere and turns: the elements hold it, and only time has an error. Steps of .01 leave
// about dt² of it at each change of the step, which does not grow.
TEST(TaylorHood, KeepsItsOrderWhenTheStepChanges) {
  const auto turning = [](double, double, double t) -> Point { return {std::cos(t), std::sin(t)}; };
  const auto nothing = [](double, double, double) { return 0.0; };
  TaylorHood flow(channel(), {.viscosity = 0.01, .boundary = turning, .force = [](double, double, double t) -> Point {
                                return {-std::sin(t), std::cos(t)};
                              }});
  flow.start(turning, nothing, 0, 0.01);
  double largest = 0;
  for (const double step : {0.01, 0.004, 0.008, 0.01}) {
    flow.set_step(step);
    for (int i = 0; i < 5; ++i) {
      flow.advance();
      largest = std::max(largest, flow.velocity_error(turning));
    }
  }
  EXPECT_EQ("", mismatch(0, largest, discretisation(1, 0.01, 2)));
}

TEST(TaylorHood, RefusesWhatItCannotSolve) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Mesh mesh = channel();
  for (const double wrong : {0.0, -1.0, nan}) {
    EXPECT_TRUE(has(refusal<InvalidArgument>([&] { TaylorHood(mesh, {.viscosity = wrong, .boundary = parabola}); }),
                    "taylor_hood: viscosity="));
    EXPECT_TRUE(has(refusal<InvalidArgument>([&] { poiseuille(wrong); }), "taylor_hood: step="));
    EXPECT_TRUE(has(refusal<InvalidArgument>([&] { poiseuille(0.1).set_step(wrong); }), "taylor_hood: step="));
  }
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { TaylorHood(mesh, {.viscosity = 1}); }), "taylor_hood: boundary="));
  const Mesh cloud = Mesh::of_points(2, {0, 0, 1, 0, 0, 1}, {1, 1, 1});
  EXPECT_NE("", refusal<InvalidArgument>([&] { TaylorHood(cloud, {.viscosity = 1, .boundary = parabola}); }));
}

const Trajectories& cylinder() { return pde::find_trajectories("cylinder_flow"); }

std::vector<pde::Parameter> numbers(double radius, double x, double y, double peak_velocity) {
  auto numbers = cylinder().numbers();
  const double values[] = {radius, x, y, peak_velocity};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].value = values[i];
  return numbers;
}

std::unique_ptr<Trajectories> quick(const pde::ParameterValues& changes = {}) {
  pde::ParameterValues values = cylinder().quick();
  for (const auto& [name, value] : changes) values[name] = value;
  return cylinder().with(values);
}

double total(const Trajectory& flow, std::size_t frame, std::size_t channel) {
  double sum = 0;
  for (std::int64_t node = 0; node < flow.nodes(); ++node)
    sum += flow.domain.volume(node) *
           static_cast<double>(flow.frame(static_cast<std::int64_t>(
               frame))[channel * static_cast<std::size_t>(flow.nodes()) + static_cast<std::size_t>(node)]);
  return sum;
}

TEST(CylinderFlow, TypesItsNodesByWhereTheyAre) {
  const Trajectory flow = quick()->run(numbers(0.05, 0.3, 0.2, 1), std::vector{0.0});
  for (std::int64_t node = 0; node < flow.nodes(); ++node) {
    const std::vector<double> at = flow.domain.position(node);
    const double off = std::hypot(at[0] - 0.3, at[1] - 0.2) - 0.05;
    const bool wall = at[1] == 0 || at[1] == 0.41, disc = off < 0.001;  // the polygon's points are .2 % further out
    const NodeType expected = wall || disc   ? NodeType::wall
                              : at[0] == 0   ? NodeType::inflow
                              : at[0] == 0.8 ? NodeType::outflow
                                             : NodeType::normal;
    EXPECT_EQ(expected, flow.node_types[static_cast<std::size_t>(node)]) << at[0] << ", " << at[1];
    EXPECT_GT(off, -1e-12);
  }
}

TEST(CylinderFlow, SticksToWallsAndFlowsInAsAParabola) {
  const Trajectory flow = quick()->run(numbers(0.05, 0.3, 0.2, 1.25), std::vector{0.05, 0.2});
  const auto nodes = static_cast<std::size_t>(flow.nodes());
  for (std::size_t frame = 0; frame < 2; ++frame) {
    const auto state = flow.frame(static_cast<std::int64_t>(frame));
    for (std::size_t node = 0; node < nodes; ++node) {
      if (flow.node_types[node] == NodeType::normal || flow.node_types[node] == NodeType::outflow) continue;
      const double y = flow.domain.position(static_cast<std::int64_t>(node))[1];
      // Half of the ramp is over at the first frame: half the speed.
      const double inflow = (frame == 0 ? 0.5 : 1) * 4 * 1.25 * y * (0.41 - y) / (0.41 * 0.41);
      EXPECT_FLOAT_EQ(flow.node_types[node] == NodeType::inflow ? static_cast<float>(inflow) : 0, state[node]);
      EXPECT_EQ(0, state[nodes + node]);
    }
  }
}

TEST(CylinderFlow, IsAtRestAtTheBeginningAndDrivenAfterwards) {
  const Trajectory flow = quick()->run(numbers(0.05, 0.3, 0.2, 1), std::vector{0.0, 0.1, 0.2});
  EXPECT_TRUE(std::ranges::all_of(flow.frame(0), [](float value) { return value == 0; }));
  EXPECT_GT(total(flow, 2, 0), 0);
  ASSERT_EQ(3u, flow.recorded.size());
  EXPECT_EQ("drag", flow.recorded[0].name);
  EXPECT_EQ("lift", flow.recorded[1].name);
  EXPECT_EQ("pressure_difference", flow.recorded[2].name);
  EXPECT_EQ(0, flow.recorded[0].values[0]);
  // At Reynolds numbers of some tens a cylinder in a channel has a drag of about 3 (Schäfer & Turek 1996).
  EXPECT_GT(flow.recorded[0].values[2], 1.5);
  EXPECT_LT(flow.recorded[0].values[2], 5);
  EXPECT_GT(flow.recorded[2].values[2], 0);
}

// In the middle of the channel the lift is 0, but for the mesh; off it, mirrored discs have opposite lifts.
TEST(CylinderFlow, MirroredDiscsHaveOppositeLifts) {
  const std::vector<double> time{0.2};
  const double upper = quick()->run(numbers(0.05, 0.3, 0.26, 1), time).recorded[1].values[0],
               lower = quick()->run(numbers(0.05, 0.3, 0.15, 1), time).recorded[1].values[0];
  EXPECT_GT(std::abs(upper), 0.05);
  EXPECT_NEAR(upper, -lower, 0.2 * std::abs(upper));  // meshes of some 300 nodes that are not mirrored
}

// Frames in between change the steps, and only those.
TEST(CylinderFlow, MoreFramesGiveTheSameFlow) {
  const auto problem = quick();
  const Trajectory few = problem->run(numbers(0.05, 0.3, 0.2, 1), std::vector{0.2}),
                   many = problem->run(numbers(0.05, 0.3, 0.2, 1), std::vector{0.03, 0.111, 0.1789, 0.2});
  EXPECT_EQ(few.domain, many.domain);
  double largest = 0;
  for (std::size_t i = 0; i < few.frame_size(); ++i)
    largest = std::max(largest, static_cast<double>(std::abs(few.frame(0)[i] - many.frame(3)[i])));
  EXPECT_LT(largest, 0.02);  // the error of second order in steps of .001 at a speed of 1
}

// A fifth of the time in which the fastest flow crosses an edge at the disc, or less.
TEST(CylinderFlow, StepsAreNoLongerThanIsAskedAndLandOnFrames) {
  const double most = 0.2 * 0.015 / (1.15 * 1 / (1 - 0.1 / 0.41));
  for (const double time : {0.001, 0.0123, 0.02}) {
    const Trajectory flow = quick()->run(numbers(0.05, 0.3, 0.2, 1), std::vector{time});
    EXPECT_LE(flow.step, most);
    EXPECT_EQ("", mismatch(time, static_cast<double>(flow.steps) * flow.step, rounding(4, time)));
  }
}

// Where the largest disc is drawn nearest, the query is still no wall.
TEST(CylinderFlow, DrawsDiscsOffTheQueryAndTheWalls) {
  for_all([](std::uint32_t seed) {
    const auto drawn = cylinder().draw(Rng(seed, "draws"), seed % 7);
    const double radius = pde::number(drawn, "radius"), x = pde::number(drawn, "centre_x"),
                 y = pde::number(drawn, "centre_y"), speed = pde::number(drawn, "peak_velocity");
    RC_ASSERT(radius >= 0.03 && radius <= 0.07);
    RC_ASSERT(x >= 0.2 && x <= 0.45);
    RC_ASSERT(y >= radius + 0.06 && y <= 0.41 - radius - 0.06);
    RC_ASSERT(speed >= 0.75 && speed <= 2.25);
    RC_ASSERT(std::hypot(x - 0.4, y - 0.1) >= radius + 0.02);
  });
}

TEST(CylinderFlow, HasSixtyFourPlayersOnEveryMesh) {
  const auto problem = cylinder().with({});
  const ScenarioRule rule = problem->default_rule();
  for (std::uint64_t number = 0; number < 2; ++number) {
    const Trajectory flow = problem->run(problem->draw(Rng(test_seed(), "players"), number), std::vector{0.0});
    EXPECT_EQ(64u, mesh_blocks(flow.domain.as_mesh(), rule.blocks).of_player.size());
  }
}

TEST(CylinderFlow, ParametersThatCannotWorkAreRefused) {
  expect_refusals<InvalidArgument>(Refusals<pde::ParameterValues>{{{{"length", 0.3}}, "length=0.3"},
                                                                  {{{"height", 0.2}}, "height=0.2"},
                                                                  {{{"viscosity", 0.0}}, "viscosity=0"},
                                                                  {{{"edge", 0.05}}, "edge=0.05"},
                                                                  {{{"edge", 1e-5}}, "edge=1e-05"},
                                                                  {{{"courant", 0.0}}, "courant=0"},
                                                                  {{{"ramp", -0.1}}, "ramp=-0.1"},
                                                                  {{{"ramp", 0.2}}, "first_time=0.1"},
                                                                  {{{"frames", 1.0}}, "frames=1"},
                                                                  {{{"frames", 2.5}}, "frames=2.5"},
                                                                  {{{"last_time", 0.1}}, "last_time=0.1"},
                                                                  {{{"lead", 0.15}}, "lead=0.15"},
                                                                  {{{"lead", 5.0}}, "lead=5"},
                                                                  {{{"edgee", 0.01}}, "edge"}},
                                   [](const pde::ParameterValues& values) { cylinder().with(values); });
  expect_refusals<InvalidArgument>(
      Refusals<std::vector<pde::Parameter>>{{numbers(0.001, 0.3, 0.2, 1), "radius=0.001"},
                                            {numbers(0.05, 0.05, 0.2, 1), "leaves 0 "},
                                            {numbers(0.05, 0.3, 0.4, 1), "centre="},
                                            {numbers(0.05, 0.79, 0.2, 1), "centre="},
                                            {numbers(0.3, 0.4, 0.2, 1), "centre="},
                                            {numbers(0.05, 0.3, 0.2, 0), "peak_velocity=0"},
                                            {numbers(0.05, 0.3, 0.2, -1), "peak_velocity=-1"}},
      [](const std::vector<pde::Parameter>& wrong) { quick()->run(wrong, std::vector{0.1}); });
  EXPECT_TRUE(has(refusal<InvalidArgument>([] { quick()->steady(cylinder().numbers()); }), "--steady"));
}

TEST(CylinderFlow, TooLargeStepsAreTold) {
  EXPECT_TRUE(has(refusal<NumericalError>([] {
                    quick({{"courant", 0.8}})->run(numbers(0.05, 0.3, 0.2, 2.25), std::vector{1.0});
                  }),
                  "Give a smaller courant."));
}

TEST(Cropped, KeepsTheTrianglesInABoxWithTheirValues) {
  const Trajectory whole = quick()->run(numbers(0.05, 0.3, 0.2, 1), std::vector{0.1, 0.2});
  const pde::Box box{{0.1, 0.05}, {0.6, 0.35}};

  const Trajectory part = pde::cropped(whole, box);

  EXPECT_EQ(whole.times, part.times);
  EXPECT_LT(part.nodes(), whole.nodes());
  EXPECT_EQ(part.frames.size(), 2 * 3 * static_cast<std::size_t>(part.nodes()));
  const auto few = static_cast<std::size_t>(part.nodes()), all = static_cast<std::size_t>(whole.nodes());
  for (std::size_t node = 0; node < few; ++node) {
    const std::vector<double> at = part.domain.position(static_cast<std::int64_t>(node));
    EXPECT_TRUE(box.contains(at[0], at[1]));
    const auto there = static_cast<std::size_t>(whole.domain.nearest(at));
    EXPECT_EQ(at, whole.domain.position(static_cast<std::int64_t>(there)));
    EXPECT_EQ(whole.node_types[there], part.node_types[node]);
    for (std::size_t row = 0; row < 6; ++row) EXPECT_EQ(whole.frames[row * all + there], part.frames[row * few + node]);
  }
  const auto inside = [&](std::int64_t node) {
    const std::vector<double> at = whole.domain.position(node);
    return box.contains(at[0], at[1]);
  };
  const std::vector<std::int64_t>& cells = whole.domain.as_mesh().cells;
  std::size_t wanted = 0;
  for (std::size_t first = 0; first < cells.size(); first += 3)
    wanted += inside(cells[first]) && inside(cells[first + 1]) && inside(cells[first + 2]) ? 1u : 0u;
  EXPECT_EQ(wanted, part.domain.as_mesh().cells.size() / 3);
  EXPECT_EQ(whole.frames, pde::cropped(whole, {{0, 0}, {0.8, 0.41}}).frames);
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { pde::cropped(whole, {{2, 2}, {3, 3}}); }), "trajectory: box="));
}

}  // namespace
}  // namespace opshap
