// Every PDE's solver converges in time at the order it promises.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pde/registry.hpp"
#include "reporting/evidence.hpp"

namespace opshap {
namespace {

double parameter(const pde::Pde& pde, const std::string& name) {
  for (const pde::Parameter& parameter : pde.parameters()) {
    if (parameter.name == name) return parameter.value;
  }
  ADD_FAILURE() << pde.name() << " has a finite order and no parameter " << name;
  return 1;
}

/// The largest difference between the solutions with this step and with one 16 times smaller than the smallest of the
/// study, over some samples.
double error(const pde::Pde& pde, double step, double reference_step, int samples) {
  double largest = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const FieldBatch initial = pde.random_initial(Rng(42, "pde_order"), static_cast<std::uint64_t>(sample)).field;
    const auto coarse = pde.with({{"dt", step}})->solve(initial, pde.target_time()).field.values;
    const auto fine = pde.with({{"dt", reference_step}})->solve(initial, pde.target_time()).field.values;
    for (std::size_t j = 0; j < fine.size(); ++j) largest = std::max(largest, std::abs(coarse[j] - fine[j]));
  }
  return largest;
}

TEST(PdeOrder, TheErrorFallsWithThePromisedPowerOfTheTimeStep) {
  reporting::Evidence evidence{.name = "pde_order",
                               .title = "Errors of the solvers against their time steps",
                               .finding = "Every solver converges at the order it promises.",
                               .studies = {}};
  for (const auto& pde : pde::all()) {
    if (std::isinf(pde->order())) continue;  // exact in time: nothing to converge
    const double largest_step = 4 * parameter(*pde, "dt");
    statistics::Study study(std::string(pde->name()), "time step", "error");
    for (const double divisor : {1, 2, 4, 8})
      study.add(largest_step / divisor, error(*pde, largest_step / divisor, largest_step / 64, 8));
    evidence.studies.push_back(study);
    // Over a factor of 8 in dt the next term of the error changes the slope by some hundredths; a lower order would
    // change it by 1.
    EXPECT_NEAR(pde->order(), study.fit().slope, 0.25) << pde->name();
  }
  reporting::publish(evidence);
}

}  // namespace
}  // namespace opshap
