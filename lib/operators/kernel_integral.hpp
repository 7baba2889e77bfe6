#pragma once

#include <cstdint>
#include <vector>

#include "operators/neighbour_lists.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// Neighbour lists as tensors: edge e leads from a source to the target whose row it is in.
struct EdgeList {
  torch::Tensor source, target;  ///< [edges], int64
  torch::Tensor share;           ///< [targets, 1, 1]: 1 / number of edges, 0 for a target without edges
  std::int64_t targets = 0;

  EdgeList() = default;
  EdgeList(const NeighbourLists& lists, const torch::TensorOptions& options);
};

/// A kernel integral over neighbours: Σ_j k(y_j, x_i, f_j) ⊙ f_j over the sources j of target i. The kernel k is a
/// perceptron with GELU between its layers, on the waves of both places and, when nonlinear, on f_j.
/// Source: Li et al. (2023), Geometry-Informed Neural Operator, equation 6, as neuraloperator's IntegralTransform.
///
/// The first layer is linear, so its product is taken for each source and each target and added for each edge. Edges
/// go through the other layers in blocks.
struct KernelIntegral {
  std::vector<torch::Tensor> weights, biases;  ///< of the layers: [Cout, Cin] and [Cout]
  bool nonlinear = true;

  /// What the first layer makes of places: [places, width]. That of the targets has the bias.
  torch::Tensor of_sources(const torch::Tensor& waves) const;
  torch::Tensor of_targets(const torch::Tensor& waves) const;

  /// The terms k ⊙ f of the edges, from the values f [sources, B, C] and the products above: [edges, B, C]. Their sums
  /// are sums_of_edges().
  torch::Tensor messages(const torch::Tensor& values, const torch::Tensor& sources, const torch::Tensor& targets,
                         const EdgeList& edges, bool fused) const;
};

}  // namespace opshap::operators
