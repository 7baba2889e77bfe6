#pragma once

#include <vector>

#include "operators/box.hpp"
#include "operators/pointwise.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// The parameters of one block of an FNO.
struct FnoBlockWeights {
  torch::Tensor spectral_weight, spectral_bias;
  PointwiseWeights pointwise;
};

/// The blocks of an FNO on a plane without padding, from x [points, B, C] to the states in a box of it, [points of the
/// box, B, C]. The last block is computed there alone, with fused layers. `plane`: the whole of it.
torch::Tensor fno_blocks(const torch::Tensor& x, const std::vector<FnoBlockWeights>& blocks, const FourierBasis& basis,
                         const Box& plane, const Box& wanted, bool fused);

}  // namespace opshap::operators
