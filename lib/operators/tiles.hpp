#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernels/kernels.hpp"
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

}  // namespace opshap::operators
