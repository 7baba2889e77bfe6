#include <algorithm>
#include <cmath>
#include <numbers>

#include "known_answers.hpp"
#include "pde/fourier.hpp"
#include "pde/sundials.hpp"

namespace opshap {
namespace {

using std::numbers::pi;

/// A kink and its mirror image, half a period apart, of the width at which they stand still.
double standing_kinks(double x, double eps) {
  return std::tanh((0.25 - std::abs(std::remainder(x - 0.5, 1.0))) / (std::sqrt(2.0) * eps));
}

/// The same equation by the explicit method of Dormand and Prince, with u³ on the grid and no dealiasing.
std::vector<double> by_rk45(const FieldBatch& initial, double eps, double time) {
  const pde::Wavenumbers waves(initial.domain);
  std::vector<double> u = initial.values;
  pde::integrate_explicit(
      "known_answers", u, time, {1e-9, 1e-11}, [&](std::span<const double> now, std::span<double> change) {
        const std::vector<double> spread =
            pde::filtered(initial.domain, now, waves, [&](std::size_t k) { return -eps * eps * waves.square(k); });
        for (std::size_t j = 0; j < now.size(); ++j) change[j] = spread[j] + now[j] - now[j] * now[j] * now[j];
      });
  return u;
}

KnownAnswers of_allen_cahn1d() {
  const pde::Problem& problem = pde::find("allen_cahn1d");
  const auto solved = [&](const FieldBatch& from, double time) {
    return problem.evolution()->solve(from, time).output.values;
  };
  double worst = 0;
  for (const double level : {-0.9, 0.1, 0.5, 1.0, 1.3}) {
    const FieldBatch constant = field_of(problem.input(), {64}, [&](double, double, int) { return level; });
    const double exact = level / std::sqrt(level * level + (1 - level * level) * std::exp(-0.5));
    worst = std::max(worst, apart(std::vector<double>(64, exact), solved(constant, 0.25)));
  }
  const FieldBatch drawn = problem.draw(Rng(42, "known_answers"), 1).input;
  FieldBatch negative = drawn;
  for (double& value : negative.values) value = -value;
  std::vector<double> mirrored = solved(negative, 0.25);
  for (double& value : mirrored) value = -value;

  const auto narrow = problem.with({{"eps", 0.02}});
  const FieldBatch kinks =
      field_of(problem.input(), {1024}, [](double x, double, int) { return standing_kinks(x, 0.02); });
  const FieldBatch smooth = field_of(problem.input(), {128}, [](double x, double, int) {
    return 0.8 * std::sin(2 * pi * x) + 0.3 * std::cos(4 * pi * x);
  });
  return {{"ETDRK4", "constant fields at t = 0.25 against u' = u - u^3", worst, 1e-10},
          {"ETDRK4", "the field with all signs changed", apart(solved(drawn, 0.25), mirrored), 1e-14},
          // The images attract each other by e^(-sqrt(2) distance/eps) = 4e-16, and the peaks between them are corners
          // of 1 - tanh = 2e-8.
          {"ETDRK4", "kinks of eps = 0.02 that stand still, at t = 1",
           apart(kinks.values, narrow->evolution()->solve(kinks, 1).output.values), 1e-7},
          {"ETDRK4", "waves against RK45 (ERKStep), N = 128", apart(by_rk45(smooth, 0.1, 0.25), solved(smooth, 0.25)),
           1e-8}};
}

const AnswersOf allen_cahn1d("allen_cahn1d", of_allen_cahn1d);

}  // namespace
}  // namespace opshap
