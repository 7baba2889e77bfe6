#pragma once

// The complex products of the kept frequencies.

#include "kernels/kernels.hpp"
#include "kernels/vectors.hpp"

namespace opshap::kernels {

namespace {

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
    each<4, NV>([&](int m, int v) {
      float* to = mixing.out + term.row * mixing.stride + (field + m) * mixing.width + column + v * lanes;
      store(to, add ? load(to) + term.sign * sum[m][v] : term.sign * sum[m][v]);
    });
  }
}

/// (Re x + Im x)·Re w, Im x·(Re w + Im w) and Re x·(Im w − Re w) together: the weights come from far away, and once is
/// enough.
template <int NV>
OPSHAP_INLINE void mix_complex(const Mixing& mixing, int number, Index field, Index column, const float* re,
                               const float* im, const float* both) {
  const Index width = mixing.width;
  Vec sum[4][NV], minus[4][NV], plus[4][NV];
  each<4, NV>([&](int m, int v) { sum[m][v] = minus[m][v] = plus[m][v] = Vec{}; });
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
  each<4, NV>([&](int m, int v) {
    plus[m][v] += sum[m][v];
    sum[m][v] -= minus[m][v];
  });
  const Frequency& frequency = mixing.frequencies[number];
  give_terms(mixing, frequency.to.re, number > 0, field, column, sum);
  give_terms(mixing, frequency.to.im, number > 0, field, column, plus);
}

[[maybe_unused]] void mix(const Mixing& mixing, float* scratch) {
  const Index width = mixing.width;
  float *re = scratch, *im = re + 4 * width, *both = im + 4 * width;
  for (Index field = 0; field < mixing.count; field += 4) {
    for (int number = 0; number < mixing.size; ++number) {
      const Frequency& frequency = mixing.frequencies[number];
      take_terms(mixing, frequency.from.re, field, re);
      if (frequency.from.real() && frequency.to.real()) {
        for_columns<narrow_vectors>(width, [&]<int NV>(Index column) {
          Vec sum[4][NV];
          each<4, NV>([&](int m, int v) { sum[m][v] = Vec{}; });
          accumulate(sum, re, width, 1, mixing.weights + 2 * number * width * width + column, width, width);
          give_terms(mixing, frequency.to.re, number > 0, field, column, sum);
        });
        continue;
      }
      take_terms(mixing, frequency.from.im, field, im);
      for (Index c = 0; c < 4 * width; c += lanes) store(both + c, load(re + c) + load(im + c));
      for_columns<mixing_vectors>(
          width, [&]<int NV>(Index column) { mix_complex<NV>(mixing, number, field, column, re, im, both); });
    }
  }
}

}  // namespace

}  // namespace opshap::kernels
