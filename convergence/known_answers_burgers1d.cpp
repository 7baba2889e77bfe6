#include <algorithm>
#include <cmath>
#include <numbers>

#include "known_answers.hpp"

namespace opshap {
namespace {

using std::numbers::pi;

KnownAnswers of_burgers1d() {
  const pde::Problem& problem = pde::find("burgers1d");
  const FieldBatch sine = field_of(problem.input(), {1024}, [](double x, double, int) { return std::sin(2 * pi * x); });
  const std::vector<double> at_half = problem.evolution()->solve(sine, 0.5).output.values;
  const double highest = *std::max_element(at_half.begin(), at_half.end());

  // The paper's method is bound by stability: on 256 points it needs a sixteenth of the steps.
  const FieldBatch waves = field_of(problem.input(), {256}, [](double x, double, int) {
    return 0.6 * std::sin(2 * pi * x) + 0.3 * std::cos(6 * pi * x);
  });
  const std::vector<double> adaptive = problem.with({{"solver", "rk45"}})->solve(waves).output.values;

  // Seen from a frame that moves at speed c, the field is u + c and has gone c t further. Here it goes whole rounds.
  FieldBatch faster = waves;
  for (double& value : faster.values) value += 4;
  std::vector<double> boosted = problem.evolution()->solve(faster, 0.5).output.values;
  for (double& value : boosted) value -= 4;
  const std::vector<double> still = problem.evolution()->solve(waves, 0.5).output.values;
  return {
      {"ETDRK4", "u(0.25) at t = 0.5 from sin 2 pi x against Cole-Hopf, 0.371607123978",
       std::abs(at_half[256] - 0.371607123978), 1e-10},
      {"ETDRK4", "largest value there against Cole-Hopf, 0.620729606959", std::abs(highest - 0.620729606959), 1e-10},
      {"ETDRK4", "in a frame that moves at 4", apart(still, boosted), 1e-10},
      {"RK45", "against ETDRK4 on 256 points", apart(still, adaptive), 1e-6}};
}

const AnswersOf burgers1d("burgers1d", of_burgers1d);

}  // namespace
}  // namespace opshap
