#pragma once

#include "operators/torch.hpp"
#include "training/samples.hpp"

namespace opshap::training {

/// Σ over samples and coalitions of (v(S) − v(∅) − Σ_{i∈S} φ_i)², a scalar: what an explainer's densities are trained
/// by (Jethani et al. 2022; OperatorSHAP, Algorithm 1).
///
/// φ_i is the density integrated over the player's points, shifted in proportion to the player's volume so that Σφ =
/// v(N) − v(∅). The shift is part of the gradient. `densities` [points, B, 1], `gains` v(N) − v(∅) [B], `coalitions` of
/// 0 and 1 [B, K, players], `coalition_gains` v(S) − v(∅) [B, K], `weights` of the samples [B], 1 where there are none.
torch::Tensor fastshap_errors(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                              const torch::Tensor& coalitions, const torch::Tensor& coalition_gains,
                              const torch::Tensor& weights = {});

/// What densities make the players worth, [B, players]: integrated over each player's points and shifted in proportion
/// to the players' volumes, so that the sum is `gains`.
torch::Tensor efficient_values(const torch::Tensor& densities, const PlayerVolumes& volumes,
                               const torch::Tensor& gains);

}  // namespace opshap::training
