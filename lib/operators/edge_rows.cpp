#include "operators/edge_rows.hpp"

#include <vector>

#include "operators/tiles.hpp"

namespace opshap::operators {

namespace {

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

Tensor rows_of_edges(const Tensor& x, const Tensor& index) { return RowsOfEdges::apply(x, index); }

Tensor sums_of_edges(const Tensor& rows, const Tensor& index, std::int64_t points) {
  return SumsOfEdges::apply(rows, index, points);
}

}  // namespace opshap::operators
