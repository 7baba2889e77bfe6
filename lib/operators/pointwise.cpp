#include "operators/pointwise.hpp"

#include <cstdint>
#include <vector>

namespace opshap::operators {

namespace {

using torch::Tensor;

/// GELU, the one with erf; in place when nothing is kept for a gradient.
Tensor activated_by_gelu(const Tensor& x) {
  Tensor y = x;
  return c10::GradMode::is_enabled() ? torch::gelu(x) : torch::gelu_(y);
}

/// x·Wᵀ + b for rows x.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return torch::addmm(bias, x, weight.squeeze(-1).t());
}

}  // namespace

Tensor perceptron(const Tensor& x, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                  const Tensor& bias1) {
  return linear(activated_by_gelu(linear(x, weight0, bias0)), weight1, bias1);
}

Tensor pointwise_block(const Tensor& spectral, const Tensor& x, const PointwiseWeights& weights, bool last) {
  Tensor y = spectral;
  y = y.addmm_(x, weights.skip.squeeze(-1).t());
  if (!last) y = activated_by_gelu(y);
  const Tensor z = perceptron(y, weights.mlp0_weight, weights.mlp0_bias, weights.mlp1_weight, weights.mlp1_bias)
                       .addcmul_(x, weights.gate.view({x.size(1)}));
  return last ? z : activated_by_gelu(z);
}

}  // namespace opshap::operators
