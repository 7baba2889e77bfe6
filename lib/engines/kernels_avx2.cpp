// Eight lanes; 16 registers hold a block of four by two or three vectors.

#include <immintrin.h>

#define OPSHAP_LANES 8
#define OPSHAP_SET "avx2"
#define OPSHAP_KERNELS kernels_avx2

namespace opshap::engines {

namespace {

using Indices [[gnu::vector_size(OPSHAP_LANES * sizeof(int)), gnu::may_alias]] = int;

constexpr int most_vectors = 3, narrow_vectors = 2, narrow_points = 4, mixing_vectors = 1, orbits_together = 2;
constexpr int gelu_intervals = 8, gelu_degree = 6;

[[gnu::always_inline]] inline __m256 magnitude(__m256 x, float limit) {
  return _mm256_min_ps(_mm256_set1_ps(limit), _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x));
}
[[gnu::always_inline]] inline __m256 maximum_or_nan(__m256 x) { return _mm256_max_ps(_mm256_setzero_ps(), x); }
/// The low three bits of each index choose.
[[gnu::always_inline]] inline __m256 look_up(const float* table, Indices index) {
  return _mm256_permutevar8x32_ps(_mm256_load_ps(table), reinterpret_cast<__m256i>(index));
}

}  // namespace

}  // namespace opshap::engines

#include "engines/kernels_body.hpp"
