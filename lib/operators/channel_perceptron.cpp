#include "operators/channel_perceptron.hpp"

#include <cstdint>
#include <vector>

#include "operators/fused_layers.hpp"
#include "operators/pointwise.hpp"

namespace opshap::operators {

torch::Tensor ChannelPerceptron::operator()(const torch::Tensor& x, bool fused) const {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight1.size(0);
  return (fused ? fused_perceptron : perceptron)(x.reshape({-1, x.size(-1)}), weight0, bias0, weight1, bias1)
      .view(shape);
}

}  // namespace opshap::operators
