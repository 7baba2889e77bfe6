#pragma once

#include <span>

#include "operators/torch.hpp"

namespace opshap::operators {

/// Frequencies for each coordinate of an embedding.
constexpr int wave_frequencies = 32;

/// The sinusoidal embedding of places [N, 2] that neuraloperator 2.0.0 calls "transformer", with 32 frequencies:
/// [N, 2·64]. Entry c·64 + 2k is sin(p_c·w_k) and the next one cos(p_c·w_k), where w_k = 10000^(−k/16) in float32.
/// Version 1.0.2 has other frequencies.
torch::Tensor coordinate_waves(std::span<const double> places, const torch::TensorOptions& options);

}  // namespace opshap::operators
