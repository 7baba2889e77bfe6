#pragma once

#include <cstdint>

namespace opshap::data {

/// The number of IEEE 754 binary16, as a float32 that holds it exactly.
float from_half(std::uint16_t bits);

}  // namespace opshap::data
