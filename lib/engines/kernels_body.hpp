// The kernels, written once on vectors of OPSHAP_LANES floats; kernels_<set>.cpp compiles them for each instruction set.
//
// Nothing here may use an inline function of another header: compiled for a newer processor, the linker could keep that copy for everyone.
// Channels lie in the lanes. A block of the output, four points (or fields) by a few vectors of channels, stays in registers while a sum runs.

#include "engines/gelu_table.hpp"
#include "engines/kernels.hpp"

#ifndef OPSHAP_LANES
// For any processor.
#define OPSHAP_LANES 4
#define OPSHAP_SET "baseline"
#define OPSHAP_KERNELS kernels_baseline

namespace opshap {

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

}  // namespace opshap
#endif

namespace opshap {

namespace {

using Index = std::int64_t;
constexpr Index lanes = OPSHAP_LANES;
constexpr Index tile_orbits = 16;  // kernel_scratch() knows of them; each tile reads the block's weights once

using Vec [[gnu::vector_size(OPSHAP_LANES * sizeof(float)), gnu::may_alias]] = float;
using Bits [[gnu::vector_size(OPSHAP_LANES * sizeof(float)), gnu::may_alias]] = int;

#define OPSHAP_INLINE [[gnu::always_inline]] inline

OPSHAP_INLINE Vec load(const float* from) { return *reinterpret_cast<const Vec*>(from); }
OPSHAP_INLINE void store(float* to, Vec value) { *reinterpret_cast<Vec*>(to) = value; }

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

void gelu_all(const float* from, float* to, Index count) {
  const GeluTable& table = gelu_table();
  for (Index i = 0; i < count; i += lanes) store(to + i, gelu(load(from + i), table));
}

void gelu_slope(const float* at, float* gradient, Index count) {
  static const GeluTable table(gelu_intervals, gelu_degree, GeluTable::Of::slope);
  for (Index i = 0; i < count; i += lanes) {
    const Vec x = load(at + i), g = tabulated(x, table);
    store(gradient + i, load(gradient + i) * (x > 0 ? 1 - g : g));
  }
}

void blend(const float* a, const float* b, float weight, float* out, Index count) {
  for (Index i = 0; i < count; i += lanes) store(out + i, weight * load(a + i) + (1 - weight) * load(b + i));
}

void add_scaled(float scale, const float* x, float* out, Index count) {
  for (Index i = 0; i < count; i += lanes) store(out + i, load(out + i) + scale * load(x + i));
}

void add_gated(const float* gate, const float* x, float* out, Index rows, Index width) {
  for (Index row = 0; row < rows; ++row)
    for (Index c = 0; c < width; c += lanes) {
      const Index i = row * width + c;
      store(out + i, load(out + i) + load(gate + c) * load(x + i));
    }
}

float dot_difference(const float* x, const float* a, const float* b, Index count) {
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

void multiply(const Product& product) {
  for (Index row = 0; row < product.rows; row += 4) {
    for_columns<most_vectors>(product.columns,
                              [&]<int NV>(Index column) { multiply_block<4, NV>(product, row, column); });
  }
}

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

/// Adds the coefficients of a tile of `orbits` orbits from `first` on: of its sums [4, tile_orbits, width] when folded, else of its states [4·orbits, width].
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

void transform(const LineBasis& basis, Index width, const std::int32_t* place, const float* table, float* coefficients,
               Index stride, float* scratch) {
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

template <int NV>
OPSHAP_INLINE void fetch(const float* states, Index width) {
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) __builtin_prefetch(states + m * width + v * lanes);
}

/// y = gelu(spectral + skip) for four points.
template <int NV>
OPSHAP_INLINE void before_mlp(const PointwiseBlock& block, const LineBasis& basis, const Line& line, Index orbit,
                              Index column, float* y, const GeluTable& table) {
  const Index width = block.width;
  Vec sum[4][NV];
  inverse_transform(sum, basis, orbit, line.stride, line.coefficients + column);
  if (line.states != nullptr) {
    accumulate(sum, line.states + 4 * orbit * width, width, 1, block.skip + column, width, width);
  } else {
#pragma GCC unroll 4
    for (int m = 0; m < 4; ++m) {
      const float* skip = line.skip_table + line.place[4 * orbit + m] * width + column;
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[m][v] += load(skip + v * lanes);
    }
  }
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(y + m * width + column + v * lanes, gelu(sum[m][v], table));
}

/// h = gelu(W₀·y + b₀) for M points.
template <int M, int NV>
OPSHAP_INLINE void in_mlp(const PointwiseBlock& block, Index column, const float* y, float* h, const GeluTable& table) {
  Vec sum[M][NV];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[m][v] = load(block.mlp0_bias + column + v * lanes);
  accumulate(sum, y, block.width, 1, block.mlp0 + column, block.hidden, block.width);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(h + m * block.hidden + column + v * lanes, gelu(sum[m][v], table));
}

/// gelu(W₁·h + b₁ + gate ⊙ x) for four points, and their sums when folded.
template <int NV>
OPSHAP_INLINE void after_mlp(const PointwiseBlock& block, const LineBasis& basis, const Line& line, Index first,
                             Index orbit_of_tile, Index column, const float* h, float* sums, const GeluTable& table) {
  const Index width = block.width, orbit = first + orbit_of_tile;
  Vec sum[4][NV];
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m) {
    const Index point = 4 * orbit + m;
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const Index c = column + v * lanes;
      sum[m][v] = load(block.mlp1_bias + c);
      if (line.states != nullptr) {
        sum[m][v] += load(block.gate + c) * load(line.states + point * width + c);
      } else {
        sum[m][v] += load(line.gate_table + line.place[point] * width + c);
      }
    }
  }
  accumulate(sum, h, block.hidden, 1, block.mlp1 + column, width, block.hidden);
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      sum[m][v] = gelu(sum[m][v], table);
      store(line.out + (4 * orbit + m) * width + column + v * lanes, sum[m][v]);
    }
  if (basis.folded) store_sums(sum, orbit_of_tile, width, column, sums);
}

void line(const PointwiseBlock& block, const LineBasis& basis, const Line& line, float* scratch) {
  const GeluTable& table = gelu_table();
  const Index width = block.width, hidden = block.hidden;
  float *y = scratch, *h = y + 4 * tile_orbits * width;
  float* sums = y;  // which is done with by then
  for (Index first = 0; first < basis.orbits; first += tile_orbits) {
    const Index orbits = basis.orbits - first < tile_orbits ? basis.orbits - first : tile_orbits;
    const bool more = line.states != nullptr && first + orbits < basis.orbits;
    for_columns<most_vectors>(width, [&]<int NV>(Index column) {
      for (Index i = 0; i < orbits; ++i) {
        // The states of a batch do not fit the second-level cache: fetch the next tile's while this one is computed.
        if (more) fetch<NV>(line.states + 4 * (first + orbits + i) * width + column, width);
        before_mlp<NV>(block, basis, line, first + i, column, y + 4 * i * width, table);
      }
    });
    for_columns<narrow_vectors>(hidden, [&]<int NV>(Index column) {
      Index i = 0;
      for (; i + narrow_points <= 4 * orbits; i += narrow_points)
        in_mlp<narrow_points, NV>(block, column, y + i * width, h + i * hidden, table);
      for (; i < 4 * orbits; i += 4) in_mlp<4, NV>(block, column, y + i * width, h + i * hidden, table);
    });
    for_columns<most_vectors>(width, [&]<int NV>(Index column) {
      for (Index i = 0; i < orbits; ++i)
        after_mlp<NV>(block, basis, line, first, i, column, h + 4 * i * hidden, sums, table);
    });
    add_tile(basis, first, orbits, width, basis.folded ? sums : line.out + 4 * first * width, line.out_coefficients,
             line.stride);
  }
}

/// The two terms' signed sum of rows, for all channels of four fields.
OPSHAP_INLINE void take_terms(const Mixing& mixing, const Frequency::Term (&terms)[2], Index field, float* to) {
  for (int m = 0; m < 4; ++m) {
    const float* from = mixing.in + (field + m) * mixing.width;
    for (Index c = 0; c < mixing.width; c += lanes) {
      Vec sum = Vec{};
      for (const Frequency::Term& term : terms)
        if (term.row >= 0) sum += term.sign * load(from + term.row * mixing.stride + c);
      store(to + m * mixing.width + c, sum);
    }
  }
}

/// Written by the first frequency of a pair, added to by the second.
template <int NV>
OPSHAP_INLINE void give_terms(const Mixing& mixing, const Frequency::Term (&terms)[2], bool add, Index field,
                              Index column, const Vec (&sum)[4][NV]) {
  for (const Frequency::Term& term : terms) {
    if (term.row < 0) continue;
#pragma GCC unroll 4
    for (int m = 0; m < 4; ++m) {
      float* to = mixing.out + term.row * mixing.stride + (field + m) * mixing.width + column;
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        store(to + v * lanes, add ? load(to + v * lanes) + term.sign * sum[m][v] : term.sign * sum[m][v]);
    }
  }
}

/// (Re x + Im x)·Re w, Im x·(Re w + Im w) and Re x·(Im w − Re w) together: the weights come from far away, and once is enough.
template <int NV>
OPSHAP_INLINE void mix_complex(const Mixing& mixing, int number, Index field, Index column, const float* re,
                               const float* im, const float* both) {
  const Index width = mixing.width;
  Vec sum[4][NV], minus[4][NV], plus[4][NV];
  clear(sum);
  clear(minus);
  clear(plus);
  const float *real_weights = mixing.weights + 2 * number * width * width + column,
              *imaginary_weights = real_weights + width * width;
  for (Index k = 0; k < width; ++k) {
    Vec of_re[NV], of_im[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      of_re[v] = load(real_weights + k * width + v * lanes);
      of_im[v] = load(imaginary_weights + k * width + v * lanes);
    }
#pragma GCC unroll 4
    for (int m = 0; m < 4; ++m) {
      const float x = re[m * width + k], y = im[m * width + k], both_parts = both[m * width + k];
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) {
        sum[m][v] += both_parts * of_re[v];
        minus[m][v] += y * (of_re[v] + of_im[v]);
        plus[m][v] += x * (of_im[v] - of_re[v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      plus[m][v] += sum[m][v];
      sum[m][v] -= minus[m][v];
    }
  }
  const Frequency& frequency = mixing.frequencies[number];
  give_terms(mixing, frequency.re, number > 0, field, column, sum);
  give_terms(mixing, frequency.im, number > 0, field, column, plus);
}

void mix(const Mixing& mixing, float* scratch) {
  const Index width = mixing.width;
  float *re = scratch, *im = re + 4 * width, *both = im + 4 * width;
  for (Index field = 0; field < mixing.count; field += 4) {
    for (int number = 0; number < mixing.size; ++number) {
      const Frequency& frequency = mixing.frequencies[number];
      take_terms(mixing, frequency.re, field, re);
      if (frequency.im[0].row < 0 && frequency.im[1].row < 0) {
        for_columns<narrow_vectors>(width, [&]<int NV>(Index column) {
          Vec sum[4][NV];
          clear(sum);
          accumulate(sum, re, width, 1, mixing.weights + 2 * number * width * width + column, width, width);
          give_terms(mixing, frequency.re, number > 0, field, column, sum);
        });
        continue;
      }
      take_terms(mixing, frequency.im, field, im);
      for (Index c = 0; c < 4 * width; c += lanes) store(both + c, load(re + c) + load(im + c));
      for_columns<mixing_vectors>(
          width, [&]<int NV>(Index column) { mix_complex<NV>(mixing, number, field, column, re, im, both); });
    }
  }
}

void spread_orbit(const LineBasis& basis, Index orbit, Index columns, Index width, const float* rows, Index stride,
                  float* lines) {
  for (Index column = 0; column < columns; ++column) {
    for_columns<most_vectors>(width, [&]<int NV>(Index channel) {
      Vec sum[4][NV];
      inverse_transform(sum, basis, orbit, columns * stride, rows + column * stride + channel);
#pragma GCC unroll 4
      for (int m = 0; m < 4; ++m)
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) store(lines + (m * columns + column) * width + channel + v * lanes, sum[m][v]);
    });
  }
}

void gather_orbit(const LineBasis& basis, Index orbit, Index columns, Index width, const float* lines, float* rows,
                  Index stride) {
  const float* values = basis.forward + (basis.folded ? 1 : 4) * orbit * basis.rows;
  for (Index column = 0; column < columns; ++column) {
    for_columns<most_vectors>(width, [&]<int NV>(Index channel) {
      Vec x[4][NV];
#pragma GCC unroll 4
      for (int m = 0; m < 4; ++m)
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) x[m][v] = load(lines + (m * columns + column) * width + channel + v * lanes);
      float* first = rows + column * stride + channel;
      if (!basis.folded) {
        for (int r = 0; r < basis.rows; ++r) {
          float* to = first + r * columns * stride;
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v) {
            Vec sum = load(to + v * lanes);
#pragma GCC unroll 4
            for (int m = 0; m < 4; ++m) sum += values[m * basis.rows + r] * x[m][v];
            store(to + v * lanes, sum);
          }
        }
        return;
      }
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) butterfly(x[0][v], x[1][v], x[2][v], x[3][v]);
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        for (int r = basis.class_begin[c]; r < basis.class_begin[c + 1]; ++r) {
          float* to = first + r * columns * stride;
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v) store(to + v * lanes, load(to + v * lanes) + values[r] * x[c][v]);
        }
      }
    });
  }
}

/// The same for several orbits: a coefficient is read, or changed, once for all of them.
void spread_orbits(const LineBasis& basis, Index orbit, Index columns, Index width, const float* rows, Index stride,
                   float* lines) {
  for (Index column = 0; column < columns; ++column) {
    for (Index channel = 0; channel < width; channel += lanes) {
      Vec sum[orbits_together][4];
      clear(sum);
      const float* first = rows + column * stride + channel;
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        for (int r = basis.class_begin[c]; r < basis.class_begin[c + 1]; ++r) {
          const Vec coefficient = load(first + r * columns * stride);
          const float* values = basis.inverse + orbit * basis.rows + r;
#pragma GCC unroll 4
          for (int o = 0; o < orbits_together; ++o) sum[o][c] += values[o * basis.rows] * coefficient;
        }
      }
#pragma GCC unroll 4
      for (int o = 0; o < orbits_together; ++o) {
        inverse_butterfly(sum[o][0], sum[o][1], sum[o][2], sum[o][3]);
#pragma GCC unroll 4
        for (int m = 0; m < 4; ++m) store(lines + ((4 * o + m) * columns + column) * width + channel, sum[o][m]);
      }
    }
  }
}

void gather_orbits(const LineBasis& basis, Index orbit, Index columns, Index width, const float* lines, float* rows,
                   Index stride) {
  for (Index column = 0; column < columns; ++column) {
    for (Index channel = 0; channel < width; channel += lanes) {
      Vec x[orbits_together][4];
#pragma GCC unroll 4
      for (int o = 0; o < orbits_together; ++o) {
#pragma GCC unroll 4
        for (int m = 0; m < 4; ++m) x[o][m] = load(lines + ((4 * o + m) * columns + column) * width + channel);
        butterfly(x[o][0], x[o][1], x[o][2], x[o][3]);
      }
      float* first = rows + column * stride + channel;
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        for (int r = basis.class_begin[c]; r < basis.class_begin[c + 1]; ++r) {
          float* to = first + r * columns * stride;
          const float* values = basis.forward + orbit * basis.rows + r;
          Vec sum = load(to);
#pragma GCC unroll 4
          for (int o = 0; o < orbits_together; ++o) sum += values[o * basis.rows] * x[o][c];
          store(to, sum);
        }
      }
    }
  }
}

void spread(const LineBasis& basis, Index orbit, Index count, Index columns, Index width, const float* rows,
            Index stride, float* lines) {
  const Index last = orbit + count, size = 4 * columns * width;
  for (; basis.folded && orbit + orbits_together <= last; orbit += orbits_together, lines += orbits_together * size)
    spread_orbits(basis, orbit, columns, width, rows, stride, lines);
  for (; orbit < last; ++orbit, lines += size) spread_orbit(basis, orbit, columns, width, rows, stride, lines);
}

void gather(const LineBasis& basis, Index orbit, Index count, Index columns, Index width, const float* lines,
            float* rows, Index stride) {
  const Index last = orbit + count, size = 4 * columns * width;
  for (; basis.folded && orbit + orbits_together <= last; orbit += orbits_together, lines += orbits_together * size)
    gather_orbits(basis, orbit, columns, width, lines, rows, stride);
  for (; orbit < last; ++orbit, lines += size) gather_orbit(basis, orbit, columns, width, lines, rows, stride);
}

}  // namespace

extern const Kernels OPSHAP_KERNELS;
const Kernels OPSHAP_KERNELS = {OPSHAP_SET, multiply,   gelu_all, line,       transform, mix,           spread,
                                gather,     gelu_slope, blend,    add_scaled, add_gated, dot_difference};

}  // namespace opshap
