#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "operators/grid_padding.hpp"
#include "operators/spectral_convolution.hpp"
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
/// of a line. `points`: numbers of points as int64 on the CPU, which looks for those at the edges. One product for each
/// tap.
torch::Tensor stencil_sums(const torch::Tensor& x, const Stencil& stencil, const std::vector<std::int64_t>& shape,
                           const torch::Tensor& points);

// The two local branches of a LocalNO as weights of a Stencil. Both are differentiable in their parameters.

/// conv(x; W) − conv(x; ΣW) at the point itself, times `scale`, for W [Cout, Cin, 3, 3]: the finite difference of
/// neuraloperator's FiniteDifferenceConvolution. [9, Cin, Cout].
/// Source: Liu-Schiaffini et al. (2024), Neural Operators with Localized Integral and Differential Kernels, section 3.
torch::Tensor difference_taps(const torch::Tensor& weight, double scale);

constexpr int disco_functions = 5;
using DiscoFilter = std::array<std::array<float, Stencil::taps>, disco_functions>;

/// What each basis function of a DISCO convolution gives to each tap, quadrature weight included, for a plane of
/// points × points that was made with: neuraloperator's EquidistantDiscreteContinuousConv2d with kernel_shape [2, 4],
/// domain_length [2, 2] on torch-harmonics 0.7.4 to 0.8.
///
/// In exact arithmetic the filter is the identity at the centre: every hat function is zero at the neighbours. The
/// reference computes in float32. Its rounding errors of about 2^-24 are not zero, and its normalisation makes weights
/// of up to a fifth out of them. Trained weights rely on these numbers. So the rounding errors stand here as a table,
/// which holds for powers of two, and only the normalisation is computed, in float32.
/// `points` is a power of two from 2 on.
DiscoFilter disco_filter(int points);

/// The DISCO convolution with parameters [Cout, Cin, 5]: [9, Cin, Cout].
torch::Tensor disco_taps(const torch::Tensor& weight, int points);

/// One block of a LocalNO with the transforms along the last axis on either side: spectral lines [to.lines, 2·columns,
/// B, C] of the mixed coefficients and states x [from.rows, C] to the states gelu(spectral + stencil(x)) in `to` and
/// the transform of its lines. The last block has no GELU and transforms nothing. `shape`: lines and points of the
/// padded plane, in which x is zero outside of `from`.
///
/// Tiles of points stay in a core's caches, and nothing is gathered: a tap is a product of neighbouring rows of x. The
/// reverse pass is written by hand. On the CPU, float32 or float64; no second derivatives. The oracle is
/// stencil_sums().
std::tuple<torch::Tensor, torch::Tensor> fused_stencil_block(const torch::Tensor& spectral_lines,
                                                             const torch::Tensor& x, const Stencil& stencil,
                                                             const std::vector<std::int64_t>& shape,
                                                             const FourierBasis& basis, const BlockBoxes& boxes,
                                                             bool last);

}  // namespace opshap::operators
