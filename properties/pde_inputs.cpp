// Inputs and parameters that a problem cannot work with: each is refused by what is wrong with it.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/registry.hpp"
#include "support/field_of.hpp"

namespace opshap {
namespace {

/// What the refusal of solving `field` says; "" when it is solved.
template <typename E>
std::string refusal(const pde::Problem& problem, const FieldBatch& field) {
  try {
    problem.solve(field);
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& name, const pde::ParameterValues& values) {
  try {
    pde::find(name).with(values);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

#define EXPECT_SAYS(text, part) EXPECT_NE(std::string::npos, (text).find(part)) << (text)

TEST(PdeInputs, AFieldWithAJumpAtTheSeamIsSolvedWithARemark) {
  for (const char* name : {"advection1d", "heat1d"}) {
    const pde::Problem& problem = pde::find(name);
    const FieldBatch sawtooth = field_of(problem.input(), {64}, [](double x, double, int) { return x; });
    EXPECT_SAYS(pde::seam_remark(sawtooth), "jump=0.984375");
    EXPECT_EQ("", refusal<InvalidArgument>(problem, sawtooth)) << name;
    const FieldBatch constant = field_of(problem.input(), {64}, [](double, double, int) { return 0.25; });
    EXPECT_EQ("", pde::seam_remark(constant));
    // A jump has a second one elsewhere in a periodic field, wherever the axis begins.
    const FieldBatch step = field_of(problem.input(), {64}, [](double x, double, int) { return x < 0.5 ? 0 : 0.5; });
    EXPECT_EQ("", pde::seam_remark(step));
  }
  const pde::Problem& plane = pde::find("heat2d");
  EXPECT_SAYS(
      pde::seam_remark(field_of(plane.input(), {16, 32}, [](double x, double y, int) { return y + std::sin(7 * x); })),
      "axis=1, jump=0.96875");
  EXPECT_SAYS(pde::seam_remark(field_of(plane.input(), {16, 16}, [](double x, double, int) { return x; })),
              "axis=0, jump=");
}

TEST(PdeInputs, ThePapersFieldsWithAJumpAreSolved) {
  const auto jumping = pde::find("allen_cahn1d").with({{"ic.closure", "seam_jump"}});
  const FieldBatch field = jumping->draw(Rng(3, "pde_inputs"), 0).input;
  // tanh at both ends, of opposite signs.
  EXPECT_GT(std::abs(field.values.front() - field.values.back()), 1.8);
  EXPECT_EQ("", refusal<InvalidArgument>(*jumping, field));
  EXPECT_SAYS(pde::seam_remark(field), "jump=");
}

TEST(PdeInputs, ImpossibleValuesAreRefusedWithTheirPoint) {
  const pde::Problem& darcy = pde::find("darcy2d");
  FieldBatch ground = field_of(darcy.input(), {8, 8}, [](double, double, int) { return 1.0; });
  ground.values[19] = 0;
  EXPECT_SAYS(refusal<DataError>(darcy, ground), "point=19, a=0 (a permeability is positive)");
  const pde::Problem& water = pde::find("shallow_water2d");
  FieldBatch depth = field_of(water.input(), {8, 8}, [](double, double, int) { return 1.0; });
  depth.values[7] = -0.1;
  EXPECT_SAYS(refusal<DataError>(water, depth), "point=7, h=-0.1 (a depth is not negative)");
  const pde::Problem& solute = pde::find("diffusion_sorption1d");
  FieldBatch concentration = field_of(solute.input(), {32}, [](double x, double, int) { return 1 - x; });
  concentration.values[31] = -1e-3;
  EXPECT_SAYS(refusal<DataError>(solute, concentration), "point=31, u=-0.001 (a concentration is not negative)");
}

TEST(PdeInputs, GridsOfAnotherKindAreRefused) {
  const auto on = [](const Domain& domain) { return FieldBatch::zeros(domain, 1, 1); };
  EXPECT_SAYS(refusal<InvalidArgument>(pde::find("darcy2d"), on(Domain::unit({8, 8}))), "middles of cells");
  EXPECT_SAYS(refusal<InvalidArgument>(pde::find("shallow_water2d"), on(Domain::unit({8, 8}))), "its walls");
  EXPECT_SAYS(refusal<InvalidArgument>(pde::find("diffusion_sorption1d"), on(Domain::unit({32}))), "both ends");
  EXPECT_SAYS(refusal<InvalidArgument>(pde::find("heat1d"), on(Domain::grid({Axis::nodes(32)}))), "periodic");
  EXPECT_SAYS(refusal<InvalidArgument>(pde::find("allen_cahn1d"), on(Domain::unit({4}))), "N=4");
}

TEST(PdeInputs, ParametersThatCannotWorkAreRefused) {
  EXPECT_SAYS(refusal("shallow_water2d", {{"cfl", 0.6}}),
              "cfl=0.6 (an unsplit scheme in the plane is stable up to 0.5)");
  EXPECT_SAYS(refusal("shallow_water2d", {{"order", "third"}}),
              "order=third (not one of its choices). Give one of first, muscl.");
  EXPECT_SAYS(refusal("shallow_water2d", {{"points", 20.5}}), "points=20.5");
  EXPECT_SAYS(refusal("gray_scott2d", {{"dt", 0.0}}), "dt=0");
  EXPECT_SAYS(refusal("gray_scott2d", {{"F", -0.1}}), "F=-0.1");
  EXPECT_SAYS(refusal("allen_cahn1d", {{"dt", -1.0}}), "dt=-1");
  EXPECT_SAYS(refusal("allen_cahn1d", {{"ic.closure", 1.0}}), "ic.closure=1 (not one of its choices)");
  EXPECT_SAYS(refusal("diffusion_sorption1d", {{"phi", 0.0}}), "phi=0");
  EXPECT_SAYS(refusal("darcy2d", {{"sigma", -1.0}}), "sigma=-1");
  EXPECT_SAYS(refusal("heat1d", {{"kappa", -0.1}}), "kappa=-0.1 (must not be negative)");
  EXPECT_SAYS(refusal("heat2d", {{"kapa", 0.1}}), "Did you mean kappa?");
  EXPECT_SAYS(refusal("burgers1d", {{"nu", "thick"}}), "nu=thick (not a finite number)");
}

// A step so long that the numbers overflow is told, not returned.
TEST(PdeInputs, SolutionsThatBlowUpAreRefused) {
  const auto problem = pde::find("gray_scott2d").with({{"points", 16.0}, {"dt", 100.0}, {"time", 4000.0}});
  const FieldBatch hot = field_of(problem->input(), {16, 16}, [](double, double, int c) { return c == 0 ? 5.0 : 4.0; });
  EXPECT_SAYS(refusal<NumericalError>(*problem, hot), "blows up: dt=100");
}

TEST(PdeInputs, WaterWithMomentaKeepsThem) {
  const pde::Evolution& water = *pde::find("shallow_water2d").evolution();
  const FieldBatch swirl = field_of(water.state(), {16, 16}, [](double x, double y, int channel) {
    return channel == 0 ? 1 : channel == 1 ? 0.1 * std::sin(6 * y) : -0.1 * std::sin(6 * x);
  });
  const FieldBatch later = water.solve(swirl, 0.05).output;
  EXPECT_EQ(3, later.channels);
  const std::size_t points = 256;
  const std::span<const double> depth(later.values.data(), points), along(later.values.data() + points, points);
  EXPECT_GT(pde::largest(along), 0.01);
  EXPECT_NEAR(1, pde::mean(depth), 1e-13);
}

}  // namespace
}  // namespace opshap
