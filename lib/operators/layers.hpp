#pragma once

#include <span>
#include <vector>

#include "operators/grid_padding.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

enum class Activation { gelu, relu, tanh, silu };
/// In place when nothing is kept for a gradient. GELU is the one with erf.
torch::Tensor activated(const torch::Tensor& x, Activation activation);

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

/// The perceptron that an operator applies at each point, as its lifting or its projection or in a block: two layers,
/// or the first alone where the second is not defined. Weights are [Cout, Cin, 1], biases [Cout].
struct ChannelPerceptron {
  torch::Tensor weight0, bias0, weight1, bias1;

  /// [..., Cin] to [..., Cout], by fused_perceptron() where `fused` and it can, else by perceptron().
  torch::Tensor operator()(const torch::Tensor& x, bool fused, Activation activation = Activation::gelu) const;
};

/// What a block of an FNO does at each point, besides its spectral convolution. Weights are [Cout, Cin, 1], the gate
/// [1, C, 1…].
struct PointwiseWeights {
  torch::Tensor skip, gate;
  ChannelPerceptron mlp;  ///< may have no layers
};

/// A factor and a shift for each channel, [C]. Not defined where there are none.
struct Affine {
  torch::Tensor weight, bias;
};

/// A block of an FNO, besides its spectral convolution.
struct BlockWeights {
  PointwiseWeights pointwise;
  torch::Tensor mlp_skip;  ///< [C, C, 1], in place of the gate where it is defined
  Affine first, second;    ///< after the norms n₁ and n₂
};

/// W₁·σ(W₀·x + b₀) + b₁ for rows x [rows, Cin]: [rows, Cout]. Without W₁ it is W₀·x + b₀.
torch::Tensor perceptron(const torch::Tensor& x, const torch::Tensor& weight0, const torch::Tensor& bias0,
                         const torch::Tensor& weight1, const torch::Tensor& bias1,
                         Activation activation = Activation::gelu);

/// A block by its options: σ(n₂(z)) with z = W₁·gelu(W₀·y + b₀) + b₁ + V·x and y = σ(n₁(spectral) + W·x). x is
/// [points, B, C], or [.., C] where n₁ and n₂ do not need whole fields. The last block leaves out σ of y and of z.
/// Without a channel MLP z is y. `spectral` is overwritten.
torch::Tensor block_with(const BlockOptions& options, const torch::Tensor& spectral, const torch::Tensor& x,
                         const BlockWeights& weights, bool last);

/// The parameters of one block of an FNO.
struct FnoLayer {
  torch::Tensor spectral_weight, spectral_bias;
  BlockWeights block;

  const torch::Tensor& bias() const { return spectral_bias; }
};

/// The blocks of an FNO with the default options by fused layers, see fused_layers(). The padding is never stored.
torch::Tensor fused_fno(const torch::Tensor& x, const std::vector<FnoLayer>& layers, const FourierBasis& basis,
                        const Box& from, const Box& plane, const Box& wanted);

/// The same on a plane without padding, from x [points, B, C], also without fused layers.
torch::Tensor fno_blocks(const torch::Tensor& x, const std::vector<FnoLayer>& layers, const FourierBasis& basis,
                         const Box& plane, const Box& wanted, bool fused);

/// Fields [points, B, C] of a grid of this shape with the place i/n of each point on each axis as further channels:
/// [points, B, C + axes]. That is what the reference gives its networks on any grid, so centring and extents do not
/// come in.
torch::Tensor with_places(const torch::Tensor& fields, const std::vector<int>& shape);

/// Frequencies for each coordinate of an embedding.
constexpr int wave_frequencies = 32;

/// The sinusoidal embedding of places [N, 2] that neuraloperator 2.0.0 calls "transformer", with 32 frequencies:
/// [N, 2·64]. Entry c·64 + 2k is sin(p_c·w_k) and the next one cos(p_c·w_k), where w_k = 10000^(−k/16) in float32.
/// Version 1.0.2 has other frequencies.
torch::Tensor coordinate_waves(std::span<const double> places, const torch::TensorOptions& options);

}  // namespace opshap::operators
