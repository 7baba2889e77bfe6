#include "support/operator_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace opshap {

FieldBatch random_field(const Domain& domain, int channels, Rng& rng, std::int64_t batch) {
  FieldBatch field = FieldBatch::zeros(domain, batch, channels);
  for (double& value : field.values) value = rng.normal();
  return field;
}

Partition random_cells(const Domain& domain, int players, Rng& rng) {
  std::vector<int> order(static_cast<std::size_t>(domain.points()));
  for (std::size_t point = 0; point < order.size(); ++point) order[point] = static_cast<int>(point);
  rng.shuffle(order);
  std::vector<std::int64_t> labels(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto n = static_cast<std::uint64_t>(players);
    labels[static_cast<std::size_t>(order[place])] = static_cast<std::int64_t>(place < n ? place : rng.below(n));
  }
  return Partition::from_labels(domain, labels);
}

Coalitions random_coalitions(int players, std::size_t count, Rng& rng) {
  Coalitions coalitions(players);
  coalitions.append_empty();
  coalitions.append_grand();
  while (coalitions.size() < count) {
    coalitions.append_empty();
    for (int player = 0; player < players; ++player)
      if (rng.below(2) == 0) coalitions.insert(coalitions.size() - 1, player);
  }
  return coalitions;
}

games::PartitionOfUnity random_partition_of_unity(const Domain& domain, Rng& rng) {
  const bool plane = domain.dimension() == 2;
  const auto kind = rng.below(4);
  if (kind == 0) {
    std::vector<std::vector<double>> centres;
    for (const Axis& axis : domain.axes()) {
      const int count = 1 + static_cast<int>(rng.below(plane ? 3 : 6));
      centres.push_back(games::graded_centres(count, axis.extent, std::exp2(rng.uniform(-2, 2))));
    }
    return games::PartitionOfUnity::bumps(domain, centres);
  }
  const auto masks = static_cast<std::size_t>(1 + rng.below(9));
  if (kind == 1) {
    std::vector<double> centres;
    for (std::size_t mask = 0; mask < masks; ++mask)
      for (const Axis& axis : domain.axes()) centres.push_back(axis.extent * rng.uniform());
    return games::PartitionOfUnity::gaussians(domain, centres, domain.axes()[0].extent * rng.uniform(0.1, 0.6));
  }
  if (kind == 2) {
    const Partition cells = random_cells(domain, static_cast<int>(masks), rng);
    double shortest = domain.axes().front().extent;
    for (const Axis& axis : domain.axes()) shortest = std::min(shortest, axis.extent);
    return games::PartitionOfUnity::smoothed_cells(domain, cells, shortest * rng.uniform(0.01, 0.4));
  }
  const auto points = static_cast<std::size_t>(domain.points());
  std::vector<double> values(masks * points);
  for (std::size_t point = 0; point < points; ++point) {
    double sum = 0;
    for (std::size_t mask = 0; mask < masks; ++mask) sum += values[mask * points + point] = -std::log1p(-rng.uniform());
    for (std::size_t mask = 0; mask < masks; ++mask) values[mask * points + point] /= sum;
  }
  return games::PartitionOfUnity::from_values(domain, values);
}

}  // namespace opshap
