#pragma once

#include "core/domain.hpp"
#include "core/operator.hpp"
#include "operators/torch.hpp"

namespace opshap::training {

/// What a loss needs of a domain and its players, as tensors.
struct PlayerVolumes {
  torch::Tensor of_points;  ///< [points], the volume of each
  torch::Tensor owner;      ///< [points] the player of each; undefined when player i is point i
  torch::Tensor shares;     ///< [players], each player's part of the whole volume

  /// Densities [points, B, 1] as what each player's points have together, [B, players].
  torch::Tensor cells(const torch::Tensor& densities) const;
};

PlayerVolumes player_volumes(const Domain& domain, const Partition& partition, torch::Dtype dtype);

}  // namespace opshap::training
