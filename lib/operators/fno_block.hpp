#pragma once

#include "operators/pointwise.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

enum class Activation { gelu, relu, tanh, silu };
/// What of its input a block adds to a sum inside it: nothing, all, a matrix times it, or a factor for each channel.
enum class Skip { none, identity, linear, soft_gating };
/// Over the points of each field and channel; over points and channels of each field; by numbers of a training.
enum class Norm { none, instance_norm, group_norm, batch_norm };
enum class Stabilizer { none, tanh };

/// What the blocks of an FNO are made of.
struct BlockOptions {
  Skip skip = Skip::linear, mlp_skip = Skip::soft_gating;
  Activation activation = Activation::gelu;
  Norm norm = Norm::none;
  Stabilizer stabilizer = Stabilizer::none;

  /// Whether what a block does at a point depends on other points, its spectral convolution apart.
  bool norms_whole_fields() const { return norm == Norm::instance_norm || norm == Norm::group_norm; }
  bool operator==(const BlockOptions&) const = default;
};

/// A factor and a shift for each channel, [C]. Not defined where there are none.
struct Affine {
  torch::Tensor weight, bias;
};

/// A block of an FNO, besides its spectral convolution.
struct BlockWeights {
  PointwiseWeights pointwise;  ///< without mlp0_weight there is no channel MLP
  torch::Tensor mlp_skip;      ///< [C, C, 1], in place of the gate where it is defined
  Affine first, second;        ///< after the norms n₁ and n₂
};

/// W₁·σ(W₀·x + b₀) + b₁ for rows x [rows, Cin]: [rows, Cout]. Without W₁ it is W₀·x + b₀.
torch::Tensor perceptron(const torch::Tensor& x, const torch::Tensor& weight0, const torch::Tensor& bias0,
                         const torch::Tensor& weight1, const torch::Tensor& bias1, Activation activation);

/// pointwise_block() by its options: σ(n₂(z)) with z = W₁·gelu(W₀·y + b₀) + b₁ + V·x and y = σ(n₁(spectral) + W·x).
/// x is [points, B, C], or [.., C] where n₁ and n₂ do not need whole fields. The last block leaves out σ of y and of z.
/// Without a channel MLP z is y. `spectral` is overwritten.
torch::Tensor block_with(const BlockOptions& options, const torch::Tensor& spectral, const torch::Tensor& x,
                         const BlockWeights& weights, bool last);

}  // namespace opshap::operators
