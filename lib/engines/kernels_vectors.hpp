#pragma once

// What the kernels are written in: vectors of OPSHAP_LANES floats. kernels_<set>.cpp compiles kernels_body.hpp for each
// instruction set.
//
// Nothing in these files may use an inline function of a header from elsewhere: compiled for a newer processor, the
// linker could keep that copy for everyone. Channels lie in the lanes. A block of the output, four points (or fields)
// by a few vectors of channels, stays in registers while a sum runs.

#include <cstdint>

#ifndef OPSHAP_LANES
// For any processor.
#define OPSHAP_LANES 4
#define OPSHAP_SET "baseline"
#define OPSHAP_KERNELS kernels_baseline

namespace opshap::engines {

namespace {

using Vec4 [[gnu::vector_size(16), gnu::may_alias]] = float;
using Bits4 [[gnu::vector_size(16), gnu::may_alias]] = int;

constexpr int most_vectors = 2, narrow_vectors = 2, narrow_points = 4, mixing_vectors = 1, orbits_together = 2;
constexpr int gelu_intervals = 16, gelu_degree = 4;

[[gnu::always_inline]] inline Vec4 magnitude(Vec4 x, float limit) {
  const Vec4 t = reinterpret_cast<Vec4>(reinterpret_cast<Bits4>(x) & 0x7fffffff);
  return limit < t ? Vec4{} + limit : t;
}
[[gnu::always_inline]] inline Vec4 maximum_or_nan(Vec4 x) { return x < 0 ? Vec4{} : x; }
/// The low four bits of each index choose.
[[gnu::always_inline]] inline Vec4 look_up(const float* table, Bits4 index) {
  return Vec4{table[index[0] & 15], table[index[1] & 15], table[index[2] & 15], table[index[3] & 15]};
}

}  // namespace

}  // namespace opshap::engines
#endif

namespace opshap::engines {

namespace {

using Index = std::int64_t;
constexpr Index lanes = OPSHAP_LANES;

using Vec [[gnu::vector_size(OPSHAP_LANES * sizeof(float)), gnu::may_alias]] = float;
using Bits [[gnu::vector_size(OPSHAP_LANES * sizeof(float)), gnu::may_alias]] = int;

#define OPSHAP_INLINE [[gnu::always_inline]] inline

OPSHAP_INLINE Vec load(const float* from) { return *reinterpret_cast<const Vec*>(from); }
OPSHAP_INLINE void store(float* to, Vec value) { *reinterpret_cast<Vec*>(to) = value; }

/// sum[m][v] += Σ_k a[m·row + k·step]·b[k, v].
template <int M, int NV>
OPSHAP_INLINE void accumulate(Vec (&sum)[M][NV], const float* a, Index row, Index step, const float* b, Index b_stride,
                              Index inner) {
  for (Index k = 0; k < inner; ++k) {
    Vec values[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) values[v] = load(b + k * b_stride + v * lanes);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const float scalar = a[m * row + k * step];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[m][v] += scalar * values[v];
    }
  }
}

template <int M, int NV>
OPSHAP_INLINE void clear(Vec (&sum)[M][NV]) {
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[m][v] = Vec{};
}

/// Calls block.template operator()<NV>(first) for blocks of NV vectors of channels that cover 0..columns-1.
template <int Most, typename Block>
OPSHAP_INLINE void for_columns(Index columns, Block&& block) {
  Index first = 0;
  for (; columns - first >= Most * lanes; first += Most * lanes) block.template operator()<Most>(first);
  switch ((columns - first) / lanes) {
    case 3:
      if constexpr (Most > 3) block.template operator()<3>(first);
      break;
    case 2:
      if constexpr (Most > 2) block.template operator()<2>(first);
      break;
    case 1:
      if constexpr (Most > 1) block.template operator()<1>(first);
      break;
    default:
      break;
  }
}

}  // namespace

}  // namespace opshap::engines
