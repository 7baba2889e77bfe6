#pragma once

// GELU and its slope, from tables that fit a register.

#include "engines/gelu_table.hpp"
#include "engines/kernels_vectors.hpp"

namespace opshap::engines {

namespace {

const GeluTable& gelu_table() {
  static const GeluTable table(gelu_intervals, gelu_degree, GeluTable::Of::value);
  return table;
}

/// The table's function of |x|.
OPSHAP_INLINE Vec tabulated(Vec x, const GeluTable& table) {
  constexpr float rounder = 12582912.0F;  // 1.5·2^23: adding it rounds to an integer, in the low bits
  constexpr float scale = GeluTable::scale(gelu_intervals);
  const Vec t = magnitude(x, GeluTable::limit);
  const Vec rounded = t * scale + rounder;
  const Vec u = t * scale - (rounded - rounder);
  Vec g = look_up(table.coefficients[gelu_degree], reinterpret_cast<Bits>(rounded));
#pragma GCC unroll 8
  for (int d = gelu_degree - 1; d >= 0; --d)
    g = g * u + look_up(table.coefficients[d], reinterpret_cast<Bits>(rounded));
  return g;
}

OPSHAP_INLINE Vec gelu(Vec x, const GeluTable& table) { return maximum_or_nan(x) - tabulated(x, table); }

[[maybe_unused]] void gelu_all(const float* from, float* to, Index count) {
  const GeluTable& table = gelu_table();
  for (Index i = 0; i < count; i += lanes) store(to + i, gelu(load(from + i), table));
}

[[maybe_unused]] void gelu_slope(const float* at, float* gradient, Index count) {
  static const GeluTable table(gelu_intervals, gelu_degree, GeluTable::Of::slope);
  for (Index i = 0; i < count; i += lanes) {
    const Vec x = load(at + i), g = tabulated(x, table);
    store(gradient + i, load(gradient + i) * (x > 0 ? 1 - g : g));
  }
}

}  // namespace

}  // namespace opshap::engines
