#include "training/player_volumes.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace opshap::training {

torch::Tensor PlayerVolumes::cells(const torch::Tensor& densities) const {
  const torch::Tensor points = densities.squeeze(2).t() * of_points;  // [B, points]
  if (!owner.defined()) return points;
  return torch::zeros({points.size(0), shares.size(0)}, points.options()).index_add(1, owner, points);
}

PlayerVolumes player_volumes(const Domain& domain, const Partition& partition, torch::Dtype dtype) {
  std::vector<double> of_points, shares;
  bool one_player_per_point = partition.players == domain.points();
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    of_points.push_back(domain.volume(point));
    one_player_per_point = one_player_per_point && partition.player_of[static_cast<std::size_t>(point)] == point;
  }
  const double whole = std::accumulate(partition.volumes.begin(), partition.volumes.end(), 0.0);
  for (const double volume : partition.volumes) shares.push_back(volume / whole);
  PlayerVolumes volumes{.of_points = torch::tensor(of_points, torch::kFloat64).to(dtype),
                        .owner = {},
                        .shares = torch::tensor(shares, torch::kFloat64).to(dtype)};
  if (!one_player_per_point)
    volumes.owner =
        torch::tensor(std::vector<std::int64_t>(partition.player_of.begin(), partition.player_of.end()), torch::kInt64);
  return volumes;
}

}  // namespace opshap::training
