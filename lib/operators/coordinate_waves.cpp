#include "operators/coordinate_waves.hpp"

#include <cmath>
#include <cstdint>

namespace opshap::operators {

torch::Tensor coordinate_waves(std::span<const double> places, const torch::TensorOptions& options) {
  const auto coordinates = static_cast<std::int64_t>(places.size());
  torch::Tensor waves = torch::empty({coordinates, 2 * wave_frequencies}, torch::kFloat64);
  double* to = waves.data_ptr<double>();
  for (const double coordinate : places) {
    for (int k = 0; k < wave_frequencies; ++k) {
      const double base = 1e-4F, frequency = static_cast<float>(std::pow(base, 2.0 * k / wave_frequencies));
      *to++ = std::sin(coordinate * frequency);
      *to++ = std::cos(coordinate * frequency);
    }
  }
  return waves.view({coordinates / 2, 4 * wave_frequencies}).to(options);
}

}  // namespace opshap::operators
