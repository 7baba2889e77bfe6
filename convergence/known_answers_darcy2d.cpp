#include <cmath>
#include <numbers>

#include "known_answers.hpp"

namespace opshap {
namespace {

/// −Δu = 1 on the unit square with u = 0 at its edge: a series in one axis with hyperbolic cosines in the other.
double poisson(double x, double y) {
  constexpr double pi = std::numbers::pi;
  double sum = x * (1 - x) / 2;
  for (int k = 1; k < 400; k += 2) {
    // cosh(kπ(y − ½))/cosh(kπ/2) without overflow.
    const double above = std::exp(k * pi * (y - 1)) + std::exp(-k * pi * y), below = 1 + std::exp(-k * pi);
    sum -= 4 / std::pow(k * pi, 3) * std::sin(k * pi * x) * above / below;
  }
  return sum;
}

/// u in two cells of permeability a and b side by side in the unit square, from their two equations by hand: between
/// them flows 2·2ab/(a+b) times the difference, over the outer edge of each cell 2·2a·u, and over its two sides of half
/// the length, half as far from the middle of the square, 2·½·2a·u.
std::vector<double> two_cells(double a, double b) {
  const double between = 4 * a * b / (a + b), left = between + 6 * a, right = between + 6 * b, source = 0.5;
  const double determinant = left * right - between * between;
  return {source * (right + between) / determinant, source * (left + between) / determinant};
}

KnownAnswers of_darcy2d() {
  const pde::Problem& problem = pde::find("darcy2d");
  const auto error = [&](int cells) {
    const FieldBatch one = field_of(problem.input(), {cells, cells}, [](double, double, int) { return 1.0; });
    const FieldBatch exact =
        field_of(problem.output(), {cells, cells}, [](double x, double y, int) { return poisson(x, y); });
    return apart(exact.values, problem.solve(one).output.values);
  };
  const FieldBatch pair = field_of(problem.input(), {2, 1}, [](double x, double, int) { return x < 0.5 ? 1.0 : 50.0; });
  const FieldBatch drawn = problem.draw(Rng(42, "known_answers"), 0).input;
  FieldBatch triple = drawn, turned = drawn;
  for (double& value : triple.values) value *= 3;
  for (std::size_t i = 0; i < 128; ++i) {
    for (std::size_t j = 0; j < 128; ++j) turned.values[j * 128 + i] = drawn.values[i * 128 + j];
  }
  const std::vector<double> there = problem.solve(drawn).output.values, other = problem.solve(turned).output.values;
  std::vector<double> thrice = problem.solve(triple).output.values, back(there.size());
  for (double& value : thrice) value *= 3;
  for (std::size_t i = 0; i < 128; ++i) {
    for (std::size_t j = 0; j < 128; ++j) back[i * 128 + j] = other[j * 128 + i];
  }
  // Rounding, times the condition of the equations: some 1e4 at 128 points.
  return {{"5 points, LDLT", "centre of a = 1, the series of this check against 0.0736713532",
           std::abs(poisson(0.5, 0.5) - 0.0736713532), 1e-10},
          {"5 points, LDLT", "a = 1 on 32 x 32 against the series", error(32), 1.25e-4},
          {"5 points, LDLT", "a = 1, error at 64 over that at 32 (order 1.9: 0.27)", error(64) / error(32), 0.27},
          {"5 points, LDLT", "two cells of permeability 1 and 50 by hand",
           apart(two_cells(1, 50), problem.solve(pair).output.values), 1e-14},
          {"5 points, LDLT", "three times the permeability, a third of u", apart(there, thrice), 1e-11},
          {"5 points, LDLT", "x and y exchanged", apart(there, back), 1e-11}};
}

const AnswersOf darcy2d("darcy2d", of_darcy2d);

}  // namespace
}  // namespace opshap
