#pragma once

#include "operators/torch.hpp"

namespace opshap::operators {

/// The perceptron of two layers that an operator applies at each point, as its lifting or its projection. Weights are
/// [Cout, Cin, 1], biases [Cout].
struct ChannelPerceptron {
  torch::Tensor weight0, bias0, weight1, bias1;

  /// [..., Cin] to [..., Cout], by fused_perceptron() or by perceptron().
  torch::Tensor operator()(const torch::Tensor& x, bool fused) const;
};

}  // namespace opshap::operators
