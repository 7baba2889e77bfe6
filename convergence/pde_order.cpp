// Every PDE's solver converges in time at the order it promises.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "pde/registry.hpp"

namespace opshap {
namespace {

double parameter(const Pde& pde, const std::string& name) {
  for (const Parameter& parameter : pde.parameters()) {
    if (parameter.name == name) return parameter.value;
  }
  ADD_FAILURE() << pde.name() << " has a finite order and no parameter " << name;
  return 1;
}

/// The largest difference between the solutions with this step and with one 16 times smaller than the smallest of the
/// study, over some samples.
double error(const Pde& pde, double step, double reference_step, int samples) {
  double largest = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const FieldBatch initial = pde.random_initial(Rng(42, "pde_order"), static_cast<std::uint64_t>(sample)).field;
    const auto coarse = pde.with({{"dt", step}})->solve(initial, pde.target_time()).field.values;
    const auto fine = pde.with({{"dt", reference_step}})->solve(initial, pde.target_time()).field.values;
    for (std::size_t j = 0; j < fine.size(); ++j) largest = std::max(largest, std::abs(coarse[j] - fine[j]));
  }
  return largest;
}

/// Slope of log(error) over log(step), by least squares.
double slope(const std::vector<double>& steps, const std::vector<double>& errors) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto count = static_cast<double>(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double log_step = std::log(steps[i]), log_error = std::log(errors[i]);
    x += log_step / count;
    y += log_error / count;
    xx += log_step * log_step / count;
    xy += log_step * log_error / count;
  }
  return (xy - x * y) / (xx - x * x);
}

TEST(PdeOrder, TheErrorFallsWithThePromisedPowerOfTheTimeStep) {
  for (const auto& pde : pdes::all()) {
    if (std::isinf(pde->order())) continue;  // exact in time: nothing to converge
    const double largest_step = 4 * parameter(*pde, "dt");
    std::vector<double> steps, errors;
    std::printf("%s: dt, error\n", std::string(pde->name()).c_str());
    for (const double divisor : {1, 2, 4, 8}) {
      steps.push_back(largest_step / divisor);
      errors.push_back(error(*pde, steps.back(), largest_step / 64, 8));
      std::printf("%.3e %.3e\n", steps.back(), errors.back());
    }
    // Over a factor of 8 in dt the next term of the error changes the slope by some hundredths; a lower order would
    // change it by 1.
    EXPECT_NEAR(pde->order(), slope(steps, errors), 0.25) << pde->name();
  }
}

}  // namespace
}  // namespace opshap
