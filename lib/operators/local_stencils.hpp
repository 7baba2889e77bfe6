#pragma once

#include <array>

#include "operators/stencil.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

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

}  // namespace opshap::operators
