// The solvers of finite differences and finite volumes converge in space at the order of their schemes. Those in
// Fourier space have no such order: their errors are in known_answers.

#include <gtest/gtest.h>

#include <cmath>

#include "pde/registry.hpp"
#include "reporting/evidence.hpp"
#include "support/field_of.hpp"

namespace opshap {
namespace {

/// Means over pairs of cells along both axes of a square grid.
std::vector<double> halved(const std::vector<double>& fine, std::size_t side) {
  std::vector<double> coarse((side / 2) * (side / 2));
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < side; ++j) coarse[(i / 2) * (side / 2) + j / 2] += fine[i * side + j] / 4;
  }
  return coarse;
}

double mean_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t p = 0; p < a.size(); ++p) sum += std::abs(a[p] - b[p]);
  return sum / static_cast<double>(a.size());
}

/// Each grid of nodes against the next, which has a point between any two of it.
statistics::Study diffusion_sorption() {
  const auto problem = pde::find("diffusion_sorption1d").with({{"rtol", 1e-9}, {"atol", 1e-12}});
  const auto solved = [&](int points) {
    return problem
        ->solve(field_of(problem->input(), {points}, [](double x, double, int) { return std::exp(-x / 0.05); }))
        .output.values;
  };
  statistics::Study study("diffusion_sorption1d", "cell width", "change to half the width");
  std::vector<double> coarse = solved(129);
  for (const int cells : {128, 256, 512, 1024}) {
    const std::vector<double> fine = solved(2 * cells + 1);
    double largest = 0;
    for (std::size_t j = 0; j < coarse.size(); ++j) largest = std::max(largest, std::abs(coarse[j] - fine[2 * j]));
    study.add(1.0 / cells, largest);
    coarse = fine;
  }
  return study;
}

/// Each grid of cells against the next, whose cells are averaged.
statistics::Study shallow_water(const std::string& order) {
  const auto problem = pde::find("shallow_water2d").with({{"order", order}});
  const auto solved = [&](int side) {
    return problem->evolution()
        ->solve(field_of(problem->input(), {side, side},
                         [](double x, double y, int) {
                           return 1 + 0.1 * std::exp(-((x - 0.45) * (x - 0.45) + (y - 0.5) * (y - 0.5)) / 0.02);
                         }),
                0.05)
        .output.values;
  };
  statistics::Study study("shallow_water2d, " + order, "cell width", "change to half the width");
  std::vector<double> coarse = solved(32);
  for (const int side : {32, 64, 128}) {
    const std::vector<double> fine = solved(2 * side);
    study.add(1.0 / side, mean_distance(coarse, halved(fine, static_cast<std::size_t>(2 * side))));
    coarse = fine;
  }
  return study;
}

/// A permeability without jumps, each grid against the next.
statistics::Study darcy() {
  const pde::Problem& problem = pde::find("darcy2d");
  const auto solved = [&](int side) {
    return problem
        .solve(field_of(problem.input(), {side, side},
                        [](double x, double y, int) { return std::exp(std::sin(5 * x) * std::cos(4 * y)); }))
        .output.values;
  };
  statistics::Study study("darcy2d", "cell width", "change to half the width");
  std::vector<double> coarse = solved(16);
  for (const int side : {16, 32, 64, 128}) {
    const std::vector<double> fine = solved(2 * side);
    study.add(1.0 / side, mean_distance(coarse, halved(fine, static_cast<std::size_t>(2 * side))));
    coarse = fine;
  }
  return study;
}

TEST(PdeSpaceOrder, TheErrorFallsWithThePowerOfTheScheme) {
  const std::vector<std::pair<statistics::Study, double>> studies = {
      {diffusion_sorption(), 2}, {darcy(), 2}, {shallow_water("first"), 1}, {shallow_water("muscl"), 2}};
  reporting::Evidence evidence{.name = "pde_space_order",
                               .title = "Errors of the solvers against the width of their cells",
                               .finding = "Schemes of first and second order converge as such.",
                               .studies = {}};
  for (const auto& [study, order] : studies) {
    // The scheme of first order shows three quarters of its order on grids as coarse as these; the others are within
    // 0.1. A lower order would be off by 1.
    EXPECT_NEAR(order, study.fit().slope, 0.4) << study.title();
    evidence.studies.push_back(study);
  }
  reporting::publish(evidence);
}

}  // namespace
}  // namespace opshap
