// Every PDE's solver converges in time at the order it promises.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pde/registry.hpp"
#include "reporting/evidence.hpp"

namespace opshap {
namespace {

/// The largest difference between the solutions with each step and with the reference step, over some samples.
std::vector<double> errors(const pde::Problem& problem, const std::string& parameter, const std::vector<double>& steps,
                           double reference_step, int samples) {
  std::vector<double> largest(steps.size(), 0.0);
  for (int sample = 0; sample < samples; ++sample) {
    const FieldBatch input = problem.draw(Rng(42, "pde_order"), static_cast<std::uint64_t>(sample)).input;
    const auto fine = problem.with({{parameter, reference_step}})->solve(input).output.values;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto coarse = problem.with({{parameter, steps[i]}})->solve(input).output.values;
      for (std::size_t j = 0; j < fine.size(); ++j) largest[i] = std::max(largest[i], std::abs(coarse[j] - fine[j]));
    }
  }
  return largest;
}

TEST(PdeOrder, TheErrorFallsWithThePromisedPowerOfTheTimeStep) {
  reporting::Evidence evidence{.name = "pde_order",
                               .title = "Errors of the solvers against their time steps",
                               .finding = "Every solver converges at the order it promises.",
                               .studies = {}};
  for (const auto& known : pde::all()) {
    const std::unique_ptr<pde::Problem> problem = known->with(known->quick());
    // Nothing converges in a static problem, nor where the scheme is exact in time or controls its own steps.
    if (problem->evolution() == nullptr || !problem->evolution()->time_stepping()) continue;
    const auto [parameter, order] = *problem->evolution()->time_stepping();
    const double largest_step = 4 * pde::number(problem->parameters(), parameter);
    statistics::Study study(std::string(problem->name()), "time step", "error");
    const std::vector<double> steps = {largest_step, largest_step / 2, largest_step / 4, largest_step / 8};
    const std::vector<double> found = errors(*problem, parameter, steps, largest_step / 64, 4);
    for (std::size_t i = 0; i < steps.size(); ++i) study.add(steps[i], found[i]);
    evidence.studies.push_back(study);
    // Over a factor of 8 in dt the next term of the error changes the slope by some hundredths; a lower order would
    // change it by 1.
    EXPECT_NEAR(order, study.fit().slope, 0.25) << problem->name();
  }
  reporting::publish(evidence);
}

}  // namespace
}  // namespace opshap
