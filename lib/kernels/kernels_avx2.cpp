// For AVX2 with fused multiply-add: 16 registers of 32 bytes.
#define OPSHAP_VECTOR_BYTES 32
#define OPSHAP_SET "avx2"
#define OPSHAP_KERNELS kernels_avx2
#include "kernels/body.hpp"
