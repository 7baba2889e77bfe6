#include "training/fastshap_loss.hpp"

namespace opshap::training {

torch::Tensor fastshap_errors(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                              const torch::Tensor& coalitions, const torch::Tensor& coalition_gains) {
  const torch::Tensor cells = volumes.cells(densities);
  const torch::Tensor values = cells + (gains - cells.sum(1)).unsqueeze(1) * volumes.shares;
  const torch::Tensor sums = torch::bmm(coalitions, values.unsqueeze(2)).squeeze(2);
  return torch::mse_loss(sums, coalition_gains, torch::Reduction::Sum);
}

}  // namespace opshap::training
