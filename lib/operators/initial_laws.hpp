#pragma once

#include <cmath>
#include <cstdint>

#include "operators/network.hpp"

namespace opshap::operators {

/// The law of weights and biases of a linear layer or convolution in PyTorch, where each output is a sum over `inputs`
/// numbers.
inline Initial law_of_linear(std::int64_t inputs) {
  return {Initial::Law::uniform, 1 / std::sqrt(static_cast<double>(inputs))};
}

/// The laws of a spectral convolution in neuraloperator. The scale of the weights is that of their real and imaginary
/// parts.
inline Initial law_of_spectral_bias(std::int64_t inputs, std::int64_t outputs) {
  return {Initial::Law::normal, std::sqrt(2.0 / static_cast<double>(inputs + outputs))};
}
inline Initial law_of_spectral_weight(std::int64_t inputs, std::int64_t outputs) {
  return {Initial::Law::normal, law_of_spectral_bias(inputs, outputs).scale / std::sqrt(2.0)};
}

}  // namespace opshap::operators
