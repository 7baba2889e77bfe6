// Of the reverse pass's needs, x, the arguments of the first two activations and the slopes of the third are kept; the
// activations are computed again.

#include "operators/fused_layers.hpp"

#include <algorithm>
#include <vector>

#include "operators/batches.hpp"
#include "operators/kernel_integral.hpp"
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
                               const Tensor& mlp1_weight, const Tensor& mlp1_bias, const BlockRun& run) {
    const auto options = x.options().requires_grad(false);
    const std::int64_t width = x.size(1), inner = mlp0_weight.size(0);
    const Tiles tiles(run.boxes, run.batch);
    const std::int64_t all_rows = run.boxes.to.rows(run.batch), kept_rows = run.keep ? all_rows : 0;
    const Tensor states = torch::empty({all_rows, width}, options);
    const Tensor before = torch::empty({kept_rows, width}, options), hidden = torch::empty({kept_rows, inner}, options),
                 slope = run.last ? Tensor() : torch::empty({kept_rows, width}, options);
    const Tensor lines = run.last ? Tensor() : run.new_lines(x, width);
    with_type(x, [&]<typename T>() {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const Linear<T> by_skip(kernels, skip, {}), first(kernels, mlp0_weight, mlp0_bias),
          second(kernels, mlp1_weight, mlp1_bias);
      const LineTransform<T> transform(kernels, run, width);
      const Tensor gates = gate.detach().contiguous();
      Scratch<T> scratch(x, tiles.most_rows(), 2 * width + 2 * inner);
      T *const y = scratch.take(width), *const m = scratch.take(inner);
      T *const some_before = scratch.take(width), *const some_hidden = scratch.take(inner);
      tiles.for_each([&](const Tile& tile) {
        T* const argument = run.keep ? data<T>(before) + tile.to * width : some_before;
        T* const hidden_argument = run.keep ? data<T>(hidden) + tile.to * inner : some_hidden;
        T* const to = data<T>(states) + tile.to * width;
        const T* const from = tile.from < 0 ? nullptr : data<T>(x) + tile.from * width;
        transform.synthesise(tile, data<T>(spectral), argument);
        if (from != nullptr) by_skip.forward(from, tile.rows, argument, true);
        if (!run.last) kernels.gelu(argument, y, tile.rows * width);
        first.forward(run.last ? argument : y, tile.rows, hidden_argument);
        kernels.gelu(hidden_argument, m, tile.rows * inner);
        second.forward(m, tile.rows, to);
        if (from != nullptr) kernels.gate(data<T>(gates), from, to, tile.rows, width);
        if (!run.last) transform.activate_and_analyse(tile, to, data<T>(slope), data<T>(lines));
      });
    });
    if (run.keep)
      run.save(context, {x, before, hidden, slope, skip, gate, mlp0_weight, mlp1_weight}, skip.requires_grad());
    return run.last ? variable_list{states} : variable_list{states, lines};
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    const BlockReverse run(context, cotangents);
    const variable_list& kept = run.needs;
    const Tensor &x = kept[0], &before = kept[1], &hidden = kept[2], &slope = kept[3];
    const std::int64_t width = x.size(1), inner = hidden.size(1);
    const Tensor gate = kept[5].detach().contiguous(), gates = run.of_weights ? torch::zeros_like(gate) : Tensor();
    const Tiles tiles(run.boxes, run.batch);
    const Tensor back = run.boxes.to.holds(run.boxes.from) ? torch::empty_like(x) : torch::zeros_like(x);
    const Tensor spectral = run.new_lines(x, width);
    return with_type(x, [&]<typename T>() -> variable_list {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      LinearReverse<T> skip(kernels, kept[4], run.of_weights), first(kernels, kept[6], run.of_weights),
          second(kernels, kept[7], run.of_weights);
      const LineTransform<T> transform(kernels, run, width);
      Scratch<T> scratch(x, tiles.most_rows(), 4 * width + 2 * inner);
      T *const z = scratch.take(width), *const y = scratch.take(width), *const d = scratch.take(width);
      T *const unused = scratch.take(width), *const m = scratch.take(inner), *const e = scratch.take(inner);
      tiles.for_each([&](const Tile& tile) {
        const std::int64_t place = tile.to * width;
        const T* const argument = data<T>(before) + place;
        const T* const from = tile.from < 0 ? nullptr : data<T>(x) + tile.from * width;
        T* const to_x = tile.from < 0 ? unused : data<T>(back) + tile.from * width;
        transform.reverse_end(tile, data<T>(run.states), data<T>(run.lines), z);
        kernels.gate_cotangents({.gate = data<T>(gate),
                                 .x = from,
                                 .slope = run.last ? nullptr : data<T>(slope) + place,
                                 .z = z,
                                 .x_cotangent = to_x,
                                 .gate_sum = from == nullptr ? nullptr : data<T>(gates),
                                 .rows = tile.rows,
                                 .width = width});
        second.chain(z, tile.rows, e);
        kernels.gelu_and_chain(data<T>(hidden) + tile.to * inner, m, e, tile.rows * inner);
        second.sum(z, m, tile.rows);
        first.chain(e, tile.rows, d);
        if (!run.last) kernels.gelu_and_chain(argument, y, d, tile.rows * width);
        first.sum(e, run.last ? argument : y, tile.rows);
        transform.reverse_synthesise(tile, d, data<T>(spectral));
        if (from == nullptr) return;
        skip.sum_weight(d, from, tile.rows);
        skip.chain(d, tile.rows, to_x, true);
      });
      return {spectral, back, skip.weight(), gates, first.weight(), first.bias(), second.weight(), second.bias(), {}};
    });
  }
};

}  // namespace

std::tuple<Tensor, Tensor> fused_block(const Tensor& spectral_lines, const Tensor& x, const PointwiseWeights& weights,
                                       const FourierBasis& basis, const BlockBoxes& boxes, bool last) {
  const Tensor spectral = spectral_lines.contiguous(), states = x.contiguous();
  const bool keep = c10::GradMode::is_enabled() &&
                    (spectral.requires_grad() || states.requires_grad() || weights.skip.requires_grad());
  const variable_list out = Block::apply(
      spectral, states, weights.skip, weights.gate, weights.mlp.weight0, weights.mlp.bias0, weights.mlp.weight1,
      weights.mlp.bias1, BlockRun{basis.analysis(), basis.synthesis(), boxes, spectral.size(2), last, keep});
  return {out[0], last ? Tensor() : out[1]};
}

// The complex products of all frequencies as real ones, P = [Re x; Im x]·[Re W | Im W], and their differences and sums.

namespace {

class Mix : public torch::autograd::Function<Mix> {
 public:
  /// The coefficients are [frequencies, 2, batch, inputs], the weights [frequencies, inputs, 2·outputs].
  static Tensor forward(AutogradContext* context, const Tensor& coefficients, const Tensor& weights, const Tensor& bias,
                        std::int64_t constant) {
    context->save_for_backward({coefficients, weights});
    context->saved_data["constant"] = constant;
    context->saved_data["of weights"] = weights.requires_grad();
    const std::int64_t frequencies = coefficients.size(0), batch = coefficients.size(2), inputs = coefficients.size(3),
                       both = weights.size(2), outputs = both / 2, half = batch * outputs;
    return with_type(coefficients, [&]<typename T>() {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      Tensor mixed = torch::empty({frequencies, 2, batch, outputs}, coefficients.options().requires_grad(false));
      Scratch<T> scratch(coefficients, 2 * batch, both);
      T* const products = scratch.take(both);
      for (std::int64_t f = 0; f < frequencies; ++f) {
        multiply(kernels, {data<T>(coefficients) + f * 2 * batch * inputs, 2 * batch, inputs, inputs},
                 data<T>(weights) + f * inputs * both, both, products, false);
        T *const re = data<T>(mixed) + f * 2 * half, *const im = re + half;
        for (std::int64_t b = 0; b < batch; ++b) {
          const T *const of_re = products + b * both, *const of_im = of_re + 2 * half;
          for (std::int64_t o = 0; o < outputs; ++o) {
            re[b * outputs + o] = of_re[o] - of_im[outputs + o];
            im[b * outputs + o] = of_re[outputs + o] + of_im[o];
            if (f == constant) re[b * outputs + o] += data<T>(bias)[o];
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
    const std::int64_t constant = context->saved_data["constant"].toInt(), batch = coefficients.size(2),
                       inputs = coefficients.size(3), both = weights.size(2), outputs = both / 2,
                       half = batch * outputs;
    return with_type(coefficients, [&]<typename T>() -> variable_list {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const Tensor transposed = weights.detach().transpose(1, 2).contiguous();
      const Tensor back = torch::empty_like(coefficients);
      const Tensor weight_gradient = of_weights ? torch::empty_like(weights) : Tensor();
      const Tensor bias_gradient = of_weights ? mixed.select(0, constant).select(0, 0).sum(0) : Tensor();
      Scratch<T> scratch(coefficients, 2 * batch, both);
      T* const products = scratch.take(both);
      for (std::int64_t f = 0; f < coefficients.size(0); ++f) {
        const T *const re = data<T>(mixed) + f * 2 * half, *const im = re + half;
        for (std::int64_t b = 0; b < batch; ++b) {
          T *const of_re = products + b * both, *const of_im = of_re + 2 * half;
          for (std::int64_t o = 0; o < outputs; ++o) {
            of_re[o] = re[b * outputs + o];
            of_im[outputs + o] = -re[b * outputs + o];
            of_re[outputs + o] = of_im[o] = im[b * outputs + o];
          }
        }
        const std::int64_t place = f * 2 * batch * inputs, matrix = f * inputs * both;
        multiply(kernels, {products, 2 * batch, both, both}, data<T>(transposed) + matrix, inputs,
                 data<T>(back) + place, false);
        if (!of_weights) continue;
        multiply(kernels, {data<T>(coefficients) + place, inputs, 2 * batch, 1, inputs}, products, both,
                 data<T>(weight_gradient) + matrix, false);
      }
      return {back, weight_gradient, bias_gradient, Tensor()};
    });
  }
};

}  // namespace

Tensor fused_mix(const Tensor& coefficients, const Tensor& weights, const Tensor& bias, const FourierBasis& basis) {
  return Mix::apply(coefficients.contiguous(), kept_weights(weights, basis).contiguous(), bias.reshape({-1}),
                    basis.constant());
}

// Of the reverse pass's needs, what the rows are made of and the arguments of the second activation are kept; the
// activations are computed again.

namespace {

/// Rows that a thread takes at a time: the edges of a mesh are many more. Their sums are made band by band, so that the
/// bits do not depend on the number of threads.
constexpr std::int64_t band_rows = 2048;

/// Calls work(number of the band, first row, rows) for each band, on all threads where there are several bands.
template <typename Work>
void for_bands(std::int64_t rows, const Work& work) {
  if (rows <= band_rows) return work(std::size_t{0}, std::int64_t{0}, rows);
  parallel_chunks(rows, band_rows, [&](std::int64_t first, std::int64_t count) {
    work(static_cast<std::size_t>(first / band_rows), first, count);
  });
}

/// Calls work(first row, rows) for each tile of the rows from `first` on.
template <typename Work>
void for_tiles(std::int64_t first, std::int64_t rows, const Work& work) {
  for (const std::int64_t end = first + rows; first < end; first += tile_rows)
    work(first, std::min(tile_rows, end - first));
}

/// What a perceptron is given: rows that lie in memory.
template <typename T>
struct GivenRows {
  const T* numbers;
  std::int64_t rows, columns;

  /// The rows of a tile, which may be made in `room`.
  const T* tile(std::int64_t row, std::int64_t /*rows*/, T* /*room*/) const { return numbers + row * columns; }
  /// The same. The cotangent of these rows, where it is wanted, becomes that of what they are made of.
  const T* reverse(std::int64_t row, std::int64_t /*rows*/, T* /*cotangent*/, T* /*room*/) const {
    return numbers + row * columns;
  }
};

/// Rows gelu(a[source of e] + b[target of e]), for each edge e and each field of the batch.
template <typename T>
struct EdgeRows {
  const DenseKernels<T>& kernels;
  const T *a, *b;
  const std::int64_t *source, *target;
  std::int64_t batch, rows, columns;

  const T* tile(std::int64_t row, std::int64_t count, T* room) const {
    arguments(row, count, room);
    kernels.gelu(room, room, count * columns);
    return room;
  }
  const T* reverse(std::int64_t row, std::int64_t count, T* cotangent, T* room) const {
    if (cotangent == nullptr) return tile(row, count, room);
    arguments(row, count, room);
    kernels.gelu_and_chain(room, room, cotangent, count * columns);
    return room;
  }

 private:
  void arguments(std::int64_t first, std::int64_t count, T* to) const {
    for (std::int64_t row = first; row < first + count; ++row, to += columns) {
      const std::int64_t edge = row / batch;
      const T* const of_a = a + (source[edge] * batch + row % batch) * columns;
      const T* const of_b = b + target[edge] * columns;
      for (std::int64_t c = 0; c < columns; ++c) to[c] = of_a[c] + of_b[c];
    }
  }
};

/// W₁·gelu(W₀·x + b₀) + b₁ for the given rows. `hidden`, when defined, receives W₀·x + b₀.
template <typename T, typename Given>
Tensor perceptron_forward(const Given& given, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                          const Tensor& bias1, const Tensor& hidden) {
  const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
  const Linear<T> first(kernels, weight0, bias0), second(kernels, weight1, bias1);
  const std::int64_t wide = weight0.size(0), outputs = weight1.size(0);
  const Tensor out = torch::empty({given.rows, outputs}, weight0.options().requires_grad(false));
  for_bands(given.rows, [&](std::size_t /*band*/, std::int64_t from, std::int64_t count) {
    Scratch<T> scratch(out, tile_rows, given.columns + wide);
    T *const room = scratch.take(given.columns), *const active = scratch.take(wide);
    for_tiles(from, count, [&](std::int64_t row, std::int64_t rows) {
      T* const argument = hidden.defined() ? data<T>(hidden) + row * wide : active;
      first.forward(given.tile(row, rows, room), rows, argument);
      kernels.gelu(argument, active, rows * wide);
      second.forward(active, rows, data<T>(out) + row * outputs);
    });
  });
  return out;
}

/// The cotangents of W₀, b₀, W₁ and b₁, undefined when they are not wanted, from that of the output. `back`, when
/// defined, receives those of what the rows are made of, [rows, columns].
template <typename T, typename Given>
variable_list perceptron_reverse(const Given& given, const Tensor& out, const Tensor& hidden, const Tensor& weight0,
                                 const Tensor& weight1, bool of_weights, const Tensor& back) {
  const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
  const std::int64_t wide = hidden.size(1), outputs = out.size(1);
  std::vector<LinearReverse<T>> firsts, seconds;  // of each band
  for (std::int64_t row = 0; row == 0 || row < given.rows; row += band_rows) {
    firsts.emplace_back(kernels, weight0, of_weights);
    seconds.emplace_back(kernels, weight1, of_weights);
  }
  for_bands(given.rows, [&](std::size_t band, std::int64_t from, std::int64_t count) {
    Scratch<T> scratch(out, tile_rows, given.columns + 2 * wide);
    T *const room = scratch.take(given.columns), *const active = scratch.take(wide), *const d = scratch.take(wide);
    for_tiles(from, count, [&](std::int64_t row, std::int64_t rows) {
      const T* const cotangent = data<T>(out) + row * outputs;
      T* const to = back.defined() ? data<T>(back) + row * given.columns : nullptr;
      seconds[band].chain(cotangent, rows, d);
      kernels.gelu_and_chain(data<T>(hidden) + row * wide, active, d, rows * wide);
      seconds[band].sum(cotangent, active, rows);
      if (to != nullptr) firsts[band].chain(d, rows, to);
      firsts[band].sum(d, given.reverse(row, rows, to, room), rows);
    });
  });
  for (std::size_t band = 1; band < firsts.size(); ++band) {
    firsts.front().add(firsts[band]);
    seconds.front().add(seconds[band]);
  }
  return {firsts.front().weight(), firsts.front().bias(), seconds.front().weight(), seconds.front().bias()};
}

template <typename T>
GivenRows<T> given_rows(const Tensor& x) {
  return {.numbers = data<T>(x), .rows = x.size(0), .columns = x.size(1)};
}

class Perceptron : public torch::autograd::Function<Perceptron> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight0, const Tensor& bias0,
                        const Tensor& weight1, const Tensor& bias1) {
    const Tensor hidden = torch::empty({x.size(0), weight0.size(0)}, x.options().requires_grad(false));
    context->save_for_backward({x, hidden, weight0, weight1});
    context->saved_data["of x"] = x.requires_grad();
    context->saved_data["of weights"] = weight0.requires_grad();
    return with_type(x, [&]<typename T>() {
      return perceptron_forward<T>(given_rows<T>(x), weight0, bias0, weight1, bias1, hidden);
    });
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    require_no_second_reverse();
    const variable_list kept = context->get_saved_variables();
    const Tensor back = context->saved_data["of x"].toBool() ? torch::empty_like(kept[0]) : Tensor();
    variable_list found = with_type(kept[0], [&]<typename T>() {
      return perceptron_reverse<T>(given_rows<T>(kept[0]), cotangents[0].contiguous(), kept[1], kept[2], kept[3],
                                   context->saved_data["of weights"].toBool(), back);
    });
    found.insert(found.begin(), back);
    return found;
  }
};

template <typename T>
EdgeRows<T> given_rows(const Tensor& a, const Tensor& b, const Tensor& source, const Tensor& target) {
  return {.kernels = kernels::chosen_dense_kernels<T>(),
          .a = data<T>(a),
          .b = data<T>(b),
          .source = source.data_ptr<std::int64_t>(),
          .target = target.data_ptr<std::int64_t>(),
          .batch = a.size(1),
          .rows = source.size(0) * a.size(1),
          .columns = a.size(2)};
}

class EdgePerceptron : public torch::autograd::Function<EdgePerceptron> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a, const Tensor& b, const Tensor& source,
                        const Tensor& target, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                        const Tensor& bias1) {
    const Tensor hidden = torch::empty({source.size(0) * a.size(1), weight0.size(0)}, a.options().requires_grad(false));
    context->save_for_backward({a, b, source, target, hidden, weight0, weight1});
    context->saved_data["of a or b"] = a.requires_grad() || b.requires_grad();
    context->saved_data["of weights"] = weight0.requires_grad();
    return with_type(a, [&]<typename T>() {
      return perceptron_forward<T>(given_rows<T>(a, b, source, target), weight0, bias0, weight1, bias1, hidden);
    });
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    require_no_second_reverse();
    const variable_list kept = context->get_saved_variables();
    const Tensor &a = kept[0], &b = kept[1], &source = kept[2], &target = kept[3], &hidden = kept[4];
    const bool of_edges = context->saved_data["of a or b"].toBool();
    const Tensor back = of_edges ? torch::empty({source.size(0), a.size(1), a.size(2)}, hidden.options()) : Tensor();
    variable_list found = with_type(a, [&]<typename T>() {
      return perceptron_reverse<T>(given_rows<T>(a, b, source, target), cotangents[0].contiguous(), hidden, kept[5],
                                   kept[6], context->saved_data["of weights"].toBool(), back);
    });
    variable_list ends(4);
    if (of_edges)
      parallel_chunks(2, 1, [&](std::int64_t end, std::int64_t) {
        const torch::NoGradGuard no_grad;
        ends[static_cast<std::size_t>(end)] =
            end == 0 ? sums_of_edges(back, source, a.size(0)) : sums_of_edges(back, target, b.size(0)).sum(1);
      });
    found.insert(found.begin(), ends.begin(), ends.end());
    return found;
  }
};

}  // namespace

Tensor fused_perceptron(const Tensor& x, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                        const Tensor& bias1) {
  const Tensor rows = x.contiguous();
  if (c10::GradMode::is_enabled() && (rows.requires_grad() || weight0.requires_grad()))
    return Perceptron::apply(rows, weight0, bias0, weight1, bias1);
  return with_type(rows, [&]<typename T>() {
    return perceptron_forward<T>(given_rows<T>(rows), weight0, bias0, weight1, bias1, {});
  });
}

Tensor fused_edge_perceptron(const Tensor& a, const Tensor& b, const Tensor& source, const Tensor& target,
                             const Tensor& weight0, const Tensor& bias0, const Tensor& weight1, const Tensor& bias1) {
  const Tensor of_sources = a.contiguous(), of_targets = b.contiguous();
  if (c10::GradMode::is_enabled() && (a.requires_grad() || b.requires_grad() || weight0.requires_grad()))
    return EdgePerceptron::apply(of_sources, of_targets, source, target, weight0, bias0, weight1, bias1);
  return with_type(a, [&]<typename T>() {
    return perceptron_forward<T>(given_rows<T>(of_sources, of_targets, source, target), weight0, bias0, weight1, bias1,
                                 {});
  });
}

}  // namespace opshap::operators
