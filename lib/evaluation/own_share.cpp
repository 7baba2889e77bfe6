#include "evaluation/own_share.hpp"

#include <algorithm>
#include <vector>

#include "metrics/registry.hpp"

namespace opshap::evaluation {

Measured own_share(std::span<const double> values, const Scenario& scenario) {
  if (std::ranges::all_of(values, [](double value) { return value == 0; }))
    return Measured::undefined("zero reference");
  std::vector<double> others(values.begin(), values.end());
  for (const Readout::Term& term : scenario.readout.terms())
    others[static_cast<std::size_t>(scenario.partition.player_of[static_cast<std::size_t>(term.query.point)])] = 0;
  return metrics::nrmse(values, others);
}

}  // namespace opshap::evaluation
