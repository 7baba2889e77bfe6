#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "operators/grid_padding.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

using kernels::DenseKernels;

constexpr std::int64_t tile_rows = 64;  // a tile of 64 channels takes 16 KiB

/// Calls `work.operator()<T>()` with the tensor's type.
template <typename Work>
auto with_type(const torch::Tensor& tensor, const Work& work) {
  if (tensor.scalar_type() == torch::kFloat32) return work.template operator()<float>();
  if (tensor.scalar_type() == torch::kFloat64) return work.template operator()<double>();
  throw std::logic_error("fused layers of numbers that are neither float32 nor float64");
}

/// Null for an undefined tensor.
template <typename T>
T* data(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

/// Numbers in memory as a matrix, with steps from row to row and from column to column.
template <typename T>
struct Matrix {
  const T* numbers;
  std::int64_t rows, columns, row_step, column_step = 1;

  Matrix transposed() const { return {numbers, columns, rows, column_step, row_step}; }
};

/// out = a·b (+ bias), or added to what is there, for b [a.columns, columns].
template <typename T>
void multiply(const DenseKernels<T>& kernels, const Matrix<T>& a, const T* b, std::int64_t columns, T* out, bool add,
              const T* bias = nullptr) {
  kernels.multiply({.a = a.numbers,
                    .a_row = a.row_step,
                    .a_step = a.column_step,
                    .b = b,
                    .out = out,
                    .rows = a.rows,
                    .inner = a.columns,
                    .columns = columns,
                    .bias = bias,
                    .add = add});
}

/// In the reverse pass of a fused layer: throws where its result would have to be differentiated again.
inline void require_no_second_reverse() {
  if (c10::GradMode::is_enabled()) throw std::logic_error("second derivatives of fused layers");
}

/// Memory for tiles of so many rows, handed out by columns.
template <typename T>
class Scratch {
 public:
  Scratch(const torch::Tensor& like, std::int64_t rows, std::int64_t columns)
      : memory_(torch::empty({rows * columns}, like.options().requires_grad(false))),
        next_(data<T>(memory_)),
        rows_(rows) {}
  T* take(std::int64_t columns) { return std::exchange(next_, next_ + rows_ * columns); }

 private:
  torch::Tensor memory_;
  T* next_;
  std::int64_t rows_;
};

/// out = x·Wᵀ + b for the rows of a tile; W is [outputs, inputs, 1].
template <typename T>
class Linear {
 public:
  Linear(const DenseKernels<T>& kernels, const torch::Tensor& weight, const torch::Tensor& bias)
      : kernels_(kernels),
        inputs_(weight.size(1)),
        outputs_(weight.size(0)),
        transposed_(weight.detach().view({outputs_, inputs_}).t().contiguous()),
        bias_(bias.defined() ? bias.detach().contiguous() : bias) {}

  void forward(const T* x, std::int64_t rows, T* out, bool add = false) const {
    multiply(kernels_, {x, rows, inputs_, inputs_}, data<T>(transposed_), outputs_, out, add, data<T>(bias_));
  }

 private:
  const DenseKernels<T>& kernels_;
  std::int64_t inputs_, outputs_;
  torch::Tensor transposed_, bias_;
};

/// Its reverse.
template <typename T>
class LinearReverse {
 public:
  /// Sums up the gradients of weight and bias when `gradients` says so.
  LinearReverse(const DenseKernels<T>& kernels, const torch::Tensor& weight, bool gradients)
      : kernels_(kernels),
        inputs_(weight.size(1)),
        outputs_(weight.size(0)),
        // The longer side lies in the lanes.
        transposed_(inputs_ < outputs_),
        weight_(weight.detach().view({outputs_, inputs_}).contiguous()) {
    if (!gradients) return;
    weight_sum_ = torch::zeros((transposed_ ? weight_.t() : weight_).sizes(), weight_.options());
    bias_sum_ = torch::zeros({outputs_}, weight_.options());
  }

  /// The cotangent of x from that of out.
  void chain(const T* out, std::int64_t rows, T* x, bool add = false) const {
    multiply(kernels_, {out, rows, outputs_, outputs_}, data<T>(weight_), inputs_, x, add);
  }

  void sum_weight(const T* out, const T* x, std::int64_t rows) {
    if (!weight_sum_.defined()) return;
    const Matrix<T> of_x{x, rows, inputs_, inputs_}, of_out{out, rows, outputs_, outputs_};
    const Matrix<T>&left = transposed_ ? of_x : of_out, &right = transposed_ ? of_out : of_x;
    multiply(kernels_, left.transposed(), right.numbers, right.columns, data<T>(weight_sum_), true);
  }
  void sum(const T* out, const T* x, std::int64_t rows) {
    constexpr T one = 1;
    sum_weight(out, x, rows);
    if (!bias_sum_.defined()) return;
    multiply(kernels_, {&one, 1, rows, 0, 0}, out, outputs_, data<T>(bias_sum_), true);
  }

  /// Takes the sums of other rows to its own.
  void add(const LinearReverse& other) {
    if (!weight_sum_.defined()) return;
    weight_sum_.add_(other.weight_sum_);
    bias_sum_.add_(other.bias_sum_);
  }

  /// The gradients: [outputs, inputs, 1] and [outputs]; undefined when they were not wanted.
  torch::Tensor weight() const {
    if (!weight_sum_.defined()) return {};
    return (transposed_ ? weight_sum_.t() : weight_sum_).unsqueeze(-1);
  }
  const torch::Tensor& bias() const { return bias_sum_; }

 private:
  const DenseKernels<T>& kernels_;
  std::int64_t inputs_, outputs_;
  bool transposed_;
  torch::Tensor weight_, weight_sum_, bias_sum_;
};

/// Neighbouring points of a line, for all fields of the batch.
struct Tile {
  std::int64_t line, point;  ///< in the padded grid
  std::int64_t points, rows;
  std::int64_t to;    ///< first row in the box of the output
  std::int64_t from;  ///< first row in the box of the input; −1 where the input is zero
};

/// The tiles of the output's box: each lies inside the input's box or outside.
class Tiles {
 public:
  Tiles(const BlockBoxes& boxes, std::int64_t batch)
      : boxes_(boxes),
        batch_(batch),
        most_points_(std::max<std::int64_t>(1, tile_rows / std::max<std::int64_t>(1, batch))) {}

  std::int64_t most_rows() const { return most_points_ * batch_; }

  template <typename Work>
  void for_each(const Work& work) const {
    const auto& [from, to] = boxes_;
    for (std::int64_t line = to.first_line; line < to.first_line + to.lines; ++line)
      for (std::int64_t point = to.first; point < to.end();) {
        const bool before = from.holds_line(line) && point < from.first,
                   inside = from.holds_line(line) && !before && point < from.end();
        const std::int64_t border = before ? from.first : inside ? from.end() : to.end();
        const std::int64_t points = std::min({most_points_, border - point, to.end() - point});
        work(Tile{.line = line,
                  .point = point,
                  .points = points,
                  .rows = points * batch_,
                  .to = to.row(line, point, batch_),
                  .from = inside ? from.row(line, point, batch_) : -1});
        point += points;
      }
  }

 private:
  BlockBoxes boxes_;
  std::int64_t batch_, most_points_;
};

/// How a fused block runs.
struct BlockRun {
  torch::Tensor analysis, synthesis;  ///< of the basis along lines
  BlockBoxes boxes;
  std::int64_t batch;
  bool last = false;  ///< without the activation at the end and the transform
  bool keep = false;  ///< what its reverse pass needs

  /// Zeros for the transforms of the lines in `to`, [to.lines, 2·columns, B, width].
  torch::Tensor new_lines(const torch::Tensor& like, std::int64_t width) const {
    return torch::zeros({boxes.to.lines, analysis.size(0), batch, width}, like.options().requires_grad(false));
  }

  /// `of_weights`: whether the reverse pass is to give gradients of weights.
  void save(torch::autograd::AutogradContext* context, torch::autograd::variable_list needs, bool of_weights) const {
    needs.insert(needs.end(), {analysis, synthesis});
    context->save_for_backward(std::move(needs));
    std::vector<std::int64_t> numbers = {batch, last, of_weights};
    for (const Box& box : {boxes.from, boxes.to})
      numbers.insert(numbers.end(), {box.first_line, box.lines, box.first, box.points});
    context->saved_data["run"] = numbers;
  }
};

/// The products with the Fourier basis along the lines of a fused block, a tile at a time, for `width` channels.
/// `lines` are the coefficients of all lines in the output's box.
template <typename T>
class LineTransform {
 public:
  LineTransform(const DenseKernels<T>& kernels, const BlockRun& run, std::int64_t width)
      : kernels_(kernels), run_(run), width_(width), rows_(run.analysis.size(0)) {}

  /// Field values of a tile from its line's coefficients.
  void synthesise(const Tile& tile, const T* lines, T* values) const {
    multiply(kernels_, synthesis(tile), lines + line(tile), numbers(), values, false);
  }
  /// The reverse of synthesise(): adds.
  void reverse_synthesise(const Tile& tile, const T* values, T* lines) const {
    multiply(kernels_, synthesis(tile).transposed(), values, numbers(), lines + line(tile), true);
  }
  /// The end of a block that is not the last: the values become their GELU, whose slopes are kept where the reverse
  /// pass needs them, and what they give is added to their line's coefficients.
  void activate_and_analyse(const Tile& tile, T* values, T* slopes, T* lines) const {
    if (run_.keep) {
      kernels_.gelu_and_slope(values, values, slopes + tile.to * width_, tile.rows * width_);
    } else {
      kernels_.gelu(values, values, tile.rows * width_);
    }
    multiply(kernels_, analysis(tile), values, numbers(), lines + line(tile), true);
  }
  /// The cotangents of a tile's values at the end of a block, from those of what it gives; null where there are none.
  void reverse_end(const Tile& tile, const T* states, const T* lines, T* values) const {
    if (states != nullptr) {
      std::copy_n(states + tile.to * width_, tile.rows * width_, values);
    } else {
      std::fill_n(values, tile.rows * width_, T(0));
    }
    if (lines != nullptr) multiply(kernels_, analysis(tile).transposed(), lines + line(tile), numbers(), values, true);
  }

 private:
  std::int64_t numbers() const { return run_.batch * width_; }
  std::int64_t line(const Tile& tile) const { return (tile.line - run_.boxes.to.first_line) * rows_ * numbers(); }
  Matrix<T> synthesis(const Tile& tile) const {
    return {data<T>(run_.synthesis) + tile.point * rows_, tile.points, rows_, rows_};
  }
  Matrix<T> analysis(const Tile& tile) const {
    return {data<T>(run_.analysis) + tile.point, rows_, tile.points, run_.analysis.size(1)};
  }

  const DenseKernels<T>& kernels_;
  const BlockRun& run_;
  std::int64_t width_, rows_;
};

/// The same in its reverse pass, with what it gets.
struct BlockReverse : BlockRun {
  torch::autograd::variable_list needs;  ///< as they were saved
  torch::Tensor states, lines;           ///< cotangents of what the block gives; undefined where there are none
  bool of_weights;

  BlockReverse(torch::autograd::AutogradContext* context, const torch::autograd::variable_list& cotangents) {
    require_no_second_reverse();
    needs = context->get_saved_variables();
    analysis = needs[needs.size() - 2];
    synthesis = needs.back();
    const std::vector<std::int64_t> all = context->saved_data["run"].toIntVector();
    batch = all[0];
    last = all[1] != 0;
    of_weights = all[2] != 0;
    boxes = {{all[3], all[4], all[5], all[6]}, {all[7], all[8], all[9], all[10]}};
    if (cotangents[0].defined()) states = cotangents[0].contiguous();
    if (!last && cotangents[1].defined()) lines = cotangents[1].contiguous();
  }
};

}  // namespace opshap::operators
