#include <cmath>

#include "known_answers.hpp"

namespace opshap {
namespace {

/// A Gaussian of the given height and variance around 0.4, repeated with period 1.
double gaussian(double x, double height, double variance) {
  double sum = 0;
  for (int image = -8; image <= 8; ++image) sum += std::exp(-std::pow(x - 0.4 - image, 2) / (2 * variance));
  return height * sum;
}

KnownAnswers of_heat1d() {
  const pde::Problem& problem = pde::find("heat1d");
  const double variance = 0.05 * 0.05, time = 0.5, later = variance + 2 * 0.01 * time;
  const FieldBatch initial =
      field_of(problem.input(), {1024}, [&](double x, double, int) { return gaussian(x, 1, variance); });
  const FieldBatch kernel = field_of(
      problem.input(), {1024}, [&](double x, double, int) { return gaussian(x, std::sqrt(variance / later), later); });
  const auto solved = [&](const FieldBatch& from, double until) {
    return problem.evolution()->solve(from, until).output;
  };
  const FieldBatch rough = problem.draw(Rng(42, "known_answers"), 3).input;
  return {{"Fourier", "Gaussian at t = 0.5 against the wider one", apart(kernel.values, solved(initial, time).values),
           1e-12},
          {"Fourier", "t = 0.2 after t = 0.3 against t = 0.5",
           apart(solved(rough, 0.5).values, solved(solved(rough, 0.3), 0.2).values), 1e-13}};
}

const AnswersOf heat1d("heat1d", of_heat1d);

}  // namespace
}  // namespace opshap
