#pragma once

#include <cstdint>
#include <string>

namespace opshap::operators {

/// out[r, c] = Σ_k a[r·a_row + k·a_step]·b[k, c] (+ bias[c]) (+ out[r, c]); b and out are row-major without gaps.
template <typename T>
struct StridedProduct {
  const T* a = nullptr;
  std::int64_t a_row = 0, a_step = 0;
  const T* b = nullptr;
  T* out = nullptr;
  std::int64_t rows = 0, inner = 0, columns = 0;
  const T* bias = nullptr;
  bool add = false;
};

/// The reverse of out = gelu(z) with z = … + gate ⊙ x on [rows, width]: from the cotangent of out to those of z, x and
/// the gate.
template <typename T>
struct GateCotangents {
  const T *gate = nullptr, *x = nullptr;  ///< x is needed for gate_sum alone
  const T* slope = nullptr;               ///< gelu'(z); null when there is no activation
  T* z = nullptr;                         ///< holds the cotangent of out, which is multiplied by the slope
  T* x_cotangent = nullptr;               ///< z ⊙ gate
  T* gate_sum = nullptr;                  ///< [width], Σ over rows of z ⊙ x added; null when not wanted
  std::int64_t rows = 0, width = 0;
};

/// The arithmetic of pointwise layers for one instruction set, in float or double. Any sizes, any alignment. A sum over
/// `inner` or `rows` runs from the first to the last term and is then added to what is there.
///
/// The coalition engine has kernels of its own (engines/kernels.hpp). They take floats alone, in rows that the engine's
/// layout aligns, and their GELU is a table whose error is absolute. Training needs products of transposed operands,
/// slopes, and double precision for the check of its gradients. The kernels here would serve the engine too, but slow
/// it down: reports/performance.md and performance_amd_epyc.md measure both side by side (bench_kernels).
template <typename T>
struct PointwiseKernels {
  void (*multiply)(const StridedProduct<T>&);
  /// y = gelu(x), the one with erf: to 4 units in the last place of x. y may be x.
  void (*gelu)(const T* x, T* y, std::int64_t count);
  /// The same, and slope = gelu'(x).
  void (*gelu_and_slope)(const T* x, T* y, T* slope, std::int64_t count);
  /// The same, and cotangent ⊙= gelu'(x).
  void (*gelu_and_chain)(const T* x, T* y, T* cotangent, std::int64_t count);
  /// z += gate ⊙ x for each row.
  void (*gate)(const T* gate, const T* x, T* z, std::int64_t rows, std::int64_t width);
  void (*gate_cotangents)(const GateCotangents<T>&);
};

/// The kernels of an instruction set that instruction_sets() lists, or of the one that kernels() chooses.
template <typename T>
const PointwiseKernels<T>& pointwise_kernels(const std::string& instruction_set);
template <typename T>
const PointwiseKernels<T>& pointwise_kernels();

}  // namespace opshap::operators
