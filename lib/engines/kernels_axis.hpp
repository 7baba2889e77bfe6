#pragma once

// The first axis of two, between coefficients and lines.

#include "engines/kernels.hpp"
#include "engines/kernels_transform.hpp"
#include "engines/kernels_vectors.hpp"

namespace opshap::engines {

namespace {

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

[[maybe_unused]] void spread(const LineBasis& basis, Index orbit, Index count, Index columns, Index width,
                             const float* rows, Index stride, float* lines) {
  const Index last = orbit + count, size = 4 * columns * width;
  for (; basis.folded && orbit + orbits_together <= last; orbit += orbits_together, lines += orbits_together * size)
    spread_orbits(basis, orbit, columns, width, rows, stride, lines);
  for (; orbit < last; ++orbit, lines += size) spread_orbit(basis, orbit, columns, width, rows, stride, lines);
}

[[maybe_unused]] void gather(const LineBasis& basis, Index orbit, Index count, Index columns, Index width,
                             const float* lines, float* rows, Index stride) {
  const Index last = orbit + count, size = 4 * columns * width;
  for (; basis.folded && orbit + orbits_together <= last; orbit += orbits_together, lines += orbits_together * size)
    gather_orbits(basis, orbit, columns, width, lines, rows, stride);
  for (; orbit < last; ++orbit, lines += size) gather_orbit(basis, orbit, columns, width, lines, rows, stride);
}

}  // namespace

}  // namespace opshap::engines
