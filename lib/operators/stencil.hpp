#pragma once

#include <cstdint>
#include <vector>

#include "operators/torch.hpp"

namespace opshap::operators {

/// A 3×3 convolution (cross-correlation) on a periodic plane whose weights for a neighbour beyond an edge of the plane
/// may be others than for one inside. So a sum of convolutions with circular and with zero padding is one stencil.
///
/// Tap 3·a + b is the neighbour a − 1 lines and b − 1 points away. Weights are [9, Cin, Cout].
struct Stencil {
  static constexpr int taps = 9, centre = 4;

  std::vector<int> used;  ///< taps whose weights are not zero, in ascending order
  torch::Tensor inside;   ///< weights of neighbours inside the plane
  torch::Tensor beyond;   ///< weights of neighbours beyond an edge; undefined where all are zero
};

/// The stencil's sums at some points of a plane, [points, B, Cout], from x [plane, B, Cin]. `shape`: lines, and points
/// of a line. `points`: numbers of points as int64 on the device of x. One product for each tap.
torch::Tensor stencil_sums(const torch::Tensor& x, const Stencil& stencil, const std::vector<std::int64_t>& shape,
                           const torch::Tensor& points);

}  // namespace opshap::operators
