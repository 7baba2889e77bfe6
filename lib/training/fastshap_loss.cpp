#include "training/fastshap_loss.hpp"

namespace opshap::training {

torch::Tensor fastshap_errors(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                              const torch::Tensor& coalitions, const torch::Tensor& coalition_gains,
                              const torch::Tensor& weights) {
  const torch::Tensor values = efficient_values(densities, volumes, gains);
  const torch::Tensor sums = torch::bmm(coalitions, values.unsqueeze(2)).squeeze(2);
  if (!weights.defined()) return torch::mse_loss(sums, coalition_gains, torch::Reduction::Sum);
  return (weights * (sums - coalition_gains).square().sum(1)).sum();
}

torch::Tensor efficient_values(const torch::Tensor& densities, const PlayerVolumes& volumes,
                               const torch::Tensor& gains) {
  const torch::Tensor cells = volumes.cells(densities);
  return cells + (gains - cells.sum(1)).unsqueeze(1) * volumes.shares;
}

}  // namespace opshap::training
