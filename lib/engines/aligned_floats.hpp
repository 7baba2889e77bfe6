#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <vector>

namespace opshap {

/// Floats that start at a multiple of 64 bytes, as the kernels want them.
using AlignedFloats = std::vector<float, boost::alignment::aligned_allocator<float, 64>>;

}  // namespace opshap
