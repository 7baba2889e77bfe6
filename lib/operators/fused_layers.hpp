#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

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

/// The same for the rows gelu(a[source of e] + b[target of e]) of edges e and fields of a batch, which are made a tile
/// at a time: a [sources, B, Cin] and b [targets, Cin] to [edges·B, Cout]. An edge's source and target are int64.
torch::Tensor fused_edge_perceptron(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& source,
                                    const torch::Tensor& target, const torch::Tensor& weight0,
                                    const torch::Tensor& bias0, const torch::Tensor& weight1,
                                    const torch::Tensor& bias1);

/// mix() with a bias [Cout] added to the constant part.
torch::Tensor fused_mix(const torch::Tensor& coefficients, const torch::Tensor& weights, const torch::Tensor& bias,
                        const FourierBasis& basis);

/// One block of an FNO with the transforms along the last axis on either side: spectral lines [to.lines, 2·columns, B,
/// C] of the mixed coefficients and states x [from.rows, C] to states in `to` and the transform of its lines. The last
/// block (see block_with) transforms nothing.
std::tuple<torch::Tensor, torch::Tensor> fused_block(const torch::Tensor& spectral_lines, const torch::Tensor& x,
                                                     const PointwiseWeights& weights, const FourierBasis& basis,
                                                     const BlockBoxes& boxes, bool last);

/// The blocks of a network on a padded plane, from x [points of `from`, B, C], zero elsewhere, to the states in a box
/// of it, [points of `wanted`, B, C]. The last block is computed there alone. `plane`: the whole of it. `block(layer,
/// spectral lines, x, boxes, last)` gives states and lines as fused_block().
template <typename Layer, typename Block>
torch::Tensor fused_layers(const torch::Tensor& start, const std::vector<Layer>& layers, const FourierBasis& basis,
                           Box from, const Box& plane, const Box& wanted, const Block& block) {
  const std::int64_t batch = start.size(1), width = start.size(2);
  torch::Tensor x = start.reshape({-1, width});
  torch::Tensor lines = basis.analysed(x.view({from.lines, from.points, batch, width}), from.first);
  for (const Layer& layer : layers) {
    const bool last = &layer == &layers.back();
    const Box& to = last ? wanted : plane;
    const torch::Tensor mixed =
        fused_mix(basis.from_lines(lines, from.first_line), layer.spectral_weight, layer.bias(), basis);
    std::tie(x, lines) =
        block(layer, basis.to_lines(mixed, to.first_line, to.lines), x, BlockBoxes{.from = from, .to = to}, last);
    from = to;
  }
  return x.view({-1, batch, width});
}

}  // namespace opshap::operators
