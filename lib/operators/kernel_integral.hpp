#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operators/torch.hpp"

namespace opshap::operators {

/// For each of M places the numbers of the points near it, as compressed rows.
struct NeighbourLists {
  std::vector<std::int64_t> splits = {0};  ///< [M + 1]: row i is indices splits[i]..splits[i + 1] − 1
  std::vector<std::int64_t> indices;       ///< [edges], ascending in each row

  std::int64_t rows() const { return static_cast<std::int64_t>(splits.size()) - 1; }
  std::int64_t edges() const { return static_cast<std::int64_t>(indices.size()); }

  bool operator==(const NeighbourLists&) const = default;
};

/// The points [N, 2] within `radius` of each place [M, 2], the distance of exactly `radius` included. Distances are
/// computed in double from the differences of coordinates, so none is lost to cancellation. The points are sorted into
/// square cells of the radius first, and a place looks into the nine cells around it.
/// Cost: N + the points in nine cells for each place. Throws InvalidArgument unless the radius is positive and finite.
NeighbourLists neighbours_within(std::span<const double> points, std::span<const double> places, double radius);

/// Lists from elsewhere, for `places` places and `points` points. Throws InvalidArgument unless there are so many rows,
/// the splits ascend from 0 to the number of edges, and the indices of a row ascend and are points.
NeighbourLists neighbours_given(NeighbourLists lists, std::int64_t places, std::int64_t points);

// Rows of points and rows of edges, where edge e belongs to point index[e]. Each function is the derivative of the
// other. On the CPU they are plain loops over rows, which LibTorch 1.13 does one tensor operation at a time; on other
// devices they are LibTorch's.

/// From x [points, ...] to the rows of the edges, [edges, ...].
torch::Tensor rows_of_edges(const torch::Tensor& x, const torch::Tensor& index);

/// The sum of the rows of each point's edges, in the order of the edges: [edges, ...] to [points, ...]. A point without
/// edges gets zeros.
torch::Tensor sums_of_edges(const torch::Tensor& rows, const torch::Tensor& index, std::int64_t points);

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
