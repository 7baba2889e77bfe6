#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "operators/box.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/stencil.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

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
