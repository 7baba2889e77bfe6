// LibTorch's device meta has shapes and no numbers, which shows what asks for a number. Some of its kernels are in
// PyTorch's Python alone. These are the ones that networks need.

#include <torch/library.h>

#include "operators/torch.hpp"

#if TORCH_VERSION_MAJOR >= 2

namespace opshap {
namespace {

using torch::Tensor;

Tensor meta_where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const auto type = at::result_type(a, b);
  return torch::empty(at::infer_size(condition.sizes(), at::infer_size(a.sizes(), b.sizes())), a.options().dtype(type));
}

Tensor meta_index_select(const Tensor& of, std::int64_t axis, const Tensor& index) {
  std::vector<std::int64_t> shape = of.sizes().vec();
  shape[static_cast<std::size_t>(axis < 0 ? axis + of.dim() : axis)] = index.numel();
  return torch::empty(shape, of.options());
}

Tensor meta_floor_divide(const Tensor& a, const Tensor& b) {
  return torch::empty(at::infer_size(a.sizes(), b.sizes()), a.options());
}

Tensor meta_relu(const Tensor& x) { return torch::empty_like(x); }

TORCH_LIBRARY_IMPL(aten, Meta, kernels) {
  kernels.impl("where.self", &meta_where);
  kernels.impl("index_select", &meta_index_select);
  kernels.impl("floor_divide", &meta_floor_divide);
  kernels.impl("relu", &meta_relu);
}

}  // namespace
}  // namespace opshap

#endif
