#include "operators/stencil.hpp"

namespace opshap::operators {

using torch::Tensor;

Tensor stencil_sums(const Tensor& x, const Stencil& stencil, const std::vector<std::int64_t>& shape,
                    const Tensor& points) {
  const std::int64_t lines = shape[0], size = shape[1], batch = x.size(1), inputs = x.size(2),
                     outputs = stencil.inside.size(2);
  const auto values_at = [&](const Tensor& places) { return x.index_select(0, places).reshape({-1, inputs}); };
  Tensor sums = torch::zeros({points.size(0) * batch, outputs}, x.options().requires_grad(false));
  for (const int tap : stencil.used) {
    const Tensor line = torch::floor_divide(points, size) + (tap / 3 - 1),
                 point = points.remainder(size) + (tap % 3 - 1);
    const Tensor from = line.remainder(lines) * size + point.remainder(size);
    sums = sums.addmm(values_at(from), stencil.inside[tap]);
    const Tensor beyond = ((line < 0) | (line >= lines) | (point < 0) | (point >= size)).nonzero().squeeze(1);
    if (beyond.numel() == 0) continue;
    const Tensor change = stencil.beyond.defined() ? stencil.beyond[tap] - stencil.inside[tap] : -stencil.inside[tap];
    const Tensor correction = torch::mm(values_at(from.index_select(0, beyond)), change);
    sums =
        sums.view({-1, batch, outputs}).index_add(0, beyond, correction.view({-1, batch, outputs})).view({-1, outputs});
  }
  return sums.view({-1, batch, outputs});
}

}  // namespace opshap::operators
