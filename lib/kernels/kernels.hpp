#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opshap::kernels {

/// Numbers of channels are multiples of this in all arrays of the engine (the rest is zero).
inline constexpr int channel_block = 16;

/// out[r, c] = Σ_k a[r·a_row + k·a_step]·b[k, c] (+ bias[c]) (+ what out[r, c] holds). Any sizes, any alignment. A sum
/// starts with the bias, runs from the first to the last k, and is then added to what is there.
template <typename T>
struct Product {
  const T* a = nullptr;
  std::int64_t a_row = 0, a_step = 1;
  const T* b = nullptr;  ///< [inner, columns]
  T* out = nullptr;
  std::int64_t out_row = 0;  ///< from row to row; 0 where rows follow each other without gaps
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

/// Products and activations in float or double, which the layers of training are made of. Any sizes, any alignment.
template <typename T>
struct DenseKernels {
  void (*multiply)(const Product<T>&);
  /// y = gelu(x), the one with erf, to 3e-7·|x| in float and 1e-15·|x| in double. y may be x.
  void (*gelu)(const T* x, T* y, std::int64_t count);
  /// The same, and slope = gelu'(x) to 3e-7 in float and 1e-15 in double.
  void (*gelu_and_slope)(const T* x, T* y, T* slope, std::int64_t count);
  /// The same, and cotangent ⊙= gelu'(x).
  void (*gelu_and_chain)(const T* x, T* y, T* cotangent, std::int64_t count);
  /// z += gate ⊙ x for each row.
  void (*gate)(const T* gate, const T* x, T* z, std::int64_t rows, std::int64_t width);
  void (*gate_cotangents)(const GateCotangents<T>&);
};

/// What an FNO block does at each point, besides its spectral convolution; weights inputs first.
struct PointwiseBlock {
  std::int64_t width = 0, hidden = 0;
  const float *skip = nullptr, *mlp0 = nullptr, *mlp0_bias = nullptr, *mlp1 = nullptr, *mlp1_bias = nullptr,
              *gate = nullptr;
};

/// An AxisBasis as the kernels read it.
struct LineBasis {
  bool folded = false;
  std::int64_t orbits = 0;
  int rows = 0;
  const int* class_begin = nullptr;  ///< [5]
  const float *forward = nullptr, *inverse = nullptr;
};

/// One line of points in orbit order through one FNO block: from coefficients and states to states and coefficients.
struct Line {
  const float* coefficients = nullptr;  ///< [rows, width] with `stride` from row to row, mixed
  std::int64_t stride = 0;
  const float* states = nullptr;        ///< [orbits·4, width]; null: skip and gate are looked up
  const std::int32_t* place = nullptr;  ///< [orbits·4] row of the tables
  const float *skip_table = nullptr, *gate_table = nullptr;
  float* out = nullptr;               ///< [orbits·4, width]
  float* out_coefficients = nullptr;  ///< like the coefficients, added to
};

/// One kept frequency in terms of real rows.
struct Frequency {
  struct Term {
    int row = -1;  ///< −1 for none
    float sign = 0;
  };
  /// A complex number of real rows.
  struct Number {
    Term re[2], im[2];

    bool real() const { return im[0].row < 0 && im[1].row < 0; }
  };
  Number from, to;  ///< what is multiplied, and the rows that get the product; the first frequency of a pair owns all
                    ///< rows that the two give to
};

/// The complex products of one kept frequency, or of a pair that give to the same rows, for `count` fields, by three
/// real products each.
struct Mixing {
  const Frequency* frequencies = nullptr;
  int size = 1;                       ///< 1 or 2
  const float* weights = nullptr;     ///< [size, 2, width, width]: Re w, Im w; Re w alone is used where all is real
  std::int64_t width = 0, count = 0;  ///< count in multiples of 4
  const float* in = nullptr;          ///< [rows, count, width] with `stride` from row to row
  float* out = nullptr;               ///< the same; the rows of these frequencies are written
  std::int64_t stride = 0;
};

/// The arithmetic of one instruction set: of the layers of training, and of the coalition engine. All sums run in one
/// order, whatever the number of rows: results do not depend on it.
struct Kernels {
  const char* name;
  DenseKernels<float> floats;
  DenseKernels<double> doubles;

  // For the engine. Counts are multiples of channel_block.

  /// gelu(x) to 2.2e-7, and half a unit in the last place of a positive x. From and to may be the same.
  void (*quick_gelu)(const float* from, float* to, std::int64_t count);
  /// gradient ⊙= gelu'(at), the slope to 5e-7.
  void (*quick_gelu_slope)(const float* at, float* gradient, std::int64_t count);
  /// The scratch holds kernel_scratch(width, hidden) floats.
  void (*line)(const PointwiseBlock&, const LineBasis&, const Line&, float* scratch);
  /// Adds the coefficients of table rows by place, [orbits·4], to [rows, width] with `stride` from row to row.
  void (*transform)(const LineBasis&, std::int64_t width, const std::int32_t* place, const float* table,
                    float* coefficients, std::int64_t stride, float* scratch);
  void (*mix)(const Mixing&, float* scratch);
  /// First axis of two: coefficients [rows, columns, width], with `stride` from column to column, to the lines of
  /// `count` orbits from `orbit` on, [count·4, columns, width].
  void (*spread)(const LineBasis&, std::int64_t orbit, std::int64_t count, std::int64_t columns, std::int64_t width,
                 const float* rows, std::int64_t stride, float* lines);
  /// Adds what the lines of these orbits give to the coefficients.
  void (*gather)(const LineBasis&, std::int64_t orbit, std::int64_t count, std::int64_t columns, std::int64_t width,
                 const float* lines, float* rows, std::int64_t stride);
  /// out += scale·x.
  void (*add_scaled)(float scale, const float* x, float* out, std::int64_t count);
  /// Σ x·(a − b).
  float (*dot_difference)(const float* x, const float* a, const float* b, std::int64_t count);
};

/// Floats of scratch that any kernel needs for these widths.
std::int64_t kernel_scratch(std::int64_t width, std::int64_t hidden);

/// Instruction sets this processor can run, fastest first: of "avx512", "avx2", "baseline".
std::vector<std::string> instruction_sets();
/// The kernels of this set. Throws EnvironmentError when the processor lacks the set or there is none of that name.
const Kernels& kernels_for(const std::string& instruction_set);
/// The kernels of the set that OPSHAP_ENGINE names, or of the fastest one; throws as kernels_for() does.
const Kernels& chosen_kernels();
/// Of those, the ones for numbers of type T.
template <typename T>
const DenseKernels<T>& chosen_dense_kernels();

}  // namespace opshap::kernels
