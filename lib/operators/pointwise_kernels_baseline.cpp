// For any processor: vectors of 16 bytes.
#include "operators/pointwise_kernels_body.hpp"
