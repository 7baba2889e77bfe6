#include "estimators/sample_targets.hpp"

#include <cstddef>

namespace opshap::estimators {

std::vector<double> sample_targets(CountedGame& game, const CoalitionSample& sample, double empty) {
  std::vector<double> values = game.values(all_coalitions(sample));
  if (!sample.paired()) {
    for (double& value : values) value -= empty;
    return values;
  }
  for (std::size_t row = 0; row < sample.coalitions.size(); ++row)
    values[row] = (values[2 * row] - values[2 * row + 1]) / 2;
  values.resize(sample.coalitions.size());
  return values;
}

void subtract_equal_shares(std::vector<double>& targets, const CoalitionSample& sample, double share) {
  const double middle = sample.paired() ? sample.coalitions.players() / 2.0 : 0;
  for (std::size_t row = 0; row < targets.size(); ++row)
    targets[row] -= share * (sample.coalitions.cardinality(row) - middle);
}

}  // namespace opshap::estimators
