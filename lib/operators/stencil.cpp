#include "operators/stencil.hpp"

#include <algorithm>

#include "operators/tiles.hpp"

namespace opshap::operators {

using torch::Tensor;

Tensor stencil_sums(const Tensor& x, const Stencil& stencil, const std::vector<std::int64_t>& shape,
                    const Tensor& points) {
  const std::int64_t lines = shape[0], size = shape[1], batch = x.size(1), inputs = x.size(2),
                     outputs = stencil.inside.size(2);
  const auto values_at = [&](const Tensor& places) {
    return x.index_select(0, places.to(x.device())).reshape({-1, inputs});
  };
  Tensor sums = torch::zeros({points.size(0) * batch, outputs}, x.options().requires_grad(false));
  for (const int tap : stencil.used) {
    const Tensor line = torch::floor_divide(points, size) + (tap / 3 - 1),
                 point = points.remainder(size) + (tap % 3 - 1);
    const Tensor from = line.remainder(lines) * size + point.remainder(size);
    sums = sums.addmm(values_at(from), stencil.inside[tap]);
    const Tensor beyond = ((line < 0) | (line >= lines) | (point < 0) | (point >= size)).nonzero().squeeze(1);
    if (beyond.numel() == 0) continue;
    const Tensor change = stencil.beyond.defined() ? stencil.beyond[tap] - stencil.inside[tap] : -stencil.inside[tap];
    const Tensor correction = torch::mm(values_at(from.index_select(0, beyond)), change);
    sums = sums.view({-1, batch, outputs})
               .index_add(0, beyond.to(x.device()), correction.view({-1, batch, outputs}))
               .view({-1, outputs});
  }
  return sums.view({-1, batch, outputs});
}

namespace {

/// A value of a basis function at a point of the 3×3 local grid, as the reference's float32 arithmetic has it.
struct HatValue {
  int function, row, column;
  float value;
};

constexpr HatValue hat_values[] = {
    {0, 1, 1, 0.5F},          {0, 2, 1, 0x1p-24F},  // the second one and those like it are 0 in exact arithmetic
    {1, 1, 2, 0x1p-24F},                            //
    {2, 1, 1, 0.5F},          {2, 0, 1, 0x1p-24F},  //
    {3, 1, 0, 0xFFFFFFp-48F}, {3, 1, 1, 0x1p-25F},
};

}  // namespace

Tensor difference_taps(const Tensor& weight, double scale) {
  const Tensor scaled = weight.permute({2, 3, 1, 0}).reshape({Stencil::taps, weight.size(1), weight.size(0)}) * scale;
  Tensor taps = scaled.clone();
  taps.select(0, Stencil::centre).sub_(scaled.sum(0));
  return taps;
}

DiscoFilter disco_filter(int points) {
  const float quadrature = 4.0F / (static_cast<float>(points) * static_cast<float>(points));
  std::array<float, disco_functions> integrals = {};
  for (const HatValue& hat : hat_values) integrals[static_cast<std::size_t>(hat.function)] += hat.value * quadrature;
  DiscoFilter filter = {};
  for (const HatValue& hat : hat_values) {
    const auto function = static_cast<std::size_t>(hat.function);
    const int tap = 3 * (2 - hat.column) + 2 - hat.row;  // the reference transposes the local grid and turns it round
    filter[function][static_cast<std::size_t>(tap)] = quadrature * (hat.value / (integrals[function] + 1e-9F));
  }
  return filter;
}

Tensor disco_taps(const Tensor& weight, int points) {
  const DiscoFilter filter = disco_filter(points);
  Tensor table = torch::empty({disco_functions, Stencil::taps}, torch::kFloat32);
  for (int function = 0; function < disco_functions; ++function)
    for (int tap = 0; tap < Stencil::taps; ++tap)
      table[function][tap] = filter[static_cast<std::size_t>(function)][static_cast<std::size_t>(tap)];
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  return torch::mm(table.t().to(weight.options().requires_grad(false)),
                   weight.permute({2, 1, 0}).reshape({disco_functions, inputs * outputs}))
      .view({Stencil::taps, inputs, outputs});
}

// Of the reverse pass's needs, x and the slopes of the activation are kept.

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows of a tile whose neighbours by one tap are rows of x, all of them inside the plane or all beyond an edge.
struct Neighbours {
  int tap;
  bool beyond;
  std::int64_t from;  ///< first row of x
  std::int64_t to;    ///< first row, in the tile
  std::int64_t rows;
};

/// Calls work(Neighbours) for each tap that is used and each run of neighbours in `from`.
template <typename Work>
void for_neighbours(const Tile& tile, const std::vector<std::int64_t>& used, const std::vector<std::int64_t>& shape,
                    const Box& from, std::int64_t batch, const Work& work) {
  const std::int64_t lines = shape[0], size = shape[1];
  for (const std::int64_t tap : used) {
    const std::int64_t line = tile.line + tap / 3 - 1, step = tap % 3 - 1, turn = line < 0 ? lines : -lines;
    const bool line_beyond = line < 0 || line >= lines;
    const std::int64_t line_inside = line_beyond ? line + turn : line;
    if (!from.holds_line(line_inside)) continue;
    const auto run = [&](std::int64_t first, std::int64_t end, std::int64_t shift, bool beyond) {
      first = std::max(first, from.first - shift);
      end = std::min(end, from.end() - shift);
      if (first >= end) return;
      work(Neighbours{.tap = static_cast<int>(tap),
                      .beyond = beyond,
                      .from = from.row(line_inside, first + shift, batch),
                      .to = (first - tile.point - step) * batch,
                      .rows = (end - first) * batch});
    };
    const std::int64_t first = tile.point + step, end = first + tile.points;
    if (first < 0) run(first, 0, size, true);
    run(std::max<std::int64_t>(first, 0), std::min(end, size), 0, line_beyond);
    if (end > size) run(size, end, -size, true);
  }
}

class StencilBlock : public torch::autograd::Function<StencilBlock> {
 public:
  /// `beyond` has no numbers where neighbours beyond the edges do not count.
  static variable_list forward(AutogradContext* context, const Tensor& spectral, const Tensor& x, const Tensor& inside,
                               const Tensor& beyond, const std::vector<std::int64_t>& used,
                               const std::vector<std::int64_t>& shape, const BlockRun& run) {
    const auto options = x.options().requires_grad(false);
    const std::int64_t inputs = x.size(1), width = inside.size(2);
    const bool counts_beyond = beyond.numel() > 0;
    const Tensor states = torch::empty({run.boxes.to.rows(run.batch), width}, options);
    const Tensor slope = run.last || !run.keep ? Tensor() : torch::empty_like(states);
    const Tensor lines = run.last ? Tensor() : run.new_lines(x, width);
    with_type(x, [&]<typename T>() {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const LineTransform<T> transform(kernels, run, width);
      Tiles(run.boxes, run.batch).for_each([&](const Tile& tile) {
        T* const to = data<T>(states) + tile.to * width;
        transform.synthesise(tile, data<T>(spectral), to);
        for_neighbours(tile, used, shape, run.boxes.from, run.batch, [&](const Neighbours& some) {
          if (some.beyond && !counts_beyond) return;
          multiply(kernels, {data<T>(x) + some.from * inputs, some.rows, inputs, inputs},
                   data<T>(some.beyond ? beyond : inside) + some.tap * inputs * width, width, to + some.to * width,
                   true);
        });
        if (!run.last) transform.activate_and_analyse(tile, to, data<T>(slope), data<T>(lines));
      });
    });
    if (run.keep) {
      run.save(context, {x, slope, inside, beyond}, inside.requires_grad());
      context->saved_data["used"] = used;
      context->saved_data["shape"] = shape;
    }
    return run.last ? variable_list{states} : variable_list{states, lines};
  }

  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    const BlockReverse run(context, cotangents);
    const Tensor &x = run.needs[0], &slope = run.needs[1], &inside = run.needs[2], &beyond = run.needs[3];
    const std::vector<std::int64_t> used = context->saved_data["used"].toIntVector(),
                                    shape = context->saved_data["shape"].toIntVector();
    const std::int64_t inputs = x.size(1), width = inside.size(2);
    const bool counts_beyond = beyond.numel() > 0;
    const Tiles tiles(run.boxes, run.batch);
    const Tensor back = torch::zeros_like(x), spectral = run.new_lines(x, width),
                 inside_sum = run.of_weights ? torch::zeros_like(inside) : Tensor(),
                 beyond_sum = run.of_weights ? torch::zeros_like(beyond) : Tensor();
    const Tensor inside_back = inside.detach().transpose(1, 2).contiguous(),
                 beyond_back = counts_beyond ? beyond.detach().transpose(1, 2).contiguous() : beyond;
    with_type(x, [&]<typename T>() {
      const DenseKernels<T>& kernels = kernels::chosen_dense_kernels<T>();
      const LineTransform<T> transform(kernels, run, width);
      Scratch<T> scratch(x, tiles.most_rows(), width);
      T* const d = scratch.take(width);
      tiles.for_each([&](const Tile& tile) {
        transform.reverse_end(tile, data<T>(run.states), data<T>(run.lines), d);
        if (!run.last) {
          const T* const slopes = data<T>(slope) + tile.to * width;
          for (std::int64_t i = 0; i < tile.rows * width; ++i) d[i] *= slopes[i];
        }
        transform.reverse_synthesise(tile, d, data<T>(spectral));
        for_neighbours(tile, used, shape, run.boxes.from, run.batch, [&](const Neighbours& some) {
          if (some.beyond && !counts_beyond) return;
          const Matrix<T> out{d + some.to * width, some.rows, width, width},
              in{data<T>(x) + some.from * inputs, some.rows, inputs, inputs};
          const std::int64_t matrix = some.tap * inputs * width;
          multiply(kernels, out, data<T>(some.beyond ? beyond_back : inside_back) + matrix, inputs,
                   data<T>(back) + some.from * inputs, true);
          if (run.of_weights)
            multiply(kernels, in.transposed(), out.numbers, width,
                     data<T>(some.beyond ? beyond_sum : inside_sum) + matrix, true);
        });
      });
    });
    return {spectral, back, inside_sum, beyond_sum, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

std::tuple<Tensor, Tensor> fused_stencil_block(const Tensor& spectral_lines, const Tensor& x, const Stencil& stencil,
                                               const std::vector<std::int64_t>& shape, const FourierBasis& basis,
                                               const BlockBoxes& boxes, bool last) {
  const Tensor spectral = spectral_lines.contiguous(), states = x.contiguous();
  const bool keep = c10::GradMode::is_enabled() &&
                    (spectral.requires_grad() || states.requires_grad() || stencil.inside.requires_grad());
  const variable_list out =
      StencilBlock::apply(spectral, states, stencil.inside.contiguous(),
                          stencil.beyond.defined() ? stencil.beyond.contiguous() : torch::empty({0}, states.options()),
                          std::vector<std::int64_t>(stencil.used.begin(), stencil.used.end()), shape,
                          BlockRun{basis.analysis(), basis.synthesis(), boxes, spectral.size(2), last, keep});
  return {out[0], last ? Tensor() : out[1]};
}

}  // namespace opshap::operators
