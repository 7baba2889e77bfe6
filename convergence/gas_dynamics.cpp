// The finite volumes of a gas against flows that are known in closed form: a vortex that a stream carries, and Sod's
// tube.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "pde/finite_volumes.hpp"
#include "reporting/evidence.hpp"
#include "support/rectangle_mesh.hpp"

namespace opshap {
namespace {

using pde::DualMesh;
using pde::Gas;
using pde::GasFlow;

/// A vortex of one entropy around (x, y), in a stream of Mach number .5 along x. Its circular velocity is
/// r exp((1 - r²)/2) / π, and it moves with the stream unchanged (Shu, ICASE Report 97-65, section 5.1).
Gas vortex(double x, double y) {
  const double swirl = std::exp((1 - x * x - y * y) / 2) / std::numbers::pi;
  const double temperature = 1 - (pde::heat_ratio - 1) / 2 * swirl * swirl;
  return {std::pow(temperature, 1 / (pde::heat_ratio - 1)), 0.5 - swirl * y, swirl * x,
          std::pow(temperature, pde::heat_ratio / (pde::heat_ratio - 1)) / pde::heat_ratio};
}

void advance_to(GasFlow& flow, double time) {
  for (double now = 0; now < time;) {
    const double step = flow.advance(time - now);
    now = step < time - now ? now + step : time;
  }
}

/// The deviation of the density in L2 at time 2, when the vortex has gone by its own radius. The border is where the
/// vortex has died away to 1e-8.
double error_of_vortex(int cells) {
  const Mesh mesh = rectangle_mesh({-8, 8}, {-8, 8}, cells, cells, 0.2);
  const auto volumes = std::make_shared<const DualMesh>(DualMesh::of(mesh, [](double, double) { return false; }));
  GasFlow flow(volumes, GasFlow::Limiter::none);
  flow.fill({1, 0.5, 0, 1 / pde::heat_ratio});
  for (std::int64_t node = 0; node < mesh.size(); ++node)
    flow.set(node, vortex(mesh.coordinate(node, 0) + 0.5, mesh.coordinate(node, 1)));
  advance_to(flow, 2);
  double sum = 0;
  for (std::int64_t node = 0; node < mesh.size(); ++node) {
    const double error =
        flow.at(node).density - vortex(mesh.coordinate(node, 0) - 0.5, mesh.coordinate(node, 1)).density;
    sum += volumes->volume[static_cast<std::size_t>(node)] * error * error;
  }
  return std::sqrt(sum);
}

constexpr Gas driver = {1, 0, 0, 1}, driven = {0.125, 0, 0, 0.1};

/// What a side of Sod's tube gains in speed from its own pressure to p: a rarefaction below it, a shock above it (Toro,
/// "Riemann Solvers and Numerical Methods for Fluid Dynamics", section 4.2).
double gained(const Gas& side, double p) {
  constexpr double g = pde::heat_ratio;
  if (p <= side.pressure) {
    const double sound = std::sqrt(g * side.pressure / side.density);
    return 2 * sound / (g - 1) * (std::pow(p / side.pressure, (g - 1) / (2 * g)) - 1);
  }
  return (p - side.pressure) * std::sqrt(2 / side.density / ((g + 1) * p + (g - 1) * side.pressure));
}

/// The density of Sod's tube (J. Comput. Phys. 27, 1978) at a distance from its membrane over time.
double sod(double speed) {
  constexpr double g = pde::heat_ratio;
  double low = driven.pressure, high = driver.pressure;
  for (int i = 0; i < 100; ++i) {
    const double p = (low + high) / 2;
    (gained(driver, p) + gained(driven, p) > 0 ? high : low) = p;
  }
  const double p = (low + high) / 2, u = gained(driven, p), sound = std::sqrt(g * driver.pressure / driver.density);
  const double ratio = p / driven.pressure, k = (g - 1) / (g + 1);
  const double shocked = driven.density * (ratio + k) / (k * ratio + 1);
  const double shock = u * shocked / (shocked - driven.density);
  const double expanded = driver.density * std::pow(p / driver.pressure, 1 / g);
  if (speed > shock) return driven.density;
  if (speed > u) return shocked;
  if (speed > u - std::sqrt(g * p / expanded)) return expanded;
  if (speed < -sound) return driver.density;
  return driver.density * std::pow(2 / (g + 1) - k * speed / sound, 2 / (g - 1));
}

/// Sod's tube, carried along by a stream.
struct Tube {
  double stream, membrane, time;
};

/// The mean deviation of the density on a strip of four cells.
double error_of(const Tube& tube, int cells) {
  const Mesh mesh = rectangle_mesh({0, 1}, {0, 4.0 / cells}, cells, 4);
  const double half_cell = 0.5 / cells;
  const auto volumes = std::make_shared<const DualMesh>(
      DualMesh::of(mesh, [=](double x, double) { return x > half_cell / 2 && x < 1 - half_cell / 2; }));
  const auto carried = [&](Gas gas) {
    gas.velocity_x = tube.stream;
    return gas;
  };
  GasFlow flow(volumes);
  std::vector<Gas> ends;
  for (const DualMesh::Half& half : volumes->far_field) ends.push_back(carried(half.normal_x < 0 ? driver : driven));
  flow.surround(ends);
  for (std::int64_t node = 0; node < mesh.size(); ++node)
    flow.set(node, carried(mesh.coordinate(node, 0) < tube.membrane ? driver : driven));
  advance_to(flow, tube.time);
  double sum = 0, whole = 0;
  for (std::int64_t node = 0; node < mesh.size(); ++node) {
    const double volume = volumes->volume[static_cast<std::size_t>(node)];
    const double speed = (mesh.coordinate(node, 0) - tube.membrane) / tube.time - tube.stream;
    sum += volume * std::abs(flow.at(node).density - sod(speed));
    whole += volume;
  }
  return sum / whole;
}

/// Four meshes, each of half the cells' width.
statistics::Study study_of(const std::string& title, const Tube& tube) {
  statistics::Study study(title, "cell width", "error");
  for (const int cells : {50, 100, 200, 400}) study.add(1.0 / cells, error_of(tube, cells));
  return study;
}

TEST(GasDynamics, ComesToTheFlowsThatAreKnown) {
  // Golden values of the exact solution: Toro's table 4.2 has p = .30313 and u = .92745 between the waves, densities
  // .42632 and .26557 beside the contact.
  ASSERT_NEAR(0.42632, sod(0.9), 5e-6) << "the Riemann solver of this study is wrong";
  ASSERT_NEAR(0.26557, sod(1.0), 5e-6) << "the Riemann solver of this study is wrong";

  statistics::Study carried("vortex in a stream", "cell width", "error");
  for (const int cells : {32, 64, 128, 256}) carried.add(16.0 / cells, error_of_vortex(cells));
  EXPECT_GE(carried.fit().slope, 1.8) << carried.markdown();

  const statistics::Study tube = study_of("Sod's tube", {.stream = 0, .membrane = 0.5, .time = 0.2}),
                          fast = study_of("in a stream of speed 3", {.stream = 3, .membrane = 0.2, .time = 0.1});
  EXPECT_LE(tube.points()[1].error, 0.015) << tube.markdown();
  EXPECT_LE(fast.points()[1].error, 0.015) << fast.markdown();
  for (std::size_t k = 1; k < tube.size(); ++k)
    EXPECT_GE(tube.points()[k - 1].error / tube.points()[k].error, 1.6) << tube.markdown();

  reporting::publish(
      {.name = "gas_dynamics",
       .title = "Finite volumes of a gas against flows in closed form",
       .finding = fmt::format("Without limiter the error falls with the power {:.2f} of the cell width on a smooth "
                              "vortex, with limiter with the power {:.2f} where there are a shock and a contact.",
                              carried.fit().slope, tube.fit().slope),
       .studies = {carried, tube, fast}});
}

}  // namespace
}  // namespace opshap
