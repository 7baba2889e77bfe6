// Four lanes, for processors without AVX2; the compiler's default instruction set.

#define OPSHAP_LANES 4
#define OPSHAP_SET "baseline"
#define OPSHAP_KERNELS kernels_baseline

namespace opshap {

namespace {

using Vec4 [[gnu::vector_size(16), gnu::may_alias]] = float;
using Bits4 [[gnu::vector_size(16), gnu::may_alias]] = int;

constexpr int most_vectors = 2, narrow_vectors = 2, narrow_points = 4, mixing_vectors = 1;
constexpr int gelu_intervals = 16, gelu_degree = 4;

[[gnu::always_inline]] inline Vec4 minimum(Vec4 a, Vec4 b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Vec4 maximum_or_nan(Vec4 x) { return x < 0 ? Vec4{} : x; }
/// The low four bits of each index choose.
[[gnu::always_inline]] inline Vec4 look_up(const float* table, Bits4 index) {
  return Vec4{table[index[0] & 15], table[index[1] & 15], table[index[2] & 15], table[index[3] & 15]};
}

}  // namespace

}  // namespace opshap

#include "engines/kernels_body.hpp"
