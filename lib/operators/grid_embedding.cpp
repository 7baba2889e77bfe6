#include "operators/grid_embedding.hpp"

#include <cstdint>

namespace opshap::operators {

torch::Tensor with_places(const torch::Tensor& fields, const std::vector<int>& shape) {
  const auto options = fields.options().requires_grad(false);
  std::vector<torch::Tensor> axes;
  for (const int size : shape) axes.push_back(torch::arange(size, options) / size);
  std::vector<torch::Tensor> columns;
  for (const torch::Tensor& grid : torch::meshgrid(axes, "ij")) columns.push_back(grid.reshape({-1}));
  const torch::Tensor places = torch::stack(columns, 1).unsqueeze(1);
  const auto dimension = static_cast<std::int64_t>(shape.size());
  return torch::cat({fields, places.expand({fields.size(0), fields.size(1), dimension})}, 2);
}

}  // namespace opshap::operators
