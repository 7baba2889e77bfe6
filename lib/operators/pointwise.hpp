#pragma once

#include "operators/torch.hpp"

namespace opshap::operators {

/// What a block of an FNO does at each point, besides its spectral convolution. Weights are [Cout, Cin, 1], biases
/// [Cout], the gate [1, C, 1…].
struct PointwiseWeights {
  torch::Tensor skip, gate, mlp0_weight, mlp0_bias, mlp1_weight, mlp1_bias;
};

/// W₁·gelu(W₀·x + b₀) + b₁ for rows x [rows, Cin]: [rows, Cout].
torch::Tensor perceptron(const torch::Tensor& x, const torch::Tensor& weight0, const torch::Tensor& bias0,
                         const torch::Tensor& weight1, const torch::Tensor& bias1);

/// gelu(z) with z = W₁·gelu(W₀·y + b₀) + b₁ + gate ⊙ x and y = gelu(spectral + W·x), for rows x [rows, C]; the last
/// block leaves out the GELU of y and of z. `spectral` is overwritten.
torch::Tensor pointwise_block(const torch::Tensor& spectral, const torch::Tensor& x, const PointwiseWeights& weights,
                              bool last);

}  // namespace opshap::operators
