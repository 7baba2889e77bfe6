// Of the reverse pass's needs, x and the arguments of the activations are kept; the activations are computed again.

#include <algorithm>

#include "operators/fused_layers.hpp"
#include "operators/tiles.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Calls work(first row, rows) for each tile.
template <typename Work>
void for_tiles(std::int64_t rows, const Work& work) {
  for (std::int64_t first = 0; first < rows; first += tile_rows) work(first, std::min(tile_rows, rows - first));
}

/// `hidden`, when defined, receives W₀·x + b₀.
Tensor perceptron_forward(const Tensor& x, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                          const Tensor& bias1, const Tensor& hidden) {
  return with_type(x, [&]<typename T>() {
    const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
    const Linear<T> first(kernels, weight0, bias0), second(kernels, weight1, bias1);
    const std::int64_t inputs = x.size(1), wide = weight0.size(0), outputs = weight1.size(0);
    Tensor out = torch::empty({x.size(0), outputs}, x.options().requires_grad(false));
    Scratch<T> scratch(x, tile_rows * wide);
    T* const active = scratch.take(tile_rows * wide);
    for_tiles(x.size(0), [&](std::int64_t row, std::int64_t rows) {
      T* const argument = hidden.defined() ? data<T>(hidden) + row * wide : active;
      first.forward(data<T>(x) + row * inputs, rows, argument);
      kernels.gelu(argument, active, rows * wide);
      second.forward(active, rows, data<T>(out) + row * outputs);
    });
    return out;
  });
}

class Perceptron : public torch::autograd::Function<Perceptron> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight0, const Tensor& bias0,
                        const Tensor& weight1, const Tensor& bias1) {
    const Tensor hidden = torch::empty({x.size(0), weight0.size(0)}, x.options().requires_grad(false));
    context->save_for_backward({x, hidden, weight0, weight1});
    context->saved_data["of x"] = x.requires_grad();
    context->saved_data["of weights"] = weight0.requires_grad();
    return perceptron_forward(x, weight0, bias0, weight1, bias1, hidden);
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    require_no_second_reverse();
    const variable_list kept = context->get_saved_variables();
    const Tensor &x = kept[0], &hidden = kept[1], out = cotangents[0].contiguous();
    const bool of_x = context->saved_data["of x"].toBool(), of_weights = context->saved_data["of weights"].toBool();
    return with_type(x, [&]<typename T>() -> variable_list {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      LinearReverse<T> first(kernels, kept[2], of_weights), second(kernels, kept[3], of_weights);
      const std::int64_t inputs = x.size(1), wide = hidden.size(1), outputs = out.size(1);
      const Tensor back = of_x ? torch::empty_like(x) : Tensor();
      Scratch<T> scratch(x, 2 * tile_rows * wide);
      T *const active = scratch.take(tile_rows * wide), *const d = scratch.take(tile_rows * wide);
      for_tiles(x.size(0), [&](std::int64_t row, std::int64_t rows) {
        const T *const from = data<T>(x) + row * inputs, *const given = data<T>(out) + row * outputs;
        second.chain(given, rows, d);
        kernels.gelu_and_chain(data<T>(hidden) + row * wide, active, d, rows * wide);
        second.sum(given, active, rows);
        second.sum_bias(given, rows);
        first.sum(d, from, rows);
        first.sum_bias(d, rows);
        if (of_x) first.chain(d, rows, data<T>(back) + row * inputs);
      });
      return {back, first.weight_gradient(), first.bias_gradient(), second.weight_gradient(), second.bias_gradient()};
    });
  }
};

}  // namespace

Tensor fused_perceptron(const Tensor& x, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                        const Tensor& bias1) {
  const Tensor rows = x.contiguous();
  const bool keep = c10::GradMode::is_enabled() && (rows.requires_grad() || weight0.requires_grad());
  return keep ? Perceptron::apply(rows, weight0, bias0, weight1, bias1)
              : perceptron_forward(rows, weight0, bias0, weight1, bias1, {});
}

}  // namespace opshap::operators
