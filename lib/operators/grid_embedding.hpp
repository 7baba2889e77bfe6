#pragma once

#include <vector>

#include "operators/torch.hpp"

namespace opshap::operators {

/// Fields [points, B, C] of a grid of this shape with the place i/n of each point on each axis as further channels:
/// [points, B, C + axes]. That is what the reference gives its networks on any grid, so centring and extents do not
/// come in.
torch::Tensor with_places(const torch::Tensor& fields, const std::vector<int>& shape);

}  // namespace opshap::operators
