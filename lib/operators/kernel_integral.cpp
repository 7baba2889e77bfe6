#include "operators/kernel_integral.hpp"

#include <algorithm>

#include "operators/edge_rows.hpp"
#include "operators/fused_layers.hpp"
#include "operators/pointwise.hpp"

namespace opshap::operators {

using torch::Tensor;

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
  Tensor features;  // what the first layer makes of the values, [sources, B, width]
  if (nonlinear) features = torch::matmul(values, weights[0].narrow(1, of_places, channels).t());
  std::vector<Tensor> blocks;
  const std::int64_t most = std::max<std::int64_t>(1, rows_of_block / std::max<std::int64_t>(1, batch));
  for (std::int64_t first = 0; first == 0 || first < count; first += most) {
    const std::int64_t size = std::min(most, count - first);
    const Tensor source = edges.source.narrow(0, first, size), target = edges.target.narrow(0, first, size);
    Tensor x = (rows_of_edges(sources, source) + rows_of_edges(targets, target)).unsqueeze(1);
    if (nonlinear) x = x + rows_of_edges(features, source);
    const std::int64_t of_edge = x.size(1), channels_out = weights.back().size(0);
    x = x.reshape({-1, wide});
    for (std::size_t layer = 1; layer < weights.size();) {
      x = torch::gelu(x);
      if (layer + 1 < weights.size()) {
        x = (fused ? fused_perceptron : perceptron)(x, weights[layer].unsqueeze(-1), biases[layer],
                                                    weights[layer + 1].unsqueeze(-1), biases[layer + 1]);
        layer += 2;
      } else {
        x = torch::addmm(biases[layer], x, weights[layer].t());
        layer += 1;
      }
    }
    blocks.push_back(x.view({size, of_edge, channels_out}) * rows_of_edges(values, source));
  }
  return blocks.size() == 1 ? blocks.front() : torch::cat(blocks);
}

}  // namespace opshap::operators
