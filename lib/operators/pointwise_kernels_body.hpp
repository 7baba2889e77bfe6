// The kernels, written once on vectors; pointwise_kernels_<set>.cpp compiles them for each instruction set.
//
// Nothing here may use an inline function of another header: compiled for a newer processor, the linker could keep that
// copy for everyone. Channels lie in the lanes. The channels that do not fill a vector go through the same code one by
// one, as vectors of one lane.

#include "operators/pointwise_kernels.hpp"

#ifndef OPSHAP_VECTOR_BYTES
#define OPSHAP_VECTOR_BYTES 16
#define OPSHAP_MOST_VECTORS 2
#define OPSHAP_NAME(type) pointwise_kernels_baseline_##type
#endif

namespace opshap::operators {

namespace {

#define OPSHAP_INLINE [[gnu::always_inline]] inline

using Index = std::int64_t;
constexpr int vector_bytes = OPSHAP_VECTOR_BYTES;
constexpr int most_vectors = OPSHAP_MOST_VECTORS;  // four rows by so many vectors of a product stay in registers

template <typename T>
constexpr int lanes_of = vector_bytes / static_cast<int>(sizeof(T));

/// L numbers; Bits are their bit patterns.
template <typename T, int L>
struct Lanes {
  typedef T Vec __attribute__((vector_size(L * sizeof(T)), aligned(alignof(T)), may_alias));
  typedef int Bits __attribute__((vector_size(L * sizeof(int))));

  OPSHAP_INLINE static Vec load(const T* from) { return *reinterpret_cast<const Vec*>(from); }
  OPSHAP_INLINE static void store(T* to, Vec value) { *reinterpret_cast<Vec*>(to) = value; }
};

/// gelu(x) = x·Φ(x) and gelu'(x) = Φ(x) + x·φ(x). Both need exp(−x²/2) alone: Φ(−t) = exp(−t²/2)·m(t) for t >= 0 with a
/// smooth, slowly falling m.
template <int L>
struct Gelu {
  using Vec = typename Lanes<float, L>::Vec;
  using Bits = typename Lanes<float, L>::Bits;
  Vec value, slope;

  OPSHAP_INLINE explicit Gelu(Vec x) {
    const Vec zero = {};
    // exp(−x²/2) = 2^n·2^f with an integer n and |f| <= ½. Adding 1.5·2^23 rounds to an integer, in the low bits.
    constexpr float rounder = 12582912.0F;
    Vec power = x * x * -0.72134752F;
    power = power < -126.0F ? zero - 126.0F : power;
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
    value = x * law;
    slope = x * bell * 0.39894228F + law;
  }
};

/// In double precision for checks, not for speed.
template <typename T, int L>
struct Activation : Gelu<L> {
  using Gelu<L>::Gelu;
};
template <int L>
struct Activation<double, L> {
  using Vec = typename Lanes<double, L>::Vec;
  Vec value, slope;

  OPSHAP_INLINE explicit Activation(Vec x) {
    for (int i = 0; i < L; ++i) {
      const double law = 0.5 * __builtin_erfc(-x[i] * 0.70710678118654752440);
      value[i] = x[i] * law;
      slope[i] = law + x[i] * 0.39894228040143267794 * __builtin_exp(-0.5 * x[i] * x[i]);
    }
  }
};

/// Calls work.operator()<L>(first) for 0..count-1: vectors of L numbers, then single ones.
template <typename T, typename Work>
OPSHAP_INLINE void for_lanes(Index count, Work&& work) {
  constexpr int lanes = lanes_of<T>;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) work.template operator()<lanes>(i);
  for (; i < count; ++i) work.template operator()<1>(i);
}

template <typename T, int L, int M, int NV>
OPSHAP_INLINE void multiply_block(const StridedProduct<T>& p, Index row, Index column) {
  using V = Lanes<T, L>;
  typename V::Vec sum[M][NV];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[m][v] = p.bias != nullptr ? V::load(p.bias + column + v * L) : typename V::Vec{};
  const T* a = p.a + row * p.a_row;
  const T* b = p.b + column;
  for (Index k = 0; k < p.inner; ++k) {
    typename V::Vec values[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) values[v] = V::load(b + k * p.columns + v * L);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const T scalar = a[m * p.a_row + k * p.a_step];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[m][v] += scalar * values[v];
    }
  }
  T* out = p.out + row * p.columns + column;
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      T* to = out + m * p.columns + v * L;
      V::store(to, p.add ? V::load(to) + sum[m][v] : sum[m][v]);
    }
  }
}

template <typename T, int L, int NV>
OPSHAP_INLINE void multiply_columns(const StridedProduct<T>& p, Index column) {
  Index row = 0;
  for (; row + 4 <= p.rows; row += 4) multiply_block<T, L, 4, NV>(p, row, column);
  for (; row < p.rows; ++row) multiply_block<T, L, 1, NV>(p, row, column);
}

/// One column of a product whose rows of a have no gaps: the inner index lies in the lanes, since one column cannot
/// fill them.
template <typename T>
void multiply_column(const StridedProduct<T>& p, Index column) {
  constexpr int lanes = lanes_of<T>;
  constexpr Index most = 16 * lanes;
  using V = Lanes<T, lanes>;
  for (Index first = 0; first < p.inner; first += most) {
    const Index count = p.inner - first < most ? p.inner - first : most;
    T b[most] = {};
    for (Index k = 0; k < count; ++k) b[k] = p.b[(first + k) * p.columns + column];
    for (Index row = 0; row < p.rows; ++row) {
      const T* a = p.a + row * p.a_row + first;
      typename V::Vec sums = {};
      Index k = 0;
      for (; k + lanes <= count; k += lanes) sums += V::load(a + k) * V::load(b + k);
      T sum = first == 0 && p.bias != nullptr ? p.bias[column] : T(0);
      for (int lane = 0; lane < lanes; ++lane) sum += sums[lane];
      for (; k < count; ++k) sum += a[k] * b[k];
      T& out = p.out[row * p.columns + column];
      out = p.add || first > 0 ? out + sum : sum;
    }
  }
}

template <typename T>
void multiply(const StridedProduct<T>& p) {
  constexpr int lanes = lanes_of<T>;
  Index column = 0;
  for (; column + most_vectors * lanes <= p.columns; column += most_vectors * lanes)
    multiply_columns<T, lanes, most_vectors>(p, column);
  if (most_vectors > 2 && column + 2 * lanes <= p.columns) {
    multiply_columns<T, lanes, 2>(p, column);
    column += 2 * lanes;
  }
  for (; column + lanes <= p.columns; column += lanes) multiply_columns<T, lanes, 1>(p, column);
  for (; column < p.columns; ++column) {
    if (p.a_step == 1) {
      multiply_column(p, column);
    } else {
      multiply_columns<T, 1, 1>(p, column);
    }
  }
}

template <typename T>
void gelu(const T* x, T* y, Index count) {
  for_lanes<T>(count, [&]<int L>(Index i) {
    using V = Lanes<T, L>;
    V::store(y + i, Activation<T, L>(V::load(x + i)).value);
  });
}

template <typename T>
void gelu_and_slope(const T* x, T* y, T* slope, Index count) {
  for_lanes<T>(count, [&]<int L>(Index i) {
    using V = Lanes<T, L>;
    const Activation<T, L> activation(V::load(x + i));
    V::store(y + i, activation.value);
    V::store(slope + i, activation.slope);
  });
}

template <typename T>
void gelu_and_chain(const T* x, T* y, T* cotangent, Index count) {
  for_lanes<T>(count, [&]<int L>(Index i) {
    using V = Lanes<T, L>;
    const Activation<T, L> activation(V::load(x + i));
    V::store(y + i, activation.value);
    V::store(cotangent + i, V::load(cotangent + i) * activation.slope);
  });
}

template <typename T>
void gate(const T* gate, const T* x, T* z, Index rows, Index width) {
  for (Index row = 0; row < rows; ++row, x += width, z += width) {
    for_lanes<T>(width, [&]<int L>(Index c) {
      using V = Lanes<T, L>;
      V::store(z + c, V::load(z + c) + V::load(gate + c) * V::load(x + c));
    });
  }
}

template <typename T, int L, int NV>
OPSHAP_INLINE void gate_cotangent_columns(const GateCotangents<T>& g, Index column) {
  using V = Lanes<T, L>;
  typename V::Vec gate[NV], sum[NV] = {};
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v) gate[v] = V::load(g.gate + column + v * L);
  for (Index row = 0; row < g.rows; ++row) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const Index i = row * g.width + column + v * L;
      auto z = V::load(g.z + i);
      if (g.slope != nullptr) z *= V::load(g.slope + i);
      V::store(g.z + i, z);
      V::store(g.x_cotangent + i, z * gate[v]);
      if (g.gate_sum != nullptr) sum[v] += z * V::load(g.x + i);
    }
  }
  if (g.gate_sum == nullptr) return;
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v) {
    T* to = g.gate_sum + column + v * L;
    V::store(to, V::load(to) + sum[v]);
  }
}

template <typename T>
void gate_cotangents(const GateCotangents<T>& g) {
  constexpr int lanes = lanes_of<T>;
  Index column = 0;
  for (; column + 4 * lanes <= g.width; column += 4 * lanes) gate_cotangent_columns<T, lanes, 4>(g, column);
  for (; column + lanes <= g.width; column += lanes) gate_cotangent_columns<T, lanes, 1>(g, column);
  for (; column < g.width; ++column) gate_cotangent_columns<T, 1, 1>(g, column);
}

}  // namespace

#define OPSHAP_KERNELS_OF(T) \
  { multiply<T>, gelu<T>, gelu_and_slope<T>, gelu_and_chain<T>, gate<T>, gate_cotangents<T> }

extern const PointwiseKernels<float> OPSHAP_NAME(float);
extern const PointwiseKernels<double> OPSHAP_NAME(double);
const PointwiseKernels<float> OPSHAP_NAME(float) = OPSHAP_KERNELS_OF(float);
const PointwiseKernels<double> OPSHAP_NAME(double) = OPSHAP_KERNELS_OF(double);

}  // namespace opshap::operators
