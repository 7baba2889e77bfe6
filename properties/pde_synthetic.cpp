// The synthetic problem of two channels in the plane: closed forms on any grid.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "core/error.hpp"
#include "pde/registry.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

constexpr double pi = std::numbers::pi;

Domain box(int nx, int ny) { return Domain::grid({Axis::cells(nx, 2), Axis::cells(ny, 1)}); }

using Function = std::function<double(double, double)>;

std::vector<double> values(const Domain& domain, const Function& function) {
  std::vector<double> values;
  for (int i = 0; i < domain.shape()[0]; ++i) {
    for (int j = 0; j < domain.shape()[1]; ++j)
      values.push_back(function((i + 0.5) * 2 / domain.shape()[0], (j + 0.5) / domain.shape()[1]));
  }
  return values;
}

FieldBatch input(const Domain& domain, const Function& gain, const Function& source) {
  FieldBatch field = FieldBatch::zeros(domain, 1, 2);
  field.values = values(domain, gain);
  const std::vector<double> second = values(domain, source);
  field.values.insert(field.values.end(), second.begin(), second.end());
  return field;
}

// The source is an eigenfunction of the Laplacian with walls: s is the source times 1/(1 + length² λ).
TEST(Synthetic2d, AgreesWithTheClosedFormOfOneModeOnAnyGrid) {
  const Function gain = [](double x, double y) { return 0.3 + x * y; };
  const Function source = [](double x, double y) { return std::cos(3 * pi * x / 2) * std::cos(2 * pi * y); };
  for (const auto& [nx, ny] : {std::pair{4, 3}, {8, 8}, {32, 32}, {17, 40}}) {
    const Domain domain = box(nx, ny);
    const double length = 0.3, lambda = 9 * pi * pi / 4 + 4 * pi * pi;
    const std::vector<double> exact = values(domain, [&](double x, double y) {
      return (1 - 0.25 * gain(x, y)) * source(x, y) / (1 + length * length * lambda);
    });
    const auto problem = pde::find("synthetic2d").with({{"length", length}, {"coupling", -0.25}});
    EXPECT_EQ(
        "", mismatch(exact, problem->solve(input(domain, gain, source)).output.values, rounding(20.0 * (nx + ny), 1)));
  }
}

// The recorded coefficients, summed by hand at the points of the native grid.
TEST(Synthetic2d, DrawsTheSeriesItRecords) {
  const pde::Problem& problem = pde::find("synthetic2d");
  for (std::uint64_t number = 0; number < 5; ++number) {
    const pde::Sample sample = problem.draw(Rng(11, "synthetic"), number);
    const auto series = [&](std::size_t channel, double x, double y, double area) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < 4; ++l) {
          sum += sample.drawn[channel].values[static_cast<std::size_t>(4 * k + l)] * std::cos(pi * k * x / 2) *
                 std::cos(pi * l * y) / (1 + area * pi * pi * (k * k / 4.0 + l * l));
        }
      }
      return sum;
    };
    const Domain domain = problem.input().domain;
    const FieldBatch expected = input(
        domain, [&](double x, double y) { return series(0, x, y, 0); },
        [&](double x, double y) { return series(1, x, y, 0); });
    EXPECT_EQ("", mismatch(expected.values, sample.input.values, rounding(1000, 1)));
    const std::vector<double> solution =
        values(domain, [&](double x, double y) { return (1 + 0.5 * series(0, x, y, 0)) * series(1, x, y, 0.04); });
    EXPECT_EQ("", mismatch(solution, problem.solve(sample.input).output.values, rounding(2000, 1)));
    for (const std::size_t channel : {0, 1}) {
      const double size = largest(std::span(sample.input.values).subspan(channel * 1024, 1024));
      EXPECT_GE(size, 0.5);
      EXPECT_LE(size, 1);
    }
  }
}

// The gain acts at its own point alone, the source everywhere.
TEST(Synthetic2d, IsLocalInTheGainAndNotInTheSource) {
  const Domain domain = box(16, 8);
  const Function one = [](double, double) { return 1.0; };
  const FieldBatch plain = input(domain, one, one);
  FieldBatch gained = plain, sourced = plain;
  gained.values[40] += 0.5;
  sourced.values[128 + 40] += 0.5;
  const auto solve = [](const FieldBatch& field) { return pde::find("synthetic2d").solve(field).output.values; };
  const std::vector<double> before = solve(plain), with_gain = solve(gained), with_source = solve(sourced);
  for (std::size_t p = 0; p < before.size(); ++p) {
    EXPECT_EQ(p == 40, before[p] != with_gain[p]) << p;
    EXPECT_GT(std::abs(before[p] - with_source[p]), 1e-12) << p;
  }
}

TEST(Synthetic2d, RefusesGridsWithoutItsWallsAndWrongParameters) {
  const pde::Problem& problem = pde::find("synthetic2d");
  EXPECT_THROW(problem.solve(FieldBatch::zeros(Domain::unit({8, 8}), 1, 2)), InvalidArgument);
  // Every other point of its own grid: the walls are no longer half a cell away.
  EXPECT_THROW(problem.solve(FieldBatch::zeros(problem.input().domain.strided({16, 16}), 1, 2)), InvalidArgument);
  EXPECT_THROW(problem.with({{"coupling", 1.0}}), InvalidArgument);
  EXPECT_THROW(problem.with({{"length", -0.1}}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
