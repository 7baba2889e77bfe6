// Sixteen lanes; 32 registers hold a block of four by four vectors.

#include <immintrin.h>

#define OPSHAP_LANES 16
#define OPSHAP_SET "avx512"
#define OPSHAP_KERNELS kernels_avx512

namespace opshap::engines {

namespace {

using Indices [[gnu::vector_size(OPSHAP_LANES * sizeof(int)), gnu::may_alias]] = int;

constexpr int most_vectors = 4, narrow_vectors = 2, narrow_points = 8, mixing_vectors = 2, orbits_together = 4;
constexpr int gelu_intervals = 16, gelu_degree = 4;

/// min(|x|, limit) in one operation: of absolute values the smaller, without its sign.
[[gnu::always_inline]] inline __m512 magnitude(__m512 x, float limit) {
  return _mm512_range_ps(x, _mm512_set1_ps(limit), 0b1010);
}
[[gnu::always_inline]] inline __m512 maximum_or_nan(__m512 x) { return _mm512_max_ps(_mm512_setzero_ps(), x); }
/// The low four bits of each index choose.
[[gnu::always_inline]] inline __m512 look_up(const float* table, Indices index) {
  return _mm512_permutexvar_ps(reinterpret_cast<__m512i>(index), _mm512_load_ps(table));
}

}  // namespace

}  // namespace opshap::engines

#include "engines/kernels_body.hpp"
