#pragma once

#include "operators/config_reader.hpp"

namespace opshap::operators {

/// How a spectral convolution of two axes shifts the spectrum back before the inverse transform.
///
/// Weights are stored by frequency with 0 in the middle of the first axis, so the spectrum is shifted before it is
/// mixed, and back afterwards. neuraloperator up to 2.0.0 shifts it back by the same function, fftshift. Where the
/// number of points on the first axis is odd, that is one place too far: what was computed for the frequency k comes
/// out at k − 1, in every layer. Weights that were trained so need it. Later versions have ifftshift there, the
/// inverse. The two agree on even numbers of points, and in one dimension there is nothing to shift.
enum class InverseShift { fftshift, ifftshift };

/// The key of a CONFIG that says it.
inline constexpr const char* inverse_shift_key = "inverse_shift";

/// "fftshift" or "ifftshift".
const char* to_string(InverseShift shift);

/// The value of the key. Throws as ConfigReader::choice.
InverseShift read_inverse_shift(ConfigReader& reader, InverseShift absent);

/// The CONFIG of a network that was trained here, where only ifftshift has ever been. It is said where the CONFIG does
/// not say it and its architecture has such a shift.
networks::NetworkConfig of_own_training(const networks::NetworkConfig& config);

}  // namespace opshap::operators
