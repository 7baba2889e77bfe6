#pragma once

// GELU and its slope, once for each stated accuracy: quick_gelu by its absolute error, Gelu by its relative one.

#include "kernels/vectors.hpp"

namespace opshap::kernels {

namespace {

/// gelu(x) = max(x, 0) − g(t) and gelu'(x) = 1[x > 0] ∓ g'(t) with t = |x|. We take g(t) = t·p(t)⁴ and
/// g'(t) = (0.7518 − t)·p(t)⁴ with a polynomial p of degree eight each: a fourth power follows the fall of a Gaussian
/// with half of the degree that a polynomial needs, and p falls to zero at `limit`, where t stops.
/// reference_data/generate/gelu_polynomials.py finds the coefficients.
struct QuickGelu {
  float limit;
  float coefficients[9];  ///< the constant first
};
constexpr QuickGelu quick_value = {
    5.6752942F,
    {8.40898377e-01F, -1.67755284e-01F, -5.01207395e-02F, 4.51906203e-03F, 3.91432367e-03F, -9.60675863e-05F,
     -2.89872713e-04F, 5.57727632e-05F, -3.23940837e-06F}};
constexpr QuickGelu quick_slope = {
    5.8664852F,
    {9.03063284e-01F, -5.99642286e-02F, -8.57817720e-02F, -2.62301714e-03F, 6.58477952e-03F, 3.23242322e-04F,
     -5.20725543e-04F, 8.55054001e-05F, -4.51624965e-06F}};

/// p(t)⁴ for N vectors side by side: one alone would wait for its own last product.
template <int N>
OPSHAP_INLINE void quick_power(const Vec (&t)[N], Vec (&power)[N], const QuickGelu& of) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) power[i] = Vec{} + of.coefficients[8];
#pragma GCC unroll 8
  for (int d = 7; d >= 0; --d)
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) power[i] = power[i] * t[i] + of.coefficients[d];
  each<2, N>([&](int, int i) { power[i] *= power[i]; });
}

/// x becomes gelu(x).
template <int N>
OPSHAP_INLINE void quick_gelu(Vec (&x)[N]) {
  Vec t[N], power[N];
  each<1, N>([&](int, int i) { t[i] = magnitude_of_number(x[i], quick_value.limit); });
  quick_power(t, power, quick_value);
  each<1, N>([&](int, int i) { x[i] = larger(Vec{}, x[i]) - t[i] * power[i]; });
}

[[maybe_unused, gnu::flatten]] void quick_gelu_all(const float* from, float* to, Index count) {
  for_columns<4>(count, [&]<int N>(Index first) {
    Vec x[N];
    each<1, N>([&](int, int i) { x[i] = load(from + first + i * lanes); });
    quick_gelu(x);
    each<1, N>([&](int, int i) { store(to + first + i * lanes, x[i]); });
  });
}

[[maybe_unused, gnu::flatten]] void quick_gelu_slope(const float* at, float* gradient, Index count) {
  constexpr float root = 0.75179152F;  // of g'
  for_columns<4>(count, [&]<int N>(Index first) {
    Vec x[N], t[N], power[N];
    each<1, N>([&](int, int i) {
      x[i] = load(at + first + i * lanes);
      t[i] = magnitude(x[i], quick_slope.limit);
    });
    quick_power(t, power, quick_slope);
    each<1, N>([&](int, int i) {
      const Vec g = (root - t[i]) * power[i];
      float* to = gradient + first + i * lanes;
      store(to, load(to) * (x[i] > 0.0F ? 1.0F - g : g));
    });
  });
}

/// gelu(x) = x·Φ(x) and gelu'(x) = Φ(x) + x·φ(x). Both need exp(−x²/2) alone: Φ(−t) = exp(−t²/2)·m(t) for t >= 0 with a
/// smooth, slowly falling m.
template <typename T, int L>
struct Gelu {
  using V = Lanes<float, L>;
  using Vec = typename V::Vec;
  using Bits = typename V::Bits;
  Vec value, slope;

  OPSHAP_INLINE explicit Gelu(Vec x) {
    // exp(−x²/2) = 2^n·2^f with an integer n and |f| <= ½. Adding 1.5·2^23 rounds to an integer, in the low bits. Of
    // n = −127 the bits of 2^n·2^0 are those of 0.
    constexpr float rounder = 12582912.0F;
    const Vec power = larger(Vec{} - 127.0F, x * x * -0.72134752F);
    const Vec rounded = power + rounder;
    const Vec f = power - (rounded - rounder);
    // Least maximum relative error of 2^f on [−½, ½]: 2e-9.
    Vec bell = f * 1.53458114e-4F + 1.33999317e-3F;
    bell = bell * f + 9.61848896e-3F;
    bell = bell * f + 5.55032878e-2F;
    bell = bell * f + 2.40226469e-1F;
    bell = bell * f + 6.93147206e-1F;
    bell = bell * f + 1.0F;
    bell = reinterpret_cast<Vec>(reinterpret_cast<Bits>(bell) + (reinterpret_cast<Bits>(rounded) << 23));
    // m(t) as a polynomial in u = 1/(1 + 0.278·t) without constant term, the form of Abramowitz & Stegun 7.1.26. Its
    // coefficients make the maximum over t >= 0 of exp(−t²/2)·(1 + t)·|error| least: 1e-8.
    const Vec t = reinterpret_cast<Vec>(reinterpret_cast<Bits>(x) & 0x7fffffff);
    const Vec u = 1.0F / (t * 0.278F + 1.0F);
    Vec m = u * -0.11013747F + 0.41703938F;
    m = m * u - 0.27787927F;
    m = m * u + 0.29742463F;
    m = m * u + 0.05636034F;
    m = m * u + 0.11719237F;
    const Vec tail = m * u * bell;
    const Vec law = x > 0.0F ? 1.0F - tail : tail;
    // Infinities are not to meet the zeros.
    const Vec above = larger(Vec{} - 1e30F, x);
    value = above * law;
    slope = smaller(Vec{} + 1e30F, above) * bell * 0.39894228F + law;
  }
};

/// In double precision for checks, not for speed.
template <int L>
struct Gelu<double, L> {
  using Vec = typename Lanes<double, L>::Vec;
  Vec value, slope;

  OPSHAP_INLINE explicit Gelu(Vec x) {
    for (int i = 0; i < L; ++i) {
      const double bounded = x[i] < -40.0 ? -40.0 : x[i] > 40.0 ? 40.0 : x[i];
      const double law = 0.5 * __builtin_erfc(-bounded * 0.70710678118654752440);
      value[i] = (x[i] > bounded ? x[i] : bounded) * law;
      slope[i] = law + bounded * 0.39894228040143267794 * __builtin_exp(-0.5 * bounded * bounded);
    }
  }
};

}  // namespace

}  // namespace opshap::kernels
