#pragma once

// Products of matrices and of arrays, and activations, in float or double: any sizes, any alignment.

#include "kernels/gelu.hpp"
#include "kernels/kernels.hpp"
#include "kernels/vectors.hpp"

namespace opshap::kernels {

namespace {

template <typename V, int M, int NV, typename T>
OPSHAP_INLINE void multiply_block(const Product<T>& p, Index row, Index column) {
  typename V::Vec sum[M][NV];
  each<M, NV>([&](int m, int v) {
    sum[m][v] = p.bias != nullptr ? V::load(p.bias + column + v * V::count) : typename V::Vec{};
  });
  accumulate<V>(sum, p.a + row * p.a_row, p.a_row, p.a_step, p.b + column, p.columns, p.inner);
  const Index out_row = p.out_row == 0 ? p.columns : p.out_row;
  each<M, NV>([&](int m, int v) {
    T* to = p.out + (row + m) * out_row + column + v * V::count;
    V::store(to, p.add ? V::load(to) + sum[m][v] : sum[m][v]);
  });
}

/// Rows from `row` on, M at a time, as long as M of them are left before `end`; then `row` is the first that is left.
template <int M, int Most, typename T>
OPSHAP_INLINE void multiply_rows(const Product<T>& p, Index& row, Index end) {
  const Index stop = end - (end - row) % M;
  if (row == stop) return;
  for_columns<Most, lanes_for<T>>(p.columns, [&]<int NV>(Index column) {
    for (Index r = row; r < stop; r += M) multiply_block<Lanes<T, lanes_for<T>>, M, NV>(p, r, column);
  });
  row = stop;
}

/// One column of a product whose rows of a have no gaps: the inner index lies in the lanes, since one column cannot
/// fill them.
template <typename T>
void multiply_column(const Product<T>& p, Index column) {
  constexpr int count = lanes_for<T>;
  constexpr Index most = 16 * count;
  using V = Lanes<T, count>;
  for (Index first = 0; first < p.inner; first += most) {
    const Index numbers = p.inner - first < most ? p.inner - first : most;
    T b[most] = {};
    for (Index k = 0; k < numbers; ++k) b[k] = p.b[(first + k) * p.columns + column];
    for (Index row = 0; row < p.rows; ++row) {
      const T* a = p.a + row * p.a_row + first;
      typename V::Vec sums = {};
      Index k = 0;
      for (; k + count <= numbers; k += count) sums += V::load(a + k) * V::load(b + k);
      T sum = first == 0 && p.bias != nullptr ? p.bias[column] : T(0);
      for (int lane = 0; lane < count; ++lane) sum += sums[lane];
      for (; k < numbers; ++k) sum += a[k] * b[k];
      T& out = p.out[row * (p.out_row == 0 ? p.columns : p.out_row) + column];
      out = p.add || first > 0 ? out + sum : sum;
    }
  }
}

template <typename T>
void multiply(const Product<T>& p) {
  constexpr Index panel = 64;  // so many rows of a, and a block's columns of b, stay in the first-level cache together
  // More rows by fewer columns: fewer loads for each product, which a short sum does not pay back.
  const bool narrow = p.inner > 16 && (!many_registers || p.columns < most_vectors * lanes_for<T>);
  for (Index row = 0; row < p.rows;) {
    const Index end = row + panel < p.rows ? row + panel : p.rows;
    if (narrow) multiply_rows<most_rows, narrow_vectors>(p, row, end);
    multiply_rows<4, most_vectors>(p, row, end);
    multiply_rows<2, most_vectors>(p, row, end);
    multiply_rows<1, most_vectors>(p, row, end);
  }
  for (Index column = p.columns / lanes_for<T> * lanes_for<T>; column < p.columns; ++column) {
    if (p.a_step == 1) {
      multiply_column(p, column);
    } else {
      for (Index row = 0; row < p.rows; ++row) multiply_block<Lanes<T, 1>, 1, 1>(p, row, column);
    }
  }
}

/// Calls work.operator()<V>(first) for 0..count-1: vectors V, then single numbers.
template <typename T, typename Work>
OPSHAP_INLINE void for_lanes(Index count, Work&& work) {
  constexpr int full = lanes_for<T>;
  Index i = 0;
  for (; i + full <= count; i += full) work.template operator()<Lanes<T, full>>(i);
  for (; i < count; ++i) work.template operator()<Lanes<T, 1>>(i);
}

template <typename T>
void gelu(const T* x, T* y, Index count) {
  for_lanes<T>(count, [&]<typename V>(Index i) { V::store(y + i, Gelu<T, V::count>(V::load(x + i)).value); });
}

template <typename T>
void gelu_and_slope(const T* x, T* y, T* slope, Index count) {
  for_lanes<T>(count, [&]<typename V>(Index i) {
    const Gelu<T, V::count> gelu(V::load(x + i));
    V::store(y + i, gelu.value);
    V::store(slope + i, gelu.slope);
  });
}

template <typename T>
void gelu_and_chain(const T* x, T* y, T* cotangent, Index count) {
  for_lanes<T>(count, [&]<typename V>(Index i) {
    const Gelu<T, V::count> gelu(V::load(x + i));
    V::store(y + i, gelu.value);
    V::store(cotangent + i, V::load(cotangent + i) * gelu.slope);
  });
}

template <typename T>
void gate(const T* gate, const T* x, T* z, Index rows, Index width) {
  for (Index row = 0; row < rows; ++row, x += width, z += width)
    for_lanes<T>(width,
                 [&]<typename V>(Index c) { V::store(z + c, V::load(z + c) + V::load(gate + c) * V::load(x + c)); });
}

template <typename V, int NV, typename T>
OPSHAP_INLINE void gate_cotangent_columns(const GateCotangents<T>& g, Index column) {
  typename V::Vec gate[NV], sum[NV] = {};
  each<1, NV>([&](int, int v) { gate[v] = V::load(g.gate + column + v * V::count); });
  for (Index row = 0; row < g.rows; ++row) {
    each<1, NV>([&](int, int v) {
      const Index i = row * g.width + column + v * V::count;
      auto z = V::load(g.z + i);
      if (g.slope != nullptr) z *= V::load(g.slope + i);
      V::store(g.z + i, z);
      V::store(g.x_cotangent + i, z * gate[v]);
      if (g.gate_sum != nullptr) sum[v] += z * V::load(g.x + i);
    });
  }
  if (g.gate_sum == nullptr) return;
  each<1, NV>([&](int, int v) {
    T* to = g.gate_sum + column + v * V::count;
    V::store(to, V::load(to) + sum[v]);
  });
}

template <typename T>
void gate_cotangents(const GateCotangents<T>& g) {
  Index column = for_columns<4, lanes_for<T>>(
      g.width, [&]<int NV>(Index first) { gate_cotangent_columns<Lanes<T, lanes_for<T>>, NV>(g, first); });
  for (; column < g.width; ++column) gate_cotangent_columns<Lanes<T, 1>, 1>(g, column);
}

[[maybe_unused]] void add_scaled(float scale, const float* x, float* out, Index count) {
  for (Index i = 0; i < count; i += lanes) store(out + i, load(out + i) + scale * load(x + i));
}

[[maybe_unused]] float dot_difference(const float* x, const float* a, const float* b, Index count) {
  Vec sum = Vec{};
  for (Index i = 0; i < count; i += lanes) sum += load(x + i) * (load(a + i) - load(b + i));
  float total = 0;
  for (Index lane = 0; lane < lanes; ++lane) total += sum[lane];
  return total;
}

}  // namespace

}  // namespace opshap::kernels
