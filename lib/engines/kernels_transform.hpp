#pragma once

// The transforms of an axis: four points of an orbit at a time, between field values and the coefficients of each
// symmetry class.

#include "engines/kernels.hpp"
#include "engines/kernels_vectors.hpp"

namespace opshap::engines {

namespace {

constexpr Index tile_orbits = 16;  // kernel_scratch() knows of them; each tile reads the block's weights once

/// The four signed sums of an orbit, and back: the matrix is its own inverse up to the factor 4.
OPSHAP_INLINE void butterfly(Vec& a, Vec& b, Vec& c, Vec& d) {
  const Vec even = a + b, odd = a - b, late_even = c + d, late_odd = c - d;
  a = even + late_even;
  b = even - late_even;
  c = odd - late_odd;
  d = odd + late_odd;
}
OPSHAP_INLINE void inverse_butterfly(Vec& a, Vec& b, Vec& c, Vec& d) {
  const Vec cosines = a + b, sines = c + d, late_cosines = a - b, late_sines = c - d;
  a = cosines + sines;
  b = cosines - sines;
  c = late_cosines - late_sines;
  d = late_cosines + late_sines;
}

/// Field values at the four points of an orbit.
template <int NV>
OPSHAP_INLINE void inverse_transform(Vec (&sum)[4][NV], const LineBasis& basis, Index orbit, Index stride,
                                     const float* coefficients) {
  clear(sum);
  if (basis.folded) {
    const float* values = basis.inverse + orbit * basis.rows;
    const auto add = [&](int c, int r) {
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[c][v] += values[r] * load(coefficients + r * stride + v * lanes);
    };
    // The classes side by side, as far as all of them have rows: a class alone would wait for its own last sum.
    int rows = basis.rows;
    for (int c = 0; c < 4; ++c) {
      const int of_class = basis.class_begin[c + 1] - basis.class_begin[c];
      rows = of_class < rows ? of_class : rows;
    }
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) add(c, basis.class_begin[c] + r);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      for (int r = basis.class_begin[c] + rows; r < basis.class_begin[c + 1]; ++r) add(c, r);
    }
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) inverse_butterfly(sum[0][v], sum[1][v], sum[2][v], sum[3][v]);
  } else {
    accumulate(sum, basis.inverse + 4 * orbit * basis.rows, basis.rows, 1, coefficients, stride, basis.rows);
  }
}

/// coefficients[r] += Σ_k forward[k, r]·values[k], for rows of one class.
template <int M>
OPSHAP_INLINE void add_rows(const LineBasis& basis, Index first_place, Index places, int row, Index width,
                            const float* values, float* coefficients, Index stride) {
  for_columns<most_vectors>(width, [&]<int NV>(Index column) {
    Vec sum[M][NV];
    float* out = coefficients + row * stride + column;
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[m][v] = load(out + m * stride + v * lanes);
    accumulate(sum, basis.forward + first_place * basis.rows + row, 1, basis.rows, values + column, width, places);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) store(out + m * stride + v * lanes, sum[m][v]);
  });
}

void add_class(const LineBasis& basis, Index first_place, Index places, int begin, int end, Index width,
               const float* values, float* coefficients, Index stride) {
  int row = begin;
  for (; row + 4 <= end; row += 4) add_rows<4>(basis, first_place, places, row, width, values, coefficients, stride);
  for (; row < end; ++row) add_rows<1>(basis, first_place, places, row, width, values, coefficients, stride);
}

/// The signed sums of an orbit's four states, for NV vectors of channels, to the tile's sums of each class.
template <int NV>
OPSHAP_INLINE void store_sums(Vec (&state)[4][NV], Index orbit_of_tile, Index width, Index column, float* sums) {
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v) {
    butterfly(state[0][v], state[1][v], state[2][v], state[3][v]);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c)
      store(sums + (c * tile_orbits + orbit_of_tile) * width + column + v * lanes, state[c][v]);
  }
}

/// Adds the coefficients of a tile of `orbits` orbits from `first` on: of its sums [4, tile_orbits, width] when folded,
/// else of its states [4·orbits, width].
void add_tile(const LineBasis& basis, Index first, Index orbits, Index width, const float* sums, float* coefficients,
              Index stride) {
  if (!basis.folded) {
    add_class(basis, 4 * first, 4 * orbits, 0, basis.rows, width, sums, coefficients, stride);
    return;
  }
  for (int c = 0; c < 4; ++c) {
    add_class(basis, first, orbits, basis.class_begin[c], basis.class_begin[c + 1], width,
              sums + c * tile_orbits * width, coefficients, stride);
  }
}

[[maybe_unused]] void transform(const LineBasis& basis, Index width, const std::int32_t* place, const float* table,
                                float* coefficients, Index stride, float* scratch) {
  for (Index first = 0; first < basis.orbits; first += tile_orbits) {
    const Index orbits = basis.orbits - first < tile_orbits ? basis.orbits - first : tile_orbits;
    for (Index i = 0; i < orbits; ++i) {
      const std::int32_t* row = place + 4 * (first + i);
      for (Index c = 0; c < width; c += lanes) {
        Vec state[4][1];
#pragma GCC unroll 4
        for (int m = 0; m < 4; ++m) state[m][0] = load(table + row[m] * width + c);
        if (basis.folded) {
          store_sums(state, i, width, c, scratch);
          continue;
        }
#pragma GCC unroll 4
        for (int m = 0; m < 4; ++m) store(scratch + (4 * i + m) * width + c, state[m][0]);
      }
    }
    add_tile(basis, first, orbits, width, scratch, coefficients, stride);
  }
}

}  // namespace

}  // namespace opshap::engines
