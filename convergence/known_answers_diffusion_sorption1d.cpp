#include <cmath>
#include <numbers>

#include "known_answers.hpp"

namespace opshap {
namespace {

KnownAnswers of_diffusion_sorption1d() {
  const pde::Problem& problem = pde::find("diffusion_sorption1d");
  const FieldBatch initial =
      field_of(problem.input(), {1024}, [](double x, double, int) { return std::exp(-x / 0.05); });
  const std::vector<double> at_250 = problem.solve(initial).output.values;

  // With the exponent 1 the ground slows everything alike: the heat equation, whose slowest wave is sin(pi x/2).
  const auto linear = problem.with({{"n_f", 1.0}, {"k_f", 0.29}, {"rtol", 1e-8}, {"atol", 1e-11}});
  const double decay = std::exp(-5e-4 / 2 * std::pow(std::numbers::pi / 2, 2) * 250);
  const auto wave = [&](double height) {
    return field_of(problem.input(), {1024},
                    [height](double x, double, int) { return 1 - height * std::sin(std::numbers::pi * x / 2); });
  };
  const std::vector<double> faded = linear->evolution()->solve(wave(0.8), 250).output.values;
  // The golden values have the digits that their source gives.
  return {{"CVODE BDF", "u(102/1023) at t = 250, lambda = 0.05, against 0.5222", std::abs(at_250[102] - 0.5222), 1e-4},
          {"CVODE BDF", "u(307/1023) there against 0.0053", std::abs(at_250[307] - 0.0053), 1e-4},
          {"CVODE BDF", "u(512/1023) there against 4.615e-5", std::abs(at_250[512] - 4.615e-5), 1e-8},
          {"CVODE BDF", "linear sorption: 1 - sin(pi x/2) at t = 250", apart(wave(0.8 * decay).values, faded), 1e-6}};
}

const AnswersOf diffusion_sorption1d("diffusion_sorption1d", of_diffusion_sorption1d);

}  // namespace
}  // namespace opshap
