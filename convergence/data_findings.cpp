// What is wrong with the paper's data, in numbers, and the setting that avoids it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pde/fields.hpp"
#include "pde/fourier.hpp"
#include "pde/registry.hpp"
#include "reporting/evidence.hpp"

namespace opshap {
namespace {

pde::Sample drawn(const pde::Problem& problem, std::uint64_t sample) {
  return problem.draw(Rng(42, "data_findings"), sample);
}

/// The largest change of the solution from the initial value at the grid point nearest to x, over some samples.
double largest_change(const pde::Problem& problem, double x) {
  double largest = 0;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    const FieldBatch initial = drawn(problem, sample).input;
    const auto point = static_cast<std::size_t>(initial.domain.nearest({x}));
    largest = std::max(largest, std::abs(problem.solve(initial).output.values[point] - initial.values[point]));
  }
  return largest;
}

/// sqrt(mean square of the difference / mean square) of the second of two channels.
double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double apart = 0, size = 0;
  for (std::size_t p = a.size() / 2; p < a.size(); ++p) {
    apart += (a[p] - b[p]) * (a[p] - b[p]);
    size += b[p] * b[p];
  }
  return std::sqrt(apart / size);
}

/// The wavelength of the ring of modes with the most energy of v.
double pattern_wavelength(const FieldBatch& fields) {
  const auto points = static_cast<std::size_t>(fields.domain.points());
  const pde::RealFourier fourier(fields.domain.shape());
  std::copy_n(fields.values.begin() + static_cast<std::ptrdiff_t>(points), points, fourier.values().begin());
  fourier.forward();
  const pde::Wavenumbers wavenumbers(fields.domain);
  const double turn = 2 * std::numbers::pi / fields.domain.axes()[0].extent;
  std::vector<double> rings(points, 0);
  for (std::size_t k = 1; k < wavenumbers.size(); ++k)
    rings[static_cast<std::size_t>(std::lround(std::sqrt(wavenumbers.square(k)) / turn))] +=
        std::norm(fourier.modes()[k]);
  // The slow waves are where the patches were, not what the patches are made of.
  const auto first = rings.begin() + 6;
  return fields.domain.axes()[0].extent / static_cast<double>(std::max_element(first, rings.end()) - rings.begin());
}

TEST(DataFindings, AreTabulated) {
  reporting::Table table{.name = "findings",
                         .caption = "One row a number. What avoids the problem is a setting of ours.",
                         .columns = {{"PDE"}, {"what"}, {"number", true}, {"avoided by"}},
                         .rows = {}};
  const auto row = [&](const char* pde, const std::string& what, double number, const char* avoided) {
    table.add({pde, what, fmt::format("{:.3g}", number), avoided});
  };

  const pde::Problem& sorption = pde::find("diffusion_sorption1d");
  const double centre = largest_change(sorption, 0.5), near = largest_change(sorption, 0.2);
  EXPECT_LT(centre, 1e-3) << "the front does not come to the paper's query";
  EXPECT_GT(near, 0.1);
  const char* query = "query_at = [0.2] in [scenario]";
  row("diffusion_sorption1d", "largest change of u at the paper's query x = 0.5 until t = 250, 20 samples", centre,
      query);
  row("diffusion_sorption1d", "the same at x = 0.2", near, "(this is the other query)");

  const auto paper = pde::find("gray_scott2d").with({{"time", 100.0}});
  const auto resolved = paper->with({{"solver", "resolved"}});
  const FieldBatch discs = drawn(*paper, 0).input;
  const double unresolved = relative_distance(paper->solve(discs).output.values, resolved->solve(discs).output.values);
  EXPECT_GT(unresolved, 0.01) << "the paper's grid does not hold the equation's solution";
  row("gray_scott2d", "relative distance of v at t = 100 on the paper's grid from twice the points", unresolved,
      "solver=resolved");

  const FieldBatch pattern = pde::find("gray_scott2d").evolution()->solve(discs, 2500).output;
  const double wavelength = pattern_wavelength(pattern);
  EXPECT_GT(2 * 2.5 / 16, wavelength) << "16 x 16 points would hold the pattern";
  row("gray_scott2d", "wavelength of the pattern of v at t = 2500", wavelength, "(of the equation)");
  for (const int side : {4, 8, 16, 32})
    row("gray_scott2d", fmt::format("shortest wave that {} x {} points hold", side, side), 2 * 2.5 / side,
        side == 32 ? "(nearly holds it)" : "32 x 32 points");

  const pde::Problem& closing = pde::find("allen_cahn1d");
  const auto jumping = closing.with({{"ic.closure", "seam_jump"}});
  double jump = 0;
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const std::vector<double> values = drawn(*jumping, sample).input.values;
    jump += std::abs(values.front() - values.back()) / 200;
  }
  EXPECT_GT(jump, 1.9);
  row("allen_cahn1d", "mean jump where the interval closes, of three kinks, 200 samples", jump,
      "ic.closure=fourth_kink");
  reporting::publish({.name = "data_findings",
                      .title = "What is wrong with the paper's data",
                      .finding =
                          "The query of diffusion-sorption sees nothing happen, Gray-Scott is not resolved by "
                          "its grid nor its pattern by most of the players' grids, and three kinks do not close.",
                      .studies = {},
                      .tables = {std::move(table)}});
}

}  // namespace
}  // namespace opshap
