#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opshap::engines {

/// Numbers of channels are multiples of this in all arrays of the kernels (the rest is zero), and arrays start at
/// multiples of 64 bytes.
inline constexpr int channel_block = 16;

/// A row-major product out = a·b (+ bias in every row) (+ out).
struct Product {
  const float* a = nullptr;
  std::int64_t a_stride = 0;  ///< from row to row
  const float* b = nullptr;   ///< [inner, columns]
  float* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0, inner = 0, columns = 0;  ///< rows in multiples of 4, columns of channel_block
  const float* bias = nullptr;
  bool add = false;
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

/// The arithmetic of the engine for one instruction set. All sums run in one order, whatever the number of rows:
/// results do not depend on it.
struct Kernels {
  const char* name;
  void (*multiply)(const Product&);
  /// From and to may be the same.
  void (*gelu)(const float* from, float* to, std::int64_t count);
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

  /// For reverse passes. gradient ⊙= gelu'(at).
  void (*gelu_slope)(const float* at, float* gradient, std::int64_t count);
  /// weight·a + (1 − weight)·b.
  void (*blend)(const float* a, const float* b, float weight, float* out, std::int64_t count);
  /// out += scale·x.
  void (*add_scaled)(float scale, const float* x, float* out, std::int64_t count);
  /// out += gate ⊙ x for each row of [rows, width].
  void (*add_gated)(const float* gate, const float* x, float* out, std::int64_t rows, std::int64_t width);
  /// Σ x·(a − b).
  float (*dot_difference)(const float* x, const float* a, const float* b, std::int64_t count);
};

/// Floats of scratch that any kernel needs for these widths.
std::int64_t kernel_scratch(std::int64_t width, std::int64_t hidden);

/// Instruction sets this processor can run, fastest first: of "avx512", "avx2", "baseline".
std::vector<std::string> instruction_sets();
/// The kernels of the set that OPSHAP_ENGINE names, or of the fastest one. Throws EnvironmentError when the processor
/// lacks the set or there is none of that name.
const Kernels& kernels();
/// The kernels of this set; throws as kernels() does.
const Kernels& kernels(const std::string& instruction_set);

}  // namespace opshap::engines
