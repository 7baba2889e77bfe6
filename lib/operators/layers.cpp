#include "operators/layers.hpp"

#include <cmath>
#include <cstdint>

#include "operators/fused_layers.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;

Tensor plus_matrix(Tensor sum, const Tensor& x, const Tensor& weight) { return sum.addmm_(x, weight.squeeze(-1).t()); }

/// Rows of fields [points, B, C] with mean 0 and variance 1 over what the norm names, then the factor and the shift.
Tensor normalised(const Tensor& rows, const Tensor& fields, const Affine& affine, Norm norm) {
  constexpr double epsilon = 1e-5;  // torch's default, which the reference keeps
  Tensor y = rows;
  if (norm == Norm::instance_norm || norm == Norm::group_norm) {
    std::vector<std::int64_t> over = {0};
    if (norm == Norm::group_norm) over.push_back(2);
    const Tensor x = rows.view(fields.sizes()), centred = x - x.mean(over, true);
    y = (centred * torch::rsqrt(centred.square().mean(over, true) + epsilon)).view(rows.sizes());
  }
  return affine.weight.defined() ? y * affine.weight + affine.bias : y;
}

}  // namespace

Tensor activated(const Tensor& x, Activation activation) {
  const bool kept = c10::GradMode::is_enabled();
  Tensor y = x;
  switch (activation) {
    case Activation::relu:
      return kept ? torch::relu(x) : torch::relu_(y);
    case Activation::tanh:
      return kept ? torch::tanh(x) : torch::tanh_(y);
    case Activation::silu:
      return kept ? torch::silu(x) : torch::silu_(y);
    case Activation::gelu:
      break;
  }
  return kept ? torch::gelu(x) : torch::gelu_(y);
}

Tensor perceptron(const Tensor& x, const Tensor& weight0, const Tensor& bias0, const Tensor& weight1,
                  const Tensor& bias1, Activation activation) {
  const Tensor hidden = torch::addmm(bias0, x, weight0.squeeze(-1).t());
  if (!weight1.defined()) return hidden;
  return torch::addmm(bias1, activated(hidden, activation), weight1.squeeze(-1).t());
}

Tensor block_with(const BlockOptions& options, const Tensor& spectral, const Tensor& x, const BlockWeights& weights,
                  bool last) {
  const PointwiseWeights& pointwise = weights.pointwise;
  const std::int64_t channels = x.size(-1);
  const Tensor in = x.reshape({-1, channels});
  Tensor y = normalised(spectral.view({-1, channels}), x, weights.first, options.norm);
  y = plus_matrix(y, in, pointwise.skip);
  if (!last) y = activated(y, options.activation);
  Tensor z = y;
  if (pointwise.mlp.weight0.defined()) {
    z = perceptron(y, pointwise.mlp.weight0, pointwise.mlp.bias0, pointwise.mlp.weight1, pointwise.mlp.bias1);
    z = weights.mlp_skip.defined() ? plus_matrix(z, in, weights.mlp_skip)
                                   : z.addcmul_(in, pointwise.gate.view({channels}));
  }
  z = normalised(z, x, weights.second, options.norm);
  return (last ? z : activated(z, options.activation)).view(x.sizes());
}

Tensor fused_fno(const Tensor& x, const std::vector<FnoLayer>& layers, const FourierBasis& basis, const Box& from,
                 const Box& plane, const Box& wanted) {
  const auto block = [&](const FnoLayer& layer, const Tensor& spectral, const Tensor& states, const BlockBoxes& boxes,
                         bool last) {
    return fused_block(spectral, states, layer.block.pointwise, basis, boxes, last);
  };
  return fused_layers(x, layers, basis, from, plane, wanted, block);
}

Tensor fno_blocks(const Tensor& start, const std::vector<FnoLayer>& layers, const FourierBasis& basis, const Box& plane,
                  const Box& wanted, bool fused) {
  if (fused) return fused_fno(start, layers, basis, plane, plane, wanted);
  const std::int64_t batch = start.size(1), width = start.size(2);
  Tensor x = start;
  for (const FnoLayer& layer : layers) {
    const Tensor spectral = basis.inverse(mix(basis.transform(x), layer.spectral_weight, layer.spectral_bias, basis));
    x = block_with({}, spectral, x, layer.block, &layer == &layers.back());
  }
  return x.view({plane.lines, plane.points, batch, width})
      .narrow(0, wanted.first_line, wanted.lines)
      .narrow(1, wanted.first, wanted.points)
      .reshape({-1, batch, width});
}

torch::Tensor ChannelPerceptron::operator()(const torch::Tensor& x, bool fused, Activation activation) const {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = (weight1.defined() ? weight1 : weight0).size(0);
  const torch::Tensor rows = x.reshape({-1, x.size(-1)});
  if (fused && weight1.defined() && activation == Activation::gelu)
    return fused_perceptron(rows, weight0, bias0, weight1, bias1).view(shape);
  return perceptron(rows, weight0, bias0, weight1, bias1, activation).view(shape);
}

torch::Tensor with_places(const torch::Tensor& fields, const std::vector<int>& shape) {
  const auto options = fields.options().requires_grad(false);
  const auto dimension = static_cast<std::int64_t>(shape.size());
  std::vector<torch::Tensor> axes;
  for (const int size : shape) axes.push_back(torch::arange(size, options) / size);
  const torch::Tensor places = torch::stack(torch::meshgrid(axes, "ij"), -1).view({-1, 1, dimension});
  return torch::cat({fields, places.expand({fields.size(0), fields.size(1), dimension})}, 2);
}

torch::Tensor coordinate_waves(std::span<const double> places, const torch::TensorOptions& options) {
  const auto coordinates = static_cast<std::int64_t>(places.size());
  torch::Tensor waves = torch::empty({coordinates, 2 * wave_frequencies}, torch::kFloat64);
  double* to = waves.data_ptr<double>();
  for (const double coordinate : places)
    for (int k = 0; k < wave_frequencies; ++k) {
      const double base = 1e-4F, frequency = static_cast<float>(std::pow(base, 2.0 * k / wave_frequencies));
      *to++ = std::sin(coordinate * frequency);
      *to++ = std::cos(coordinate * frequency);
    }
  return waves.view({coordinates / 2, 4 * wave_frequencies}).to(options);
}

}  // namespace opshap::operators
