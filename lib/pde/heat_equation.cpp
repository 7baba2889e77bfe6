#include "pde/heat_equation.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/fourier.hpp"

namespace opshap::pde {

HeatEquation::HeatEquation(std::string_view who, std::vector<Parameter> parameters)
    : parameters_(std::move(parameters)) {
  require_not_negative(who, parameters_, {"kappa"});
}

std::vector<Invariant> HeatEquation::invariants() const {
  const std::string remedy = "Report this: no setting can break the law.";
  return {{"mean_drift", 1e-13, remedy},
          {"energy_growth", 1e-12, remedy},
          {"range_overshoot", 1e-12, "Give a field that the grid resolves."}};
}

Solution HeatEquation::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, input());
  require_time(name(), time);
  require_periodic(name(), initial);
  Solution solution{initial, 0, {0, 0, 0}};
  if (time == 0) return solution;

  const Wavenumbers wavenumbers(initial.domain);
  const double kappa = number(parameters_, "kappa");
  solution.output.values = filtered(initial.domain, initial.values, wavenumbers,
                                    [&](std::size_t k) { return std::exp(-kappa * wavenumbers.square(k) * time); });
  const std::vector<double>& now = solution.output.values;
  const double scale = std::max(largest(initial.values), 1e-300);
  const Range before(initial.values), after(now);
  const double overshoot = std::max(after.high - before.high, before.low - after.low);
  solution.departures = {std::abs(mean(now) - mean(initial.values)) / scale,
                         std::max(0.0, mean_square(now) - mean_square(initial.values)) / (scale * scale),
                         std::max(0.0, overshoot - missed_extreme(initial.domain, initial.values)) / scale};
  return solution;
}

std::vector<PairLaw> HeatEquation::pair_laws(const FieldBatch& initial, const FieldBatch& later) const {
  std::vector<PairLaw> laws = spreading_laws(initial, later, 1e-12);
  std::vector<double> apart = solve(initial, target_time()).output.values;
  for (std::size_t p = 0; p < apart.size(); ++p) apart[p] -= later.values[p];
  // The output is the solution for the rounded input, rounded itself.
  laws.push_back(
      {"modes_decayed", largest(apart) / std::max(largest(initial.values), 1e-300), std::ldexp(1.0, -24) + 1e-12});
  return laws;
}

}  // namespace opshap::pde
