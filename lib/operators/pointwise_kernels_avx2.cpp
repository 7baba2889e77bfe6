// For AVX2 with fused multiply-add: 16 registers of 32 bytes.
#define OPSHAP_VECTOR_BYTES 32
#define OPSHAP_MOST_VECTORS 3
#define OPSHAP_NAME(type) pointwise_kernels_avx2_##type
#include "operators/pointwise_kernels_body.hpp"
