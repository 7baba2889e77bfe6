#include "evaluation/hidden_fields.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace opshap::evaluation {

int active_players(const Scenario& scenario) {
  constexpr double rounding = 1e-9;
  const auto points = static_cast<std::size_t>(scenario.input.domain.points());
  const std::span<const double> input = scenario.input.field(0), baseline = scenario.baseline.field(0);
  std::vector<bool> active(static_cast<std::size_t>(scenario.partition.players), false);
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (std::abs(input[i] - baseline[i]) > rounding * std::max(std::abs(input[i]), std::abs(baseline[i])))
      active[static_cast<std::size_t>(scenario.partition.player_of[i % points])] = true;
  }
  return static_cast<int>(std::ranges::count(active, true));
}

std::vector<double> baseline_distances(std::span<const Scenario> scenarios) {
  require(!scenarios.empty(), "baseline_distances: scenarios=0 (there are no data to be far from). Give one or more.");
  std::vector<double> distances;
  for (int channel = 0; channel < scenarios.front().input.channels; ++channel) {
    const auto part_of = [channel](const FieldBatch& field) {
      const auto points = static_cast<std::size_t>(field.domain.points());
      return field.field(0).subspan(static_cast<std::size_t>(channel) * points, points);
    };
    double count = 0, mean = 0, square = 0;  // running, as Welford (1962) has them
    for (const Scenario& scenario : scenarios) {
      for (const double value : part_of(scenario.input)) {
        const double before = value - mean;
        mean += before / ++count;
        square += before * (value - mean);
      }
    }
    const double deviation = std::sqrt(square / count);
    double largest = 0;
    for (const Scenario& scenario : scenarios) {
      const std::span<const double> input = part_of(scenario.input), baseline = part_of(scenario.baseline);
      for (std::size_t i = 0; i < input.size(); ++i) {
        if (baseline[i] != input[i]) largest = std::max(largest, std::abs(baseline[i] - mean));
      }
    }
    distances.push_back(deviation > 0 ? largest / deviation : 0);
  }
  return distances;
}

}  // namespace opshap::evaluation
