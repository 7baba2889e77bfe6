#pragma once

#include "operators/fno_block.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// The perceptron that an operator applies at each point, as its lifting or its projection: two layers, or the first
/// alone where the second is not defined. Weights are [Cout, Cin, 1], biases [Cout].
struct ChannelPerceptron {
  torch::Tensor weight0, bias0, weight1, bias1;

  /// [..., Cin] to [..., Cout], by fused_perceptron() where `fused` and it can, else by perceptron().
  torch::Tensor operator()(const torch::Tensor& x, bool fused, Activation activation = Activation::gelu) const;
};

}  // namespace opshap::operators
