#pragma once

#include <tuple>

#include "operators/grid_padding.hpp"
#include "operators/layers.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

// The layers of an FNO as few passes over tiles that stay in a core's caches, with reverse passes written by hand: less
// than half the memory is kept and moved than by the operations of LibTorch, which are the oracle. On the CPU, float32
// or float64; no second derivatives.

/// perceptron() for rows x [rows, Cin].
torch::Tensor fused_perceptron(const torch::Tensor& x, const torch::Tensor& weight0, const torch::Tensor& bias0,
                               const torch::Tensor& weight1, const torch::Tensor& bias1);

/// mix() with a bias [Cout] added to the constant part.
torch::Tensor fused_mix(const torch::Tensor& coefficients, const torch::Tensor& weights, const torch::Tensor& bias,
                        const FourierBasis& basis);

/// One block of an FNO with the transforms along the last axis on either side: spectral lines [to.lines, 2·columns, B,
/// C] of the mixed coefficients and states x [from.rows, C] to states in `to` and the transform of its lines. The last
/// block (see pointwise_block) transforms nothing.
std::tuple<torch::Tensor, torch::Tensor> fused_block(const torch::Tensor& spectral_lines, const torch::Tensor& x,
                                                     const PointwiseWeights& weights, const FourierBasis& basis,
                                                     const BlockBoxes& boxes, bool last);

}  // namespace opshap::operators
