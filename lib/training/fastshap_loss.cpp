#include "training/fastshap_loss.hpp"

#include <cstdint>

namespace opshap::training {

torch::Tensor fastshap_errors(const torch::Tensor& densities, const Domain& domain, const torch::Tensor& gains,
                              const torch::Tensor& coalitions, const torch::Tensor& coalition_gains) {
  const std::int64_t n = coalitions.size(2);
  const torch::Tensor cells = densities.squeeze(2).t() * domain.volume(0);  // [B, n]
  const torch::Tensor values = cells + (gains - cells.sum(1)).unsqueeze(1) / static_cast<double>(n);
  const torch::Tensor sums = torch::bmm(coalitions, values.unsqueeze(2)).squeeze(2);
  return torch::mse_loss(sums, coalition_gains, torch::Reduction::Sum);
}

}  // namespace opshap::training
