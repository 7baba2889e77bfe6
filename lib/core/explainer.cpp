#include "core/explainer.hpp"

#include <cstdint>
#include <numeric>

namespace opshap {

std::vector<double> cell_values(std::span<const double> density, const Domain& domain, const Partition& partition,
                                double empty, double grand) {
  std::vector<double> values(static_cast<std::size_t>(partition.players), 0.0);
  for (std::size_t point = 0; point < density.size(); ++point) {
    values[static_cast<std::size_t>(partition.player_of[point])] +=
        density[point] * domain.volume(static_cast<std::int64_t>(point));
  }
  const double gap = (grand - empty) - std::accumulate(values.begin(), values.end(), 0.0);
  for (std::size_t player = 0; player < values.size(); ++player)
    values[player] += gap * partition.volumes[player] / domain.volume();
  return values;
}

}  // namespace opshap
