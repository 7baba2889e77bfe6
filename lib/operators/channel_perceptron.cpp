#include "operators/channel_perceptron.hpp"

#include <cstdint>
#include <vector>

#include "operators/fused_layers.hpp"

namespace opshap::operators {

torch::Tensor ChannelPerceptron::operator()(const torch::Tensor& x, bool fused, Activation activation) const {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = (weight1.defined() ? weight1 : weight0).size(0);
  const torch::Tensor rows = x.reshape({-1, x.size(-1)});
  if (fused && weight1.defined() && activation == Activation::gelu)
    return fused_perceptron(rows, weight0, bias0, weight1, bias1).view(shape);
  return perceptron(rows, weight0, bias0, weight1, bias1, activation).view(shape);
}

}  // namespace opshap::operators
