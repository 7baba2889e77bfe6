// The complex products of all frequencies as real ones, P = [Re x; Im x]·[Re W | Im W], and their differences and sums.

#include <array>

#include "operators/fused_layers.hpp"
#include "operators/tiles.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Coefficients [frequencies, 2, batch, channels].
struct MixSizes {
  std::int64_t frequencies, batch, inputs, outputs;
};

class Mix : public torch::autograd::Function<Mix> {
 public:
  /// The weights are [frequencies, inputs, 2·outputs].
  static Tensor forward(AutogradContext* context, const Tensor& coefficients, const Tensor& weights, const Tensor& bias,
                        std::int64_t constant) {
    context->save_for_backward({coefficients, weights});
    context->saved_data["constant"] = constant;
    context->saved_data["of weights"] = weights.requires_grad();
    const MixSizes size = sizes(coefficients, weights);
    return with_type(coefficients, [&]<typename T>() {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const std::int64_t half = size.batch * size.outputs;
      Tensor mixed =
          torch::empty({size.frequencies, 2, size.batch, size.outputs}, coefficients.options().requires_grad(false));
      Scratch<T> scratch(coefficients, 4 * half);
      T* const products = scratch.take(4 * half);
      for (std::int64_t f = 0; f < size.frequencies; ++f) {
        kernels.multiply({.a = data<T>(coefficients) + f * 2 * size.batch * size.inputs,
                          .a_row = size.inputs,
                          .a_step = 1,
                          .b = data<T>(weights) + f * size.inputs * 2 * size.outputs,
                          .out = products,
                          .rows = 2 * size.batch,
                          .inner = size.inputs,
                          .columns = 2 * size.outputs});
        T *const re = data<T>(mixed) + f * 2 * half, *const im = re + half;
        for (std::int64_t b = 0; b < size.batch; ++b) {
          const T *const of_re = products + b * 2 * size.outputs, *const of_im = of_re + 2 * half;
          for (std::int64_t o = 0; o < size.outputs; ++o) {
            re[b * size.outputs + o] = of_re[o] - of_im[size.outputs + o];
            im[b * size.outputs + o] = of_re[size.outputs + o] + of_im[o];
            if (f == constant) re[b * size.outputs + o] += data<T>(bias)[o];
          }
        }
      }
      return mixed;
    });
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    require_no_second_reverse();
    const variable_list kept = context->get_saved_variables();
    const Tensor &coefficients = kept[0], &weights = kept[1], mixed = cotangents[0].contiguous();
    const bool of_weights = context->saved_data["of weights"].toBool();
    const std::int64_t constant = context->saved_data["constant"].toInt();
    const MixSizes size = sizes(coefficients, weights);
    return with_type(coefficients, [&]<typename T>() -> variable_list {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const std::int64_t half = size.batch * size.outputs;
      const Tensor transposed = weights.detach().transpose(1, 2).contiguous();
      const Tensor back = torch::empty_like(coefficients);
      const Tensor weight_gradient = of_weights ? torch::empty_like(weights) : Tensor();
      const Tensor bias_gradient = of_weights ? mixed.select(0, constant).select(0, 0).sum(0) : Tensor();
      Scratch<T> scratch(coefficients, 4 * half);
      T* const products = scratch.take(4 * half);
      for (std::int64_t f = 0; f < size.frequencies; ++f) {
        const T *const re = data<T>(mixed) + f * 2 * half, *const im = re + half;
        for (std::int64_t b = 0; b < size.batch; ++b) {
          T *const of_re = products + b * 2 * size.outputs, *const of_im = of_re + 2 * half;
          for (std::int64_t o = 0; o < size.outputs; ++o) {
            of_re[o] = re[b * size.outputs + o];
            of_im[size.outputs + o] = -re[b * size.outputs + o];
            of_re[size.outputs + o] = of_im[o] = im[b * size.outputs + o];
          }
        }
        const std::int64_t place = f * 2 * size.batch * size.inputs;
        kernels.multiply({.a = products,
                          .a_row = 2 * size.outputs,
                          .a_step = 1,
                          .b = data<T>(transposed) + f * 2 * size.outputs * size.inputs,
                          .out = data<T>(back) + place,
                          .rows = 2 * size.batch,
                          .inner = 2 * size.outputs,
                          .columns = size.inputs});
        if (!of_weights) continue;
        kernels.multiply({.a = data<T>(coefficients) + place,
                          .a_row = 1,
                          .a_step = size.inputs,
                          .b = products,
                          .out = data<T>(weight_gradient) + f * size.inputs * 2 * size.outputs,
                          .rows = size.inputs,
                          .inner = 2 * size.batch,
                          .columns = 2 * size.outputs});
      }
      return {back, weight_gradient, bias_gradient, Tensor()};
    });
  }

 private:
  static MixSizes sizes(const Tensor& coefficients, const Tensor& weights) {
    return {coefficients.size(0), coefficients.size(2), coefficients.size(3), weights.size(2) / 2};
  }
};

}  // namespace

Tensor fused_mix(const Tensor& coefficients, const Tensor& weights, const Tensor& bias, const FourierBasis& basis) {
  return Mix::apply(coefficients.contiguous(), kept_weights(weights, basis).contiguous(), bias.reshape({-1}),
                    basis.constant());
}

}  // namespace opshap::operators
