// Of the reverse pass's needs, x, the arguments of the first two activations and the slopes of the third are kept; the
// activations are computed again.

#include "operators/fused_layers.hpp"

#include <algorithm>
#include <vector>

#include "operators/tiles.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Block : public torch::autograd::Function<Block> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& spectral, const Tensor& x, const Tensor& skip,
                               const Tensor& gate, const Tensor& mlp0_weight, const Tensor& mlp0_bias,
                               const Tensor& mlp1_weight, const Tensor& mlp1_bias, const Tensor& analysis,
                               const Tensor& synthesis, const std::vector<std::int64_t>& packed_boxes, bool last,
                               bool keep) {
    const BlockBoxes boxes = unpacked(packed_boxes);
    const auto options = x.options().requires_grad(false);
    const std::int64_t batch = spectral.size(2), width = x.size(1), inner = mlp0_weight.size(0);
    const Tiles tiles(boxes, batch);
    const std::int64_t all_rows = boxes.to.rows(batch), kept_rows = keep ? all_rows : 0;
    const Tensor states = torch::empty({all_rows, width}, options);
    const Tensor before = torch::empty({kept_rows, width}, options), hidden = torch::empty({kept_rows, inner}, options),
                 slope = last ? Tensor() : torch::empty({kept_rows, width}, options);
    const Tensor lines = last ? Tensor() : torch::zeros({boxes.to.lines, spectral.size(1), batch, width}, options);
    with_type(x, [&]<typename T>() {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const Linear<T> by_skip(kernels, skip, {}), first(kernels, mlp0_weight, mlp0_bias),
          second(kernels, mlp1_weight, mlp1_bias);
      const LineTransform<T> transform(kernels, analysis, synthesis, batch * width);
      const Tensor gates = gate.detach().contiguous();
      Scratch<T> scratch(x, tiles.most_rows() * (2 * width + 2 * inner));
      T *const y = scratch.take(tiles.most_rows() * width), *const m = scratch.take(tiles.most_rows() * inner);
      T *const some_before = scratch.take(tiles.most_rows() * width), *const some_hidden =
                                                                          scratch.take(tiles.most_rows() * inner);
      tiles.for_each([&](const Tile& tile) {
        T* const argument = keep ? data<T>(before) + tile.to * width : some_before;
        T* const hidden_argument = keep ? data<T>(hidden) + tile.to * inner : some_hidden;
        T* const to = data<T>(states) + tile.to * width;
        const T* const from = tile.from < 0 ? nullptr : data<T>(x) + tile.from * width;
        const std::int64_t line = tile.line - boxes.to.first_line;
        transform.synthesise(tile, data<T>(spectral) + line * transform.numbers(), argument);
        if (from != nullptr) by_skip.forward(from, tile.rows, argument, true);
        if (!last) kernels.gelu(argument, y, tile.rows * width);
        first.forward(last ? argument : y, tile.rows, hidden_argument);
        kernels.gelu(hidden_argument, m, tile.rows * inner);
        second.forward(m, tile.rows, to);
        if (from != nullptr) kernels.gate(data<T>(gates), from, to, tile.rows, width);
        if (last) return;
        if (keep) {
          kernels.gelu_and_slope(to, to, data<T>(slope) + tile.to * width, tile.rows * width);
        } else {
          kernels.gelu(to, to, tile.rows * width);
        }
        transform.analyse(tile, to, data<T>(lines) + line * transform.numbers());
      });
    });
    if (keep) {
      context->save_for_backward({x, before, hidden, slope, skip, gate, mlp0_weight, mlp1_weight, analysis, synthesis});
      context->saved_data["boxes"] = packed_boxes;
      context->saved_data["batch"] = batch;
      context->saved_data["of weights"] = skip.requires_grad();
    }
    return last ? variable_list{states} : variable_list{states, lines};
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    require_no_second_reverse();
    const variable_list kept = context->get_saved_variables();
    const Tensor &x = kept[0], &before = kept[1], &hidden = kept[2], &slope = kept[3], &analysis = kept[8],
                 &synthesis = kept[9];
    const BlockBoxes boxes = unpacked(context->saved_data["boxes"].toIntVector());
    const std::int64_t batch = context->saved_data["batch"].toInt(), width = x.size(1), inner = hidden.size(1);
    const bool of_weights = context->saved_data["of weights"].toBool(), last = !slope.defined();
    const Tensor states = cotangents[0].defined() ? cotangents[0].contiguous() : Tensor();
    const Tensor lines = !last && cotangents[1].defined() ? cotangents[1].contiguous() : Tensor();
    const Tensor gate = kept[5].detach().contiguous(), gate_sum = of_weights ? torch::zeros_like(gate) : Tensor();
    const Tiles tiles(boxes, batch);
    const Tensor back = boxes.to.holds(boxes.from) ? torch::empty_like(x) : torch::zeros_like(x);
    const Tensor spectral = torch::zeros({boxes.to.lines, analysis.size(0), batch, width}, x.options());
    return with_type(x, [&]<typename T>() -> variable_list {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      LinearReverse<T> skip(kernels, kept[4], of_weights), first(kernels, kept[6], of_weights),
          second(kernels, kept[7], of_weights);
      const LineTransform<T> transform(kernels, analysis, synthesis, batch * width);
      Scratch<T> scratch(x, tiles.most_rows() * (4 * width + 2 * inner));
      T *const z = scratch.take(tiles.most_rows() * width), *const y = scratch.take(tiles.most_rows() * width);
      T *const d = scratch.take(tiles.most_rows() * width), *const unused = scratch.take(tiles.most_rows() * width);
      T *const m = scratch.take(tiles.most_rows() * inner), *const e = scratch.take(tiles.most_rows() * inner);
      tiles.for_each([&](const Tile& tile) {
        const std::int64_t place = tile.to * width, line = tile.line - boxes.to.first_line;
        const T* const argument = data<T>(before) + place;
        const T* const from = tile.from < 0 ? nullptr : data<T>(x) + tile.from * width;
        T* const to_x = tile.from < 0 ? unused : data<T>(back) + tile.from * width;
        if (states.defined()) {
          std::copy_n(data<T>(states) + place, tile.rows * width, z);
        } else {
          std::fill_n(z, tile.rows * width, T(0));
        }
        if (lines.defined()) transform.reverse_analyse(tile, data<T>(lines) + line * transform.numbers(), z);
        kernels.gate_cotangents({.gate = data<T>(gate),
                                 .x = from,
                                 .slope = last ? nullptr : data<T>(slope) + place,
                                 .z = z,
                                 .x_cotangent = to_x,
                                 .gate_sum = from == nullptr ? nullptr : data<T>(gate_sum),
                                 .rows = tile.rows,
                                 .width = width});
        second.chain(z, tile.rows, e);
        kernels.gelu_and_chain(data<T>(hidden) + tile.to * inner, m, e, tile.rows * inner);
        second.sum(z, m, tile.rows);
        second.sum_bias(z, tile.rows);
        first.chain(e, tile.rows, d);
        if (!last) kernels.gelu_and_chain(argument, y, d, tile.rows * width);
        first.sum(e, last ? argument : y, tile.rows);
        first.sum_bias(e, tile.rows);
        transform.reverse_synthesise(tile, d, data<T>(spectral) + line * transform.numbers());
        if (from == nullptr) return;
        skip.sum(d, from, tile.rows);
        skip.chain(d, tile.rows, to_x, true);
      });
      return {spectral,
              back,
              skip.weight_gradient(),
              gate_sum,
              first.weight_gradient(),
              first.bias_gradient(),
              second.weight_gradient(),
              second.bias_gradient(),
              Tensor(),
              Tensor(),
              Tensor(),
              Tensor(),
              Tensor()};
    });
  }
};

}  // namespace

std::tuple<Tensor, Tensor> fused_block(const Tensor& spectral_lines, const Tensor& x, const PointwiseWeights& weights,
                                       const FourierBasis& basis, const BlockBoxes& boxes, bool last) {
  const Tensor spectral = spectral_lines.contiguous(), states = x.contiguous();
  const bool keep = c10::GradMode::is_enabled() &&
                    (spectral.requires_grad() || states.requires_grad() || weights.skip.requires_grad());
  const variable_list out = Block::apply(spectral, states, weights.skip, weights.gate, weights.mlp0_weight,
                                         weights.mlp0_bias, weights.mlp1_weight, weights.mlp1_bias, basis.analysis(),
                                         basis.synthesis(), packed(boxes), last, keep);
  return {out[0], last ? Tensor() : out[1]};
}

// The complex products of all frequencies as real ones, P = [Re x; Im x]·[Re W | Im W], and their differences and sums.

namespace {

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

// Of the reverse pass's needs, x and the arguments of the activations are kept; the activations are computed again.

namespace {

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
