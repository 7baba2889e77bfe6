#include <algorithm>
#include <cmath>
#include <numbers>

#include "known_answers.hpp"

namespace opshap {
namespace {

constexpr double turn = 2 * std::numbers::pi;

double waves(double x) {
  return std::sin(turn * x + 0.3) + 0.4 * std::cos(turn * 8 * x) - 0.2 * std::sin(turn * 20 * x);
}

KnownAnswers of_advection1d() {
  const pde::Problem& problem = pde::find("advection1d");
  const FieldBatch initial = field_of(problem.input(), {1024}, [](double x, double, int) { return waves(x); });
  const auto at = [&](double time) { return problem.evolution()->solve(initial, time).output.values; };
  std::vector<double> shifted, rolled = initial.values;
  for (int j = 0; j < 1024; ++j) shifted.push_back(waves(initial.domain.coordinate(0, j) - 0.3));
  std::rotate(rolled.begin(), rolled.end() - 37, rolled.end());
  const FieldBatch odd = field_of(problem.input(), {99}, [](double x, double, int) { return waves(x); });
  std::vector<double> odd_shifted;
  for (int j = 0; j < 99; ++j) odd_shifted.push_back(waves(odd.domain.coordinate(0, j) + 0.45));
  return {{"Fourier", "waves at t = 0.3 against their shift", apart(shifted, at(0.3)), 1e-12},
          {"Fourier", "waves at t = 1 against the start", apart(initial.values, at(1)), 1e-12},
          {"Fourier", "waves at t = 37/1024 against the rolled start", apart(rolled, at(37.0 / 1024)), 1e-12},
          {"Fourier", "waves at t = 0.3, beta = -1.5, N = 99",
           apart(odd_shifted, problem.with({{"beta", -1.5}})->evolution()->solve(odd, 0.3).output.values), 1e-12}};
}

const AnswersOf advection1d("advection1d", of_advection1d);

}  // namespace
}  // namespace opshap
