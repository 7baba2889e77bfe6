#pragma once

// The transforms of an axis: four points of an orbit at a time, between field values and the coefficients of each
// symmetry class.

#include "kernels/kernels.hpp"
#include "kernels/vectors.hpp"

namespace opshap::kernels {

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

/// Field values at the four points of O orbits from `orbit` on, sum[m][o·NV + v] for NV = W/O vectors of channels: a
/// coefficient is read once for all of them. Where the basis is not folded, of one orbit.
template <int O, int W>
OPSHAP_INLINE void inverse_transform(Vec (&sum)[4][W], const LineBasis& basis, Index orbit, Index stride,
                                     const float* coefficients) {
  constexpr int NV = W / O;
  each<4, W>([&](int m, int w) { sum[m][w] = Vec{}; });
  if (O == 1 && !basis.folded) {
    accumulate(sum, basis.inverse + 4 * orbit * basis.rows, basis.rows, 1, coefficients, stride, basis.rows);
    return;
  }
  const float* values = basis.inverse + orbit * basis.rows;
  const auto add = [&](int c, int r) {
    each<NV, O>([&](int v, int o) {
      sum[c][o * NV + v] += values[o * basis.rows + r] * load(coefficients + r * stride + v * lanes);
    });
  };
  // The classes side by side, as far as all of them have rows: a class alone would wait for its own last sum.
  int rows = basis.rows;
  for (int c = 0; c < 4; ++c) {
    const int of_class = basis.class_begin[c + 1] - basis.class_begin[c];
    rows = of_class < rows ? of_class : rows;
  }
  for (int r = 0; r < rows; ++r) each<4, 1>([&](int c, int) { add(c, basis.class_begin[c] + r); });
  each<4, 1>([&](int c, int) {
    for (int r = basis.class_begin[c] + rows; r < basis.class_begin[c + 1]; ++r) add(c, r);
  });
  each<1, W>([&](int, int w) { inverse_butterfly(sum[0][w], sum[1][w], sum[2][w], sum[3][w]); });
}

/// coefficients[r] += Σ_k forward[k, r]·values[k], for M rows of one class.
template <int M>
OPSHAP_INLINE void add_rows(const LineBasis& basis, Index first_place, Index places, int row, Index width,
                            const float* values, float* coefficients, Index stride) {
  for_columns<most_vectors>(width, [&]<int NV>(Index column) {
    Vec sum[M][NV];
    float* out = coefficients + row * stride + column;
    each<M, NV>([&](int m, int v) { sum[m][v] = load(out + m * stride + v * lanes); });
    accumulate(sum, basis.forward + first_place * basis.rows + row, 1, basis.rows, values + column, width, places);
    each<M, NV>([&](int m, int v) { store(out + m * stride + v * lanes, sum[m][v]); });
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
  each<1, NV>([&](int, int v) { butterfly(state[0][v], state[1][v], state[2][v], state[3][v]); });
  each<4, NV>(
      [&](int c, int v) { store(sums + (c * tile_orbits + orbit_of_tile) * width + column + v * lanes, state[c][v]); });
}

/// Adds the coefficients of a tile of `orbits` orbits from `first` on: of its sums [4, tile_orbits, width] when folded,
/// else of its states [4·orbits, width].
void add_tile(const LineBasis& basis, Index first, Index orbits, Index width, const float* sums, float* coefficients,
              Index stride) {
  if (!basis.folded) {
    add_class(basis, 4 * first, 4 * orbits, 0, basis.rows, width, sums, coefficients, stride);
    return;
  }
  for (int c = 0; c < 4; ++c)
    add_class(basis, first, orbits, basis.class_begin[c], basis.class_begin[c + 1], width,
              sums + c * tile_orbits * width, coefficients, stride);
}

[[maybe_unused]] void transform(const LineBasis& basis, Index width, const std::int32_t* place, const float* table,
                                float* coefficients, Index stride, float* scratch) {
  for (Index first = 0; first < basis.orbits; first += tile_orbits) {
    const Index orbits = basis.orbits - first < tile_orbits ? basis.orbits - first : tile_orbits;
    for (Index i = 0; i < orbits; ++i) {
      const std::int32_t* row = place + 4 * (first + i);
      for (Index c = 0; c < width; c += lanes) {
        Vec state[4][1];
        each<4, 1>([&](int m, int) { state[m][0] = load(table + row[m] * width + c); });
        if (basis.folded) {
          store_sums(state, i, width, c, scratch);
        } else {
          each<4, 1>([&](int m, int) { store(scratch + (4 * i + m) * width + c, state[m][0]); });
        }
      }
    }
    add_tile(basis, first, orbits, width, scratch, coefficients, stride);
  }
}

// The first axis of two, between coefficients and lines.

template <int O, int Most>
OPSHAP_INLINE void spread_orbits(const LineBasis& basis, Index orbit, Index columns, Index width, const float* rows,
                                 Index stride, float* lines) {
  for (Index column = 0; column < columns; ++column) {
    for_columns<Most>(width, [&]<int NV>(Index channel) {
      Vec sum[4][O * NV];
      inverse_transform<O>(sum, basis, orbit, columns * stride, rows + column * stride + channel);
      each<4 * O, NV>([&](int point, int v) {
        store(lines + (point * columns + column) * width + channel + v * lanes, sum[point % 4][point / 4 * NV + v]);
      });
    });
  }
}

/// Rows begin..end-1 of `out` += Σ_p values[p, row]·x[p·NV + v], with `step` from row to row.
template <int P, int NV>
OPSHAP_INLINE void gather_rows(const LineBasis& basis, int begin, int end, const float* values, const Vec* x,
                               float* out, Index step) {
  for (int r = begin; r < end; ++r) {
    float* to = out + r * step;
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      Vec sum = load(to + v * lanes);
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) sum += values[p * basis.rows + r] * x[p * NV + v];
      store(to + v * lanes, sum);
    }
  }
}

template <int O, int Most>
OPSHAP_INLINE void gather_orbits(const LineBasis& basis, Index orbit, Index columns, Index width, const float* lines,
                                 float* rows, Index stride) {
  for (Index column = 0; column < columns; ++column) {
    for_columns<Most>(width, [&]<int NV>(Index channel) {
      Vec x[4][O * NV];
      float* first = rows + column * stride + channel;
      each<4 * O, NV>([&](int point, int v) {
        x[point % 4][point / 4 * NV + v] = load(lines + (point * columns + column) * width + channel + v * lanes);
      });
      if (O == 1 && !basis.folded) {
        gather_rows<4, NV>(basis, 0, basis.rows, basis.forward + 4 * orbit * basis.rows, x[0], first, columns * stride);
        return;
      }
      each<1, O * NV>([&](int, int w) { butterfly(x[0][w], x[1][w], x[2][w], x[3][w]); });
      each<4, 1>([&](int c, int) {
        gather_rows<O, NV>(basis, basis.class_begin[c], basis.class_begin[c + 1], basis.forward + orbit * basis.rows,
                           x[c], first, columns * stride);
      });
    });
  }
}

[[maybe_unused]] void spread(const LineBasis& basis, Index orbit, Index count, Index columns, Index width,
                             const float* rows, Index stride, float* lines) {
  const Index last = orbit + count, size = 4 * columns * width;
  for (; basis.folded && orbit + orbits_together <= last; orbit += orbits_together, lines += orbits_together * size)
    spread_orbits<orbits_together, 1>(basis, orbit, columns, width, rows, stride, lines);
  for (; orbit < last; ++orbit, lines += size)
    spread_orbits<1, most_vectors>(basis, orbit, columns, width, rows, stride, lines);
}

[[maybe_unused]] void gather(const LineBasis& basis, Index orbit, Index count, Index columns, Index width,
                             const float* lines, float* rows, Index stride) {
  const Index last = orbit + count, size = 4 * columns * width;
  for (; basis.folded && orbit + orbits_together <= last; orbit += orbits_together, lines += orbits_together * size)
    gather_orbits<orbits_together, 1>(basis, orbit, columns, width, lines, rows, stride);
  for (; orbit < last; ++orbit, lines += size)
    gather_orbits<1, most_vectors>(basis, orbit, columns, width, lines, rows, stride);
}

}  // namespace

}  // namespace opshap::kernels
