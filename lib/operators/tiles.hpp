#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
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

/// In the reverse pass of a fused layer: throws where its result would have to be differentiated again.
inline void require_no_second_reverse() {
  if (c10::GradMode::is_enabled()) throw std::logic_error("second derivatives of fused layers");
}

/// Memory for tiles, handed out piece by piece.
template <typename T>
class Scratch {
 public:
  Scratch(const torch::Tensor& like, std::int64_t numbers)
      : memory_(torch::empty({numbers}, like.options().requires_grad(false))), next_(data<T>(memory_)) {}
  T* take(std::int64_t numbers) {
    T* taken = next_;
    next_ += numbers;
    return taken;
  }

 private:
  torch::Tensor memory_;
  T* next_;
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
    kernels_.multiply({.a = x,
                       .a_row = inputs_,
                       .a_step = 1,
                       .b = data<T>(transposed_),
                       .out = out,
                       .rows = rows,
                       .inner = inputs_,
                       .columns = outputs_,
                       .bias = data<T>(bias_),
                       .add = add});
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
    weight_sum_ = torch::zeros(
        transposed_ ? std::vector<std::int64_t>{inputs_, outputs_} : std::vector<std::int64_t>{outputs_, inputs_},
        weight_.options());
    bias_sum_ = torch::zeros({outputs_}, weight_.options());
  }

  /// The cotangent of x from that of out.
  void chain(const T* out, std::int64_t rows, T* x, bool add = false) const {
    kernels_.multiply({.a = out,
                       .a_row = outputs_,
                       .a_step = 1,
                       .b = data<T>(weight_),
                       .out = x,
                       .rows = rows,
                       .inner = outputs_,
                       .columns = inputs_,
                       .add = add});
  }

  void sum(const T* out, const T* x, std::int64_t rows) {
    if (!weight_sum_.defined()) return;
    kernels_.multiply({.a = transposed_ ? x : out,
                       .a_row = 1,
                       .a_step = transposed_ ? inputs_ : outputs_,
                       .b = transposed_ ? out : x,
                       .out = data<T>(weight_sum_),
                       .rows = transposed_ ? inputs_ : outputs_,
                       .inner = rows,
                       .columns = transposed_ ? outputs_ : inputs_,
                       .add = true});
  }
  void sum_bias(const T* out, std::int64_t rows) {
    constexpr T one = 1;
    if (!bias_sum_.defined()) return;
    kernels_.multiply({.a = &one,
                       .a_step = 0,
                       .b = out,
                       .out = data<T>(bias_sum_),
                       .rows = 1,
                       .inner = rows,
                       .columns = outputs_,
                       .add = true});
  }

  /// [outputs, inputs, 1]; undefined when it was not wanted.
  torch::Tensor weight_gradient() const {
    if (!weight_sum_.defined()) return {};
    return (transposed_ ? weight_sum_.t() : weight_sum_).unsqueeze(-1);
  }
  const torch::Tensor& bias_gradient() const { return bias_sum_; }

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
    for (std::int64_t line = to.first_line; line < to.first_line + to.lines; ++line) {
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
  }

 private:
  BlockBoxes boxes_;
  std::int64_t batch_, most_points_;
};

/// The products with a Fourier basis along lines, a tile at a time: `numbers` = batch·channels columns.
template <typename T>
class LineTransform {
 public:
  LineTransform(const DenseKernels<T>& kernels, const torch::Tensor& forward, const torch::Tensor& inverse,
                std::int64_t numbers)
      : kernels_(kernels), forward_(forward), inverse_(inverse), numbers_(numbers) {}

  std::int64_t numbers() const { return forward_.size(0) * numbers_; }
  /// Field values of a tile from its line's coefficients.
  void synthesise(const Tile& tile, const T* line, T* values) const {
    const std::int64_t rows = forward_.size(0);
    multiply(data<T>(inverse_) + tile.point * rows, rows, 1, line, values, tile.points, rows, false);
  }
  /// Adds what a tile gives to its line's coefficients.
  void analyse(const Tile& tile, const T* values, T* line) const {
    multiply(data<T>(forward_) + tile.point, forward_.size(1), 1, values, line, forward_.size(0), tile.points, true);
  }
  /// The reverse of synthesise(): adds.
  void reverse_synthesise(const Tile& tile, const T* values, T* line) const {
    const std::int64_t rows = forward_.size(0);
    multiply(data<T>(inverse_) + tile.point * rows, 1, rows, values, line, rows, tile.points, true);
  }
  /// The reverse of analyse(): adds.
  void reverse_analyse(const Tile& tile, const T* line, T* values) const {
    multiply(data<T>(forward_) + tile.point, 1, forward_.size(1), line, values, tile.points, forward_.size(0), true);
  }

 private:
  void multiply(const T* a, std::int64_t a_row, std::int64_t a_step, const T* b, T* out, std::int64_t rows,
                std::int64_t inner, bool add) const {
    kernels_.multiply({.a = a,
                       .a_row = a_row,
                       .a_step = a_step,
                       .b = b,
                       .out = out,
                       .rows = rows,
                       .inner = inner,
                       .columns = numbers_,
                       .add = add});
  }

  const DenseKernels<T>& kernels_;
  const torch::Tensor &forward_, &inverse_;
  std::int64_t numbers_;
};

/// Boxes as numbers, as a reverse pass can keep them, and back.
inline std::vector<std::int64_t> packed(const BlockBoxes& boxes) {
  std::vector<std::int64_t> all;
  for (const Box& box : {boxes.from, boxes.to})
    all.insert(all.end(), {box.first_line, box.lines, box.first, box.points});
  return all;
}
inline BlockBoxes unpacked(const std::vector<std::int64_t>& all) {
  return {{all[0], all[1], all[2], all[3]}, {all[4], all[5], all[6], all[7]}};
}

}  // namespace opshap::operators
