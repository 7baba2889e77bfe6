#pragma once

#include <cstdint>

#include "operators/torch.hpp"

namespace opshap::operators {

// Rows of points and rows of edges, where edge e belongs to point index[e]. Each function is the derivative of the
// other. On the CPU they are plain loops over rows, which LibTorch 1.13 does one tensor operation at a time; on other
// devices they are LibTorch's.

/// From x [points, ...] to the rows of the edges, [edges, ...].
torch::Tensor rows_of_edges(const torch::Tensor& x, const torch::Tensor& index);

/// The sum of the rows of each point's edges, in the order of the edges: [edges, ...] to [points, ...]. A point without
/// edges gets zeros.
torch::Tensor sums_of_edges(const torch::Tensor& rows, const torch::Tensor& index, std::int64_t points);

}  // namespace opshap::operators
