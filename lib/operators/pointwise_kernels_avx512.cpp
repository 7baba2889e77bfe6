// For AVX-512: 32 registers of 64 bytes.
#define OPSHAP_VECTOR_BYTES 64
#define OPSHAP_MOST_VECTORS 4
#define OPSHAP_NAME(type) pointwise_kernels_avx512_##type
#include "operators/pointwise_kernels_body.hpp"
