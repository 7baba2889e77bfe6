#include "operators/local_stencils.hpp"

#include <cstdint>
#include <vector>

namespace opshap::operators {

using torch::Tensor;

namespace {

/// A value of a basis function at a point of the 3×3 local grid, as the reference's float32 arithmetic has it.
struct HatValue {
  int function, row, column;
  float value;
};

constexpr HatValue hat_values[] = {
    {0, 1, 1, 0.5F},          {0, 2, 1, 0x1p-24F},  // the second one and those like it are 0 in exact arithmetic
    {1, 1, 2, 0x1p-24F},                            //
    {2, 1, 1, 0.5F},          {2, 0, 1, 0x1p-24F},  //
    {3, 1, 0, 0xFFFFFFp-48F}, {3, 1, 1, 0x1p-25F},
};

}  // namespace

Tensor difference_taps(const Tensor& weight, double scale) {
  const Tensor scaled = weight.permute({2, 3, 1, 0}).reshape({Stencil::taps, weight.size(1), weight.size(0)}) * scale;
  Tensor taps = scaled.clone();
  taps.select(0, Stencil::centre).sub_(scaled.sum(0));
  return taps;
}

DiscoFilter disco_filter(int points) {
  const float quadrature = 4.0F / (static_cast<float>(points) * static_cast<float>(points));
  std::array<float, disco_functions> integrals = {};
  for (const HatValue& hat : hat_values) integrals[static_cast<std::size_t>(hat.function)] += hat.value * quadrature;
  DiscoFilter filter = {};
  for (const HatValue& hat : hat_values) {
    const auto function = static_cast<std::size_t>(hat.function);
    const int tap = 3 * (2 - hat.column) + 2 - hat.row;  // the reference transposes the local grid and turns it round
    filter[function][static_cast<std::size_t>(tap)] = quadrature * (hat.value / (integrals[function] + 1e-9F));
  }
  return filter;
}

Tensor disco_taps(const Tensor& weight, int points) {
  const DiscoFilter filter = disco_filter(points);
  Tensor table = torch::empty({disco_functions, Stencil::taps}, torch::kFloat32);
  for (int function = 0; function < disco_functions; ++function)
    for (int tap = 0; tap < Stencil::taps; ++tap)
      table[function][tap] = filter[static_cast<std::size_t>(function)][static_cast<std::size_t>(tap)];
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  return torch::mm(table.t().to(weight.options().requires_grad(false)),
                   weight.permute({2, 1, 0}).reshape({disco_functions, inputs * outputs}))
      .view({Stencil::taps, inputs, outputs});
}

}  // namespace opshap::operators
