#pragma once

#include "core/domain.hpp"
#include "operators/torch.hpp"

namespace opshap::training {

/// Σ over samples and coalitions of (v(S) − v(∅) − Σ_{i∈S} φ_i)², a scalar: what an explainer's densities are trained by (Jethani et al. 2022; OperatorSHAP,
/// Algorithm 1).
///
/// φ_i is density times cell volume, shifted by equal shares (every cell of a regular grid has the same volume) so that Σφ = v(N) − v(∅); the shift is part of
/// the gradient. `densities` [points, B, 1], `gains` v(N) − v(∅) [B], `coalitions` of 0 and 1 [B, K, points], `coalition_gains` v(S) − v(∅) [B, K].
torch::Tensor fastshap_errors(const torch::Tensor& densities, const Domain& domain, const torch::Tensor& gains,
                              const torch::Tensor& coalitions, const torch::Tensor& coalition_gains);

}  // namespace opshap::training
