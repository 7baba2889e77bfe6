#include "operators/fno_block.hpp"

#include <cstdint>
#include <vector>

namespace opshap::operators {

namespace {

using torch::Tensor;

/// In place when nothing is kept for a gradient. GELU is the one with erf.
Tensor activated(const Tensor& x, Activation activation) {
  const bool kept = c10::GradMode::is_enabled();
  Tensor y = x;
  switch (activation) {
    case Activation::relu:
      return kept ? torch::relu(x) : torch::relu_(y);
    case Activation::tanh:
      return kept ? torch::tanh(x) : torch::tanh_(y);
    case Activation::silu:
      return kept ? torch::silu(x) : torch::silu_(y);
    case Activation::gelu:
      break;
  }
  return kept ? torch::gelu(x) : torch::gelu_(y);
}

Tensor plus_matrix(Tensor sum, const Tensor& x, const Tensor& weight) { return sum.addmm_(x, weight.squeeze(-1).t()); }

/// Rows of fields [points, B, C] with mean 0 and variance 1 over what the norm names, then the factor and the shift.
Tensor normalised(const Tensor& rows, const Tensor& fields, const Affine& affine, Norm norm) {
  constexpr double epsilon = 1e-5;  // torch's default, which the reference keeps
  Tensor y = rows;
  if (norm == Norm::instance_norm || norm == Norm::group_norm) {
    std::vector<std::int64_t> over = {0};
    if (norm == Norm::group_norm) over.push_back(2);
    const Tensor x = rows.view(fields.sizes()), centred = x - x.mean(over, true);
    y = (centred * torch::rsqrt(centred.square().mean(over, true) + epsilon)).view(rows.sizes());
  }
  return affine.weight.defined() ? y * affine.weight + affine.bias : y;
}

}  // namespace

Tensor perceptron(const Tensor& x, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                  const Tensor& bias1, Activation activation) {
  const Tensor hidden = torch::addmm(bias0, x, weight0.squeeze(-1).t());
  if (!weight1.defined()) return hidden;
  return torch::addmm(bias1, activated(hidden, activation), weight1.squeeze(-1).t());
}

Tensor block_with(const BlockOptions& options, const Tensor& spectral, const Tensor& x, const BlockWeights& weights,
                  bool last) {
  const PointwiseWeights& pointwise = weights.pointwise;
  const std::int64_t channels = x.size(-1);
  const Tensor in = x.reshape({-1, channels});
  Tensor y = normalised(spectral.view({-1, channels}), x, weights.first, options.norm);
  y = plus_matrix(y, in, pointwise.skip);
  if (!last) y = activated(y, options.activation);
  Tensor z = y;
  if (pointwise.mlp0_weight.defined()) {
    z = perceptron(y, pointwise.mlp0_weight, pointwise.mlp0_bias, pointwise.mlp1_weight, pointwise.mlp1_bias);
    z = weights.mlp_skip.defined() ? plus_matrix(z, in, weights.mlp_skip)
                                   : z.addcmul_(in, pointwise.gate.view({channels}));
  }
  z = normalised(z, x, weights.second, options.norm);
  return (last ? z : activated(z, options.activation)).view(x.sizes());
}

}  // namespace opshap::operators
