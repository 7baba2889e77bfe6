#include "operators/kernel_integral.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/error.hpp"
#include "operators/fused_layers.hpp"
#include "operators/layers.hpp"
#include "operators/tiles.hpp"

namespace opshap::operators {

namespace {

/// Points sorted into the square cells of a grid over their bounding box.
class CellGrid {
 public:
  CellGrid(std::span<const double> points, double radius) : points_(points) {
    double least[2], most[2];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      least[axis] = std::numeric_limits<double>::infinity();
      most[axis] = -least[axis];
      for (std::size_t i = axis; i < points.size(); i += 2) {
        least[axis] = std::min(least[axis], points[i]);
        most[axis] = std::max(most[axis], points[i]);
      }
    }
    // No more than a thousand cells on an axis: with a small radius most of them would be empty.
    size_ = std::max({radius, (most[0] - least[0]) / 1000, (most[1] - least[1]) / 1000});
    for (std::size_t axis = 0; axis < 2; ++axis) {
      origin_[axis] = least[axis];
      cells_[axis] = static_cast<std::int64_t>((most[axis] - least[axis]) / size_) + 1;
    }
    starts_.assign(static_cast<std::size_t>(cells_[0] * cells_[1]) + 1, 0);
    const std::size_t count = points.size() / 2;
    for (std::size_t i = 0; i < count; ++i) ++starts_[cell_of(i) + 1];
    for (std::size_t cell = 1; cell < starts_.size(); ++cell) starts_[cell] += starts_[cell - 1];
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    members_.resize(count);
    for (std::size_t i = 0; i < count; ++i) members_[next[cell_of(i)]++] = static_cast<std::int64_t>(i);
  }

  /// Calls work(point) for all points in cells that a disc about a place touches, and perhaps for some others.
  template <typename Work>
  void for_candidates(const double* place, double radius, const Work& work) const {
    std::int64_t first[2], last[2];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double reach = radius * (1 + 1e-9);  // rounding may not lose a cell
      first[axis] = index(axis, place[axis] - reach);
      last[axis] = index(axis, place[axis] + reach);
    }
    for (std::int64_t a = first[0]; a <= last[0]; ++a)
      for (std::int64_t b = first[1]; b <= last[1]; ++b) {
        const auto cell = static_cast<std::size_t>(a * cells_[1] + b);
        for (std::size_t i = starts_[cell]; i < starts_[cell + 1]; ++i) work(members_[i]);
      }
  }

 private:
  /// The cell on an axis, or the nearest one.
  std::int64_t index(std::size_t axis, double coordinate) const {
    const double cell = std::floor((coordinate - origin_[axis]) / size_);
    return static_cast<std::int64_t>(std::clamp(cell, 0.0, static_cast<double>(cells_[axis] - 1)));
  }
  std::size_t cell_of(std::size_t point) const {
    return static_cast<std::size_t>(index(0, points_[2 * point]) * cells_[1] + index(1, points_[2 * point + 1]));
  }

  std::span<const double> points_;
  double size_ = 0, origin_[2] = {0, 0};
  std::int64_t cells_[2] = {1, 1};
  std::vector<std::size_t> starts_;    ///< [cells + 1]
  std::vector<std::int64_t> members_;  ///< points, cell by cell
};

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor summed(const Tensor& rows, const Tensor& index, std::int64_t points) {
  std::vector<std::int64_t> shape = rows.sizes().vec();
  shape[0] = points;
  Tensor sums = torch::zeros(shape, rows.options().requires_grad(false));
  if (!rows.device().is_cpu()) return sums.index_add_(0, index, rows);
  const Tensor dense = rows.contiguous();
  const std::int64_t edges = rows.size(0), width = edges == 0 ? 0 : rows.numel() / edges;
  const std::int64_t* const to = index.data_ptr<std::int64_t>();
  with_type(rows, [&]<typename T>() {
    for (std::int64_t edge = 0; edge < edges; ++edge) {
      const T* const from = data<T>(dense) + edge * width;
      T* const sum = data<T>(sums) + to[edge] * width;
      for (std::int64_t i = 0; i < width; ++i) sum[i] += from[i];
    }
  });
  return sums;
}

class RowsOfEdges : public torch::autograd::Function<RowsOfEdges> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& index) {
    context->save_for_backward({index});
    context->saved_data["points"] = x.size(0);
    return x.index_select(0, index);
  }
  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    const Tensor index = context->get_saved_variables()[0];
    return {sums_of_edges(cotangents[0], index, context->saved_data["points"].toInt()), Tensor()};
  }
};

class SumsOfEdges : public torch::autograd::Function<SumsOfEdges> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& index, std::int64_t points) {
    context->save_for_backward({index});
    return summed(rows, index, points);
  }
  static variable_list backward(AutogradContext* context, const variable_list& cotangents) {
    const Tensor index = context->get_saved_variables()[0];
    return {rows_of_edges(cotangents[0], index), Tensor(), Tensor()};
  }
};

}  // namespace

NeighbourLists neighbours_within(std::span<const double> points, std::span<const double> places, double radius) {
  require(radius > 0 && std::isfinite(radius), "neighbours: radius=", radius,
          " (must be positive and finite). Give a length.");
  NeighbourLists lists;
  lists.splits.reserve(places.size() / 2 + 1);
  if (points.empty()) {
    lists.splits.resize(places.size() / 2 + 1, 0);
    return lists;
  }
  const CellGrid grid(points, radius);
  for (std::size_t place = 0; place < places.size(); place += 2) {
    const auto before = static_cast<std::ptrdiff_t>(lists.indices.size());
    grid.for_candidates(places.data() + place, radius, [&](std::int64_t point) {
      const double* at = points.data() + 2 * point;
      const double x = at[0] - places[place], y = at[1] - places[place + 1];
      if (x * x + y * y <= radius * radius) lists.indices.push_back(point);
    });
    std::sort(lists.indices.begin() + before, lists.indices.end());
    lists.splits.push_back(lists.edges());
  }
  return lists;
}

NeighbourLists neighbours_given(NeighbourLists lists, std::int64_t places, std::int64_t points) {
  require(lists.rows() == places, "neighbours: rows=", lists.rows(), " (there are ", places,
          " places). Give one row for each place.");
  require(lists.splits.front() == 0 && lists.splits.back() == lists.edges() && std::ranges::is_sorted(lists.splits),
          "neighbours: splits (do not ascend from 0 to ", lists.edges(), " edges). Give compressed rows.");
  for (std::size_t row = 0; row + 1 < lists.splits.size(); ++row)
    for (std::int64_t edge = lists.splits[row]; edge < lists.splits[row + 1]; ++edge) {
      const std::int64_t index = lists.indices[static_cast<std::size_t>(edge)];
      const bool ascends = edge == lists.splits[row] || lists.indices[static_cast<std::size_t>(edge - 1)] < index;
      require(index >= 0 && index < points && ascends, "neighbours: index=", index, " (in row ", row,
              "; the indices of a row ascend and are 0..", points - 1, "). Sort the rows.");
    }
  return lists;
}

Tensor rows_of_edges(const Tensor& x, const Tensor& index) { return RowsOfEdges::apply(x, index); }

Tensor sums_of_edges(const Tensor& rows, const Tensor& index, std::int64_t points) {
  return SumsOfEdges::apply(rows, index, points);
}

EdgeList::EdgeList(const NeighbourLists& lists, const torch::TensorOptions& options) : targets(lists.rows()) {
  const Tensor splits = torch::tensor(lists.splits, torch::kInt64),
               degrees = splits.narrow(0, 1, targets) - splits.narrow(0, 0, targets);
  source = torch::tensor(lists.indices, torch::kInt64).to(options.device());
  target = torch::repeat_interleave(torch::arange(targets, torch::kInt64), degrees).to(options.device());
  share = torch::where(degrees > 0, degrees.to(torch::kFloat64).reciprocal(), torch::zeros({1}, torch::kFloat64))
              .to(options)
              .view({targets, 1, 1});
}

Tensor KernelIntegral::of_sources(const Tensor& waves) const {
  return torch::mm(waves, weights[0].narrow(1, 0, waves.size(1)).t());
}

Tensor KernelIntegral::of_targets(const Tensor& waves) const {
  return torch::addmm(biases[0], waves, weights[0].narrow(1, waves.size(1), waves.size(1)).t());
}

Tensor KernelIntegral::messages(const Tensor& values, const Tensor& sources, const Tensor& targets,
                                const EdgeList& edges, bool fused) const {
  constexpr std::int64_t rows_of_block = 16384;
  const std::int64_t count = edges.source.size(0), batch = values.size(1), channels = values.size(2),
                     wide = weights[0].size(0), of_places = weights[0].size(1) - (nonlinear ? channels : 0);
  // What the first layer makes of a source and its values, [sources, B or 1, width].
  Tensor of_source = sources.unsqueeze(1);
  if (nonlinear) of_source = of_source + torch::matmul(values, weights[0].narrow(1, of_places, channels).t());
  const std::int64_t of_edge = of_source.size(1), channels_out = weights.back().size(0);
  std::vector<Tensor> blocks;
  const std::int64_t most = std::max<std::int64_t>(1, rows_of_block / std::max<std::int64_t>(1, batch));
  for (std::int64_t first = 0; first == 0 || first < count; first += most) {
    const std::int64_t size = std::min(most, count - first);
    const Tensor source = edges.source.narrow(0, first, size), target = edges.target.narrow(0, first, size);
    Tensor x;
    for (std::size_t layer = 1; layer < weights.size(); layer += 2) {
      ChannelPerceptron some{.weight0 = weights[layer].unsqueeze(-1), .bias0 = biases[layer]};
      if (layer + 1 < weights.size()) {
        some.weight1 = weights[layer + 1].unsqueeze(-1);
        some.bias1 = biases[layer + 1];
      }
      if (layer > 1) {
        x = some(torch::gelu(x), fused);
      } else if (fused && some.weight1.defined()) {
        x = fused_edge_perceptron(of_source, targets, source, target, some.weight0, some.bias0, some.weight1,
                                  some.bias1);
      } else {
        x = (rows_of_edges(of_source, source) + rows_of_edges(targets, target).unsqueeze(1)).reshape({-1, wide});
        x = some(torch::gelu(x), fused);
      }
    }
    blocks.push_back(x.view({size, of_edge, channels_out}) * rows_of_edges(values, source));
  }
  return blocks.size() == 1 ? blocks.front() : torch::cat(blocks);
}

}  // namespace opshap::operators
