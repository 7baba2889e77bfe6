// For AVX-512: 32 registers of 64 bytes.
#define OPSHAP_VECTOR_BYTES 64
#define OPSHAP_SET "avx512"
#define OPSHAP_KERNELS kernels_avx512
#include "kernels/body.hpp"
