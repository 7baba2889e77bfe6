// Taylor–Hood elements with the rotational pressure correction converge in space and in time at their orders.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "pde/taylor_hood.hpp"
#include "reporting/evidence.hpp"

namespace opshap {
namespace {

using pde::Point;
using pde::TaylorHood;
constexpr double pi = std::numbers::pi;

/// A box of squares, each cut into two triangles.
Mesh box(int cells, Point low, Point high) {
  std::vector<double> points;
  std::vector<std::int64_t> corners;
  for (int i = 0; i <= cells; ++i) {
    for (int j = 0; j <= cells; ++j) {
      points.push_back(low[0] + (high[0] - low[0]) * i / cells);
      points.push_back(low[1] + (high[1] - low[1]) * j / cells);
      if (i == cells || j == cells) continue;
      const std::int64_t a = i * (cells + 1) + j, b = a + cells + 1;
      corners.insert(corners.end(), {a, b, b + 1, a, b + 1, a + 1});
    }
  }
  return Mesh::of_cells(2, std::move(points), std::move(corners));
}

struct Errors {
  statistics::Study velocity, pressure;

  explicit Errors(const std::string& title, const std::string& effort)
      : velocity(title + ", u", effort, "L2 error"), pressure(title + ", p", effort, "L2 error") {}
};

/// The steady flow behind a grid at a Reynolds number of 40 (Kovasznay 1948), from its own values on. What is steady in
/// the scheme does not depend on the step.
Errors kovasznay() {
  constexpr double viscosity = 1.0 / 40;
  const double rate = 0.5 / viscosity - std::sqrt(0.25 / (viscosity * viscosity) + 4 * pi * pi);
  const auto velocity = [=](double x, double y, double) -> Point {
    return {1 - std::exp(rate * x) * std::cos(2 * pi * y), rate / (2 * pi) * std::exp(rate * x) * std::sin(2 * pi * y)};
  };
  const auto pressure = [=](double x, double, double) { return (1 - std::exp(2 * rate * x)) / 2; };
  Errors errors("Kovasznay", "1 / cells");
  for (const int cells : {8, 16, 32}) {
    TaylorHood flow(box(cells, {-0.5, -0.5}, {1, 1.5}), {.viscosity = viscosity, .boundary = velocity});
    flow.start(velocity, pressure, 0, 0.08 / cells);
    while (flow.time() < 3) flow.advance();
    errors.velocity.add(1.0 / cells, flow.velocity_error(velocity));
    errors.pressure.add(1.0 / cells, flow.pressure_error(pressure));
  }
  return errors;
}

/// u = (sin x sin(y + t), cos x cos(y + t)), p = ν cos x sin(y + t) with the force that this needs. Nothing pulls at x
/// = 0, which may be an outlet (Guermond, Minev & Shen 2005 have viscosity 1). Errors are root mean squares over time.
Errors moving(bool with_outlet) {
  constexpr double viscosity = 0.1;
  const auto velocity = [](double x, double y, double t) -> Point {
    return {std::sin(x) * std::sin(y + t), std::cos(x) * std::cos(y + t)};
  };
  const auto pressure = [](double x, double y, double t) { return viscosity * std::cos(x) * std::sin(y + t); };
  const auto force = [](double x, double y, double t) -> Point {
    const double sx = std::sin(x), cx = std::cos(x), s = std::sin(y + t), c = std::cos(y + t);
    // ∂u/∂t + (u·∇)u + ∇p − ν∆u, of which ∇p is ν(−sx s, cx c) and −ν∆u is 2νu.
    return {sx * c + sx * s * cx * s + cx * c * sx * c + viscosity * sx * s,
            -cx * s - sx * s * sx * c - cx * c * cx * s + 3 * viscosity * cx * c};
  };
  pde::FlowConditions conditions{.viscosity = viscosity, .boundary = velocity, .force = force};
  if (with_outlet) conditions.outlet = [](double x, double) { return x < 1e-9; };
  Errors errors(with_outlet ? "with an outlet" : "velocity given", "time step");
  for (const int steps : {10, 20, 40, 80}) {
    TaylorHood flow(box(24, {0, 0}, {1, 1}), conditions);
    flow.start(velocity, pressure, 0, 1.0 / steps);
    double of_velocity = 0, of_pressure = 0;
    for (int step = 0; step < steps; ++step) {
      flow.advance();
      of_velocity += std::pow(flow.velocity_error(velocity), 2) / steps;
      of_pressure += std::pow(flow.pressure_error(pressure), 2) / steps;
    }
    errors.velocity.add(1.0 / steps, std::sqrt(of_velocity));
    errors.pressure.add(1.0 / steps, std::sqrt(of_pressure));
  }
  return errors;
}

TEST(NavierStokesOrder, ErrorsFallWithTheOrdersOfTheScheme) {
  const Errors space = kovasznay(), closed = moving(false), open = moving(true);
  // Theory: 3 and 2 in space; in time 2 for the velocity and 3/2 for the pressure, and with an outlet between 1 and 3/2
  // for the velocity. The bounds leave some tenths to terms of higher order and to the error in space.
  EXPECT_GE(space.velocity.fit().slope, 2.8);
  EXPECT_GE(space.pressure.fit().slope, 1.8);
  EXPECT_GE(closed.velocity.fit().slope, 1.8);
  EXPECT_GE(closed.pressure.fit().slope, 1.4);
  EXPECT_GE(open.velocity.fit().slope, 1);
  reporting::publish(
      {.name = "navier_stokes_order",
       .title = "Errors of incompressible flow against edges and time steps",
       .finding = "Taylor-Hood elements with the rotational pressure correction converge at the orders of "
                  "theory: 3 and 2 in space, 2 in time where the velocity is given all round. With an "
                  "outlet theory has 1 to 3/2, and these steps show somewhat more.",
       .studies = {space.velocity, space.pressure, closed.velocity, closed.pressure, open.velocity, open.pressure}});
}

}  // namespace
}  // namespace opshap
