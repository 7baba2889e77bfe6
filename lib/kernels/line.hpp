#pragma once

// One line of points through one FNO block.

#include "kernels/gelu.hpp"
#include "kernels/kernels.hpp"
#include "kernels/transforms.hpp"
#include "kernels/vectors.hpp"

namespace opshap::kernels {

namespace {

/// gelu of each sum.
template <int M, int NV>
OPSHAP_INLINE void activate(Vec (&sum)[M][NV]) {
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) quick_gelu(sum[m]);
}

/// y = gelu(spectral + skip) for four points.
template <int NV>
OPSHAP_INLINE void before_mlp(const PointwiseBlock& block, const LineBasis& basis, const Line& line, Index orbit,
                              Index column, float* y) {
  const Index width = block.width;
  Vec sum[4][NV];
  inverse_transform<1>(sum, basis, orbit, line.stride, line.coefficients + column);
  if (line.states != nullptr) {
    accumulate(sum, line.states + 4 * orbit * width, width, 1, block.skip + column, width, width);
  } else {
    each<4, NV>([&](int m, int v) {
      sum[m][v] += load(line.skip_table + line.place[4 * orbit + m] * width + column + v * lanes);
    });
  }
  activate(sum);
  each<4, NV>([&](int m, int v) { store(y + m * width + column + v * lanes, sum[m][v]); });
}

/// h = gelu(W₀·y + b₀) for M points.
template <int M, int NV>
OPSHAP_INLINE void in_mlp(const PointwiseBlock& block, Index column, const float* y, float* h) {
  Vec sum[M][NV];
  each<M, NV>([&](int m, int v) { sum[m][v] = load(block.mlp0_bias + column + v * lanes); });
  accumulate(sum, y, block.width, 1, block.mlp0 + column, block.hidden, block.width);
  activate(sum);
  each<M, NV>([&](int m, int v) { store(h + m * block.hidden + column + v * lanes, sum[m][v]); });
}

/// gelu(W₁·h + b₁ + gate ⊙ x) for four points, and their sums when folded.
template <int NV>
OPSHAP_INLINE void after_mlp(const PointwiseBlock& block, const LineBasis& basis, const Line& line, Index first,
                             Index orbit_of_tile, Index column, const float* h, float* sums) {
  const Index width = block.width, orbit = first + orbit_of_tile;
  Vec sum[4][NV];
  each<4, NV>([&](int m, int v) {
    const Index point = 4 * orbit + m, c = column + v * lanes;
    sum[m][v] = load(block.mlp1_bias + c);
    if (line.states != nullptr) {
      sum[m][v] += load(block.gate + c) * load(line.states + point * width + c);
    } else {
      sum[m][v] += load(line.gate_table + line.place[point] * width + c);
    }
  });
  accumulate(sum, h, block.hidden, 1, block.mlp1 + column, width, block.hidden);
  activate(sum);
  each<4, NV>([&](int m, int v) { store(line.out + (4 * orbit + m) * width + column + v * lanes, sum[m][v]); });
  if (basis.folded) store_sums(sum, orbit_of_tile, width, column, sums);
}

[[maybe_unused]] void line(const PointwiseBlock& block, const LineBasis& basis, const Line& line, float* scratch) {
  const Index width = block.width, hidden = block.hidden;
  float *y = scratch, *h = y + 4 * tile_orbits * width;
  float* sums = y;  // which is done with by then
  for (Index first = 0; first < basis.orbits; first += tile_orbits) {
    const Index orbits = basis.orbits - first < tile_orbits ? basis.orbits - first : tile_orbits;
    const bool more = line.states != nullptr && first + orbits < basis.orbits;
    for_columns<most_vectors>(width, [&]<int NV>(Index column) {
      for (Index i = 0; i < orbits; ++i) {
        // The states of a batch do not fit the second-level cache: fetch the next tile's while this one is computed.
        if (more)
          each<4, NV>([&](int m, int v) {
            __builtin_prefetch(line.states + (4 * (first + orbits + i) + m) * width + column + v * lanes);
          });
        before_mlp<NV>(block, basis, line, first + i, column, y + 4 * i * width);
      }
    });
    for_columns<narrow_vectors>(hidden, [&]<int NV>(Index column) {
      Index i = 0;
      for (; i + most_rows <= 4 * orbits; i += most_rows)
        in_mlp<most_rows, NV>(block, column, y + i * width, h + i * hidden);
      for (; i + 4 <= 4 * orbits; i += 4) in_mlp<4, NV>(block, column, y + i * width, h + i * hidden);
      if (i < 4 * orbits) in_mlp<2, NV>(block, column, y + i * width, h + i * hidden);
    });
    for_columns<most_vectors>(width, [&]<int NV>(Index column) {
      for (Index i = 0; i < orbits; ++i) after_mlp<NV>(block, basis, line, first, i, column, h + 4 * i * hidden, sums);
    });
    add_tile(basis, first, orbits, width, basis.folded ? sums : line.out + 4 * first * width, line.out_coefficients,
             line.stride);
  }
}

}  // namespace

}  // namespace opshap::kernels
