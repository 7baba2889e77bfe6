#include <cmath>

#include "known_answers.hpp"

namespace opshap {
namespace {

double bump(double x, double centre, double variance) {
  double sum = 0;
  for (int image = -8; image <= 8; ++image) sum += std::exp(-std::pow(x - centre - image, 2) / (2 * variance));
  return sum;
}

KnownAnswers of_heat2d() {
  const pde::Problem& problem = pde::find("heat2d");
  const double variance = 0.07 * 0.07, time = 0.5, later = variance + 2 * 0.01 * time;
  const FieldBatch initial = field_of(problem.input(), {128, 96}, [&](double x, double y, int) {
    return bump(x, 0.4, variance) * bump(y, 0.7, variance);
  });
  const FieldBatch kernel = field_of(problem.input(), {128, 96}, [&](double x, double y, int) {
    return variance / later * bump(x, 0.4, later) * bump(y, 0.7, later);
  });
  const FieldBatch mirrored = field_of(problem.input(), {96, 128}, [&](double x, double y, int) {
    return bump(y, 0.4, variance) * bump(x, 0.7, variance);
  });
  const auto solved = [&](const FieldBatch& from) { return problem.evolution()->solve(from, time).output.values; };
  const std::vector<double> there = solved(initial), other = solved(mirrored);
  std::vector<double> transposed(there.size());
  for (std::size_t i = 0; i < 128; ++i) {
    for (std::size_t j = 0; j < 96; ++j) transposed[i * 96 + j] = other[j * 128 + i];
  }
  return {{"Fourier", "product of Gaussians at t = 0.5 against the wider one", apart(kernel.values, there), 1e-12},
          {"Fourier", "x and y exchanged", apart(there, transposed), 1e-14}};
}

const AnswersOf heat2d("heat2d", of_heat2d);

}  // namespace
}  // namespace opshap
