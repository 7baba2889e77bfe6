#include "operators/fno_blocks.hpp"

#include <cstdint>
#include <tuple>

#include "operators/fused_layers.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;

Tensor by_torch(const Tensor& start, const std::vector<FnoBlockWeights>& blocks, const FourierBasis& basis,
                const Box& plane, const Box& wanted) {
  const std::int64_t batch = start.size(1), width = start.size(2);
  Tensor x = start;
  for (const FnoBlockWeights& block : blocks) {
    const Tensor spectral = basis.inverse(mix(basis.transform(x), block.spectral_weight, block.spectral_bias, basis));
    x = pointwise_block(spectral.view({-1, width}), x.reshape({-1, width}), block.pointwise, &block == &blocks.back())
            .view({-1, batch, width});
  }
  return x.view({plane.lines, plane.points, batch, width})
      .narrow(0, wanted.first_line, wanted.lines)
      .narrow(1, wanted.first, wanted.points)
      .reshape({-1, batch, width});
}

Tensor by_fused_layers(const Tensor& start, const std::vector<FnoBlockWeights>& blocks, const FourierBasis& basis,
                       const Box& plane, const Box& wanted) {
  const std::int64_t batch = start.size(1), width = start.size(2);
  Tensor x = start.reshape({-1, width});
  Tensor lines = basis.analysed(x.view({plane.lines, plane.points, batch, width}));
  for (const FnoBlockWeights& block : blocks) {
    const bool last = &block == &blocks.back();
    const Box& to = last ? wanted : plane;
    const Tensor mixed = fused_mix(basis.from_lines(lines), block.spectral_weight, block.spectral_bias, basis);
    std::tie(x, lines) = fused_block(basis.to_lines(mixed, to.first_line, to.lines), x, block.pointwise, basis,
                                     {.from = plane, .to = to}, last);
  }
  return x.view({-1, batch, width});
}

}  // namespace

Tensor fno_blocks(const Tensor& x, const std::vector<FnoBlockWeights>& blocks, const FourierBasis& basis,
                  const Box& plane, const Box& wanted, bool fused) {
  return (fused ? by_fused_layers : by_torch)(x, blocks, basis, plane, wanted);
}

}  // namespace opshap::operators
