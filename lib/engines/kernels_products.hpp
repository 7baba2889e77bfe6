#pragma once

// Products of matrices and of arrays.

#include "engines/kernels.hpp"
#include "engines/kernels_vectors.hpp"

namespace opshap::engines {

namespace {

[[maybe_unused]] void blend(const float* a, const float* b, float weight, float* out, Index count) {
  for (Index i = 0; i < count; i += lanes) store(out + i, weight * load(a + i) + (1 - weight) * load(b + i));
}

[[maybe_unused]] void add_scaled(float scale, const float* x, float* out, Index count) {
  for (Index i = 0; i < count; i += lanes) store(out + i, load(out + i) + scale * load(x + i));
}

[[maybe_unused]] void add_gated(const float* gate, const float* x, float* out, Index rows, Index width) {
  for (Index row = 0; row < rows; ++row)
    for (Index c = 0; c < width; c += lanes) {
      const Index i = row * width + c;
      store(out + i, load(out + i) + load(gate + c) * load(x + i));
    }
}

[[maybe_unused]] float dot_difference(const float* x, const float* a, const float* b, Index count) {
  Vec sum = Vec{};
  for (Index i = 0; i < count; i += lanes) sum += load(x + i) * (load(a + i) - load(b + i));
  float total = 0;
  for (Index lane = 0; lane < lanes; ++lane) total += sum[lane];
  return total;
}

template <int M, int NV>
OPSHAP_INLINE void multiply_block(const Product& p, Index row, Index column) {
  Vec sum[M][NV];
  float* out = p.out + row * p.out_stride + column;
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      sum[m][v] = p.add ? load(out + m * p.out_stride + v * lanes) : Vec{};
      if (p.bias != nullptr) sum[m][v] += load(p.bias + column + v * lanes);
    }
  }
  accumulate(sum, p.a + row * p.a_stride, p.a_stride, 1, p.b + column, p.columns, p.inner);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(out + m * p.out_stride + v * lanes, sum[m][v]);
}

[[maybe_unused]] void multiply(const Product& product) {
  for (Index row = 0; row < product.rows; row += 4) {
    for_columns<most_vectors>(product.columns,
                              [&]<int NV>(Index column) { multiply_block<4, NV>(product, row, column); });
  }
}

}  // namespace

}  // namespace opshap::engines
