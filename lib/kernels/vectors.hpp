#pragma once

// What the kernels are written in: vectors of OPSHAP_VECTOR_BYTES bytes. kernels_<set>.cpp compiles body.hpp for each
// instruction set.
//
// Nothing in these files may use an inline function of a header from elsewhere: compiled for a newer processor, the
// linker could keep that copy for everyone. Intrinsics leave no copy.
//
// Channels lie in the lanes. A block of the output, a few points (or fields) by a few vectors of channels, stays in
// registers while a sum runs.

#include <cstdint>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#ifndef OPSHAP_VECTOR_BYTES
// For any processor.
#define OPSHAP_VECTOR_BYTES 16
#define OPSHAP_SET "baseline"
#define OPSHAP_KERNELS kernels_baseline
#endif

namespace opshap::kernels {

namespace {

#define OPSHAP_INLINE [[gnu::always_inline]] inline

using Index = std::int64_t;

constexpr int vector_bytes = OPSHAP_VECTOR_BYTES;
template <typename T>
constexpr int lanes_for = vector_bytes / static_cast<int>(sizeof(T));

/// L numbers of type T, with their bit patterns. One lane is a vector, too: what does not fill a longer one goes
/// through the same code.
template <typename T, int L>
struct Lanes {
  static constexpr int count = L;
  typedef T Vec __attribute__((vector_size(L * sizeof(T))));
  typedef T Anywhere __attribute__((vector_size(L * sizeof(T)), aligned(alignof(T)), may_alias));
  typedef int Bits __attribute__((vector_size(L * sizeof(int))));

  OPSHAP_INLINE static Vec load(const T* from) { return *reinterpret_cast<const Anywhere*>(from); }
  OPSHAP_INLINE static void store(T* to, Vec value) { *reinterpret_cast<Anywhere*>(to) = value; }
};

using Floats = Lanes<float, lanes_for<float>>;
using Vec = Floats::Vec;
constexpr Index lanes = Floats::count;

OPSHAP_INLINE Vec load(const float* from) { return Floats::load(from); }
OPSHAP_INLINE void store(float* to, Vec value) { Floats::store(to, value); }

/// a where a < b (larger: a > b), else b: where one is NaN, b. GCC makes two operations of such an expression, though
/// processors have one.
template <typename Any>
OPSHAP_INLINE Any smaller(Any a, Any b) {
  return a < b ? a : b;
}
template <typename Any>
OPSHAP_INLINE Any larger(Any a, Any b) {
  return a > b ? a : b;
}
#if OPSHAP_VECTOR_BYTES == 64
OPSHAP_INLINE Vec smaller(Vec a, Vec b) { return _mm512_min_ps(a, b); }
OPSHAP_INLINE Vec larger(Vec a, Vec b) { return _mm512_max_ps(a, b); }
#elif OPSHAP_VECTOR_BYTES == 32
OPSHAP_INLINE Vec smaller(Vec a, Vec b) { return _mm256_min_ps(a, b); }
OPSHAP_INLINE Vec larger(Vec a, Vec b) { return _mm256_max_ps(a, b); }
#elif defined(__SSE2__)
OPSHAP_INLINE Vec smaller(Vec a, Vec b) { return _mm_min_ps(a, b); }
OPSHAP_INLINE Vec larger(Vec a, Vec b) { return _mm_max_ps(a, b); }
#endif

/// min(|x|, limit), NaN where x is NaN.
OPSHAP_INLINE Vec magnitude(Vec x, float limit) {
  return smaller(Vec{} + limit, reinterpret_cast<Vec>(reinterpret_cast<Floats::Bits>(x) & 0x7fffffff));
}
/// The same in one operation where the processor has one, but anything where x is NaN.
OPSHAP_INLINE Vec magnitude_of_number(Vec x, float limit) {
#if OPSHAP_VECTOR_BYTES == 64
  return _mm512_range_ps(x, _mm512_set1_ps(limit), 0b1010);  // of absolute values the smaller, without its sign
#else
  return magnitude(x, limit);
#endif
}

// Blocks of a product, rows by vectors of channels, that leave room for their operands: AVX-512 has 32 registers, the
// others 16.
constexpr bool many_registers = vector_bytes == 64;
constexpr int most_vectors = many_registers ? 4 : vector_bytes == 32 ? 3 : 2;  // by four rows
constexpr int narrow_vectors = 2, most_rows = many_registers ? 8 : 6;
constexpr int mixing_vectors = many_registers ? 2 : 1, orbits_together = many_registers ? 4 : 2;

/// Calls work(m, v) for all m < M and v < NV in this order, unrolled.
template <int M, int NV, typename Work>
OPSHAP_INLINE void each(Work&& work) {
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) work(m, v);
}

/// sum[m][v] += Σ_k a[m·row + k·step]·b[k, v].
template <typename V = Floats, int M, int NV, typename T>
OPSHAP_INLINE void accumulate(typename V::Vec (&sum)[M][NV], const T* a, Index row, Index step, const T* b,
                              Index b_stride, Index inner) {
  for (Index k = 0; k < inner; ++k) {
    typename V::Vec values[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) values[v] = V::load(b + k * b_stride + v * V::count);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const T scalar = a[m * row + k * step];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[m][v] += scalar * values[v];
    }
  }
}

/// Calls block.template operator()<NV>(first) for blocks of NV vectors of L channels that cover first..columns-1, and
/// returns the first column that fills no vector.
template <int Most, int L = Floats::count, typename Block>
OPSHAP_INLINE Index for_columns(Index columns, Block&& block, Index first = 0) {
  for (; columns - first >= Most * L; first += Most * L) block.template operator()<Most>(first);
  if constexpr (Most > 1) first = for_columns<Most - 1, L>(columns, block, first);
  return first;
}

}  // namespace

}  // namespace opshap::kernels
