// Of the reverse pass's needs, x, the arguments of the first two activations and the slopes of the third are kept; the
// activations are computed again.

#include <algorithm>
#include <vector>

#include "operators/fused_layers.hpp"
#include "operators/line_tiles.hpp"

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

}  // namespace opshap::operators
