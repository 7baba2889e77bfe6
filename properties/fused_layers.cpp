// The layers of an FNO as kernels of our own: against LibTorch's operations and their derivatives, and against
// difference quotients.

#include "operators/fused_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/threads.hpp"
#include "kernels/kernels.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/tolerance.hpp"
#include "training/loop.hpp"

namespace opshap {
namespace {

using torch::Tensor;

/// All work inside runs on this instruction set.
class WithInstructionSet {
 public:
  explicit WithInstructionSet(const std::string& name) { setenv("OPSHAP_ENGINE", name.c_str(), 1); }
  WithInstructionSet(const WithInstructionSet&) = delete;
  WithInstructionSet& operator=(const WithInstructionSet&) = delete;
  ~WithInstructionSet() { unsetenv("OPSHAP_ENGINE"); }
};

/// A function of tensors, and the tensors.
struct Layer {
  std::function<Tensor(const std::vector<Tensor>&)> plain, fused;
  std::vector<Tensor> inputs;
};

operators::PointwiseWeights block_weights(const std::vector<Tensor>& in) {
  return {
      .skip = in[2], .gate = in[3], .mlp0_weight = in[4], .mlp0_bias = in[5], .mlp1_weight = in[6], .mlp1_bias = in[7]};
}

/// Lines of `points` points, transformed to and from 6 numbers.
struct BlockCase {
  std::int64_t lines, points, batch, width, inner;
  operators::BlockBoxes boxes;
  bool last;
};

/// States, and the transform of their lines, as one tensor.
Tensor joined(const Tensor& states, const Tensor& lines) {
  return lines.defined() ? torch::cat({states.flatten(), lines.flatten()}) : states.flatten();
}

Tensor plain_block(const BlockCase& of, const std::vector<Tensor>& in) {
  const auto basis = operators::fourier_basis({of.points}, {4}, in[0].options().requires_grad(false));
  const auto& [from, to] = of.boxes;
  const auto part = [](const Tensor& all, const operators::Box& box) {
    return all.narrow(0, box.first_line, box.lines).narrow(1, box.first, box.points);
  };
  Tensor x = torch::zeros({of.lines, of.points, of.batch, of.width}, in[0].options().requires_grad(false));
  part(x, from).copy_(in[1].view({from.lines, from.points, of.batch, of.width}));
  const Tensor values = torch::matmul(basis->synthesis(), in[0].view({to.lines, -1, of.batch * of.width}));
  const Tensor states = operators::pointwise_block(values.narrow(1, to.first, to.points).reshape({-1, of.width}),
                                                   part(x, to).reshape({-1, of.width}), block_weights(in), of.last);
  if (of.last) return joined(states, {});
  return joined(states, torch::matmul(basis->analysis().narrow(1, to.first, to.points),
                                      states.view({to.lines, to.points, of.batch * of.width})));
}

Tensor fused_block_of(const BlockCase& of, const std::vector<Tensor>& in) {
  const auto basis = operators::fourier_basis({of.points}, {4}, in[0].options().requires_grad(false));
  const auto [states, lines] = operators::fused_block(in[0], in[1], block_weights(in), *basis, of.boxes, of.last);
  return joined(states, lines);
}

Layer block_layer(const BlockCase& of) {
  return {.plain = [of](const auto& in) { return plain_block(of, in); },
          .fused = [of](const auto& in) { return fused_block_of(of, in); },
          .inputs = {random_tensor({of.boxes.to.lines, 6, of.batch, of.width}, 1),
                     random_tensor({of.boxes.from.rows(of.batch), of.width}, 2),
                     random_tensor({of.width, of.width, 1}, 3, 0.3), random_tensor({1, of.width, 1}, 4),
                     random_tensor({of.inner, of.width, 1}, 5, 0.3), random_tensor({of.inner}, 6),
                     random_tensor({of.width, of.inner, 1}, 7, 0.3), random_tensor({of.width}, 8)}};
}

Layer small_block(bool last) {
  return block_layer({.lines = 2,
                      .points = 7,
                      .batch = 2,
                      .width = 6,
                      .inner = 3,
                      .boxes = {{0, 2, 2, 3}, {0, 2, 0, 7}},
                      .last = last});
}

Layer mix_layer(int dimension) {
  const std::vector<std::int64_t> shape(static_cast<std::size_t>(dimension), 12);
  const std::vector<int> modes(static_cast<std::size_t>(dimension), 6);
  const auto basis = [=](const Tensor& like) {
    return operators::fourier_basis(shape, modes, like.options().requires_grad(false));
  };
  std::vector<std::int64_t> weights = {5, 7, 4, 2};
  if (dimension == 2) weights.insert(weights.begin() + 2, 6);
  return {.plain =
              [=](const auto& in) {
                const Tensor mixed = operators::mix(in[0], in[1], *basis(in[0]));
                mixed.select(0, basis(in[0])->constant()).select(0, 0).add_(in[2]);
                return mixed;
              },
          .fused = [=](const auto& in) { return operators::fused_mix(in[0], in[1], in[2], *basis(in[0])); },
          .inputs = {random_tensor({basis(torch::empty({0}, torch::kFloat64))->frequencies(), 2, 3, 5}, 1),
                     random_tensor(weights, 2), random_tensor({7}, 3)}};
}

Layer perceptron_layer(std::int64_t rows, std::int64_t inputs, std::int64_t wide, std::int64_t outputs) {
  return {.plain = [](const auto& in) { return operators::perceptron(in[0], in[1], in[2], in[3], in[4]); },
          .fused = [](const auto& in) { return operators::fused_perceptron(in[0], in[1], in[2], in[3], in[4]); },
          .inputs = {random_tensor({rows, inputs}, 1), random_tensor({wide, inputs, 1}, 2, 0.3),
                     random_tensor({wide}, 3), random_tensor({outputs, wide, 1}, 4, 0.3), random_tensor({outputs}, 5)}};
}

std::vector<Layer> layers() {
  std::vector<Layer> all;
  for (const bool last : {false, true}) {
    // A line and a plane; the input in all of it or in a part, the output likewise or at one point; tiles that are full
    // and not.
    for (const operators::BlockBoxes& boxes : {operators::BlockBoxes{{0, 1, 0, 90}, {0, 1, 0, 90}},
                                               {{0, 1, 20, 50}, {0, 1, 0, 90}},
                                               {{0, 1, 0, 90}, {0, 1, 20, 50}},
                                               {{0, 1, 20, 50}, {0, 1, 30, 1}}})
      all.push_back(
          block_layer({.lines = 1, .points = 90, .batch = 3, .width = 64, .inner = 32, .boxes = boxes, .last = last}));
    for (const operators::BlockBoxes& boxes : {operators::BlockBoxes{{0, 6, 0, 8}, {0, 6, 0, 8}},
                                               {{1, 3, 2, 4}, {0, 6, 0, 8}},
                                               {{0, 6, 0, 8}, {1, 3, 2, 4}},
                                               {{1, 3, 2, 4}, {0, 1, 5, 1}}})
      all.push_back(
          block_layer({.lines = 6, .points = 8, .batch = 5, .width = 21, .inner = 10, .boxes = boxes, .last = last}));
    all.push_back(block_layer({.lines = 1,
                               .points = 7,
                               .batch = 100,
                               .width = 1,
                               .inner = 1,
                               .boxes = {{0, 1, 0, 7}, {0, 1, 0, 7}},
                               .last = last}));
  }
  for (const std::int64_t rows : {1, 63, 64, 130}) {
    all.push_back(perceptron_layer(rows, 2, 128, 64));
    all.push_back(perceptron_layer(rows, 64, 128, 1));
    all.push_back(perceptron_layer(rows, 3, 10, 5));
  }
  all.push_back(mix_layer(1));
  all.push_back(mix_layer(2));
  return all;
}

/// Output and gradients of Σ weights ⊙ output with respect to all inputs.
std::vector<Tensor> with_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                                   const std::vector<Tensor>& inputs, torch::ScalarType type) {
  std::vector<Tensor> variables, found;
  for (const Tensor& input : inputs) variables.push_back(input.to(type).clone().set_requires_grad(true));
  const Tensor output = function(variables), weights = random_tensor(output.sizes().vec(), 9).to(type);
  found = torch::autograd::grad({(output * weights).sum()}, variables);
  found.push_back(output.detach());
  return found;
}

TEST(FusedLayers, HasTheOutputsAndGradientsOfLibTorch) {
  for (const std::string& set : kernels::instruction_sets()) {
    const WithInstructionSet chosen(set);
    for (const Layer& layer : layers()) {
      const auto exact = with_gradients(layer.plain, layer.inputs, torch::kFloat64),
                 found = with_gradients(layer.fused, layer.inputs, torch::kFloat64),
                 single = with_gradients(layer.fused, layer.inputs, torch::kFloat32);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        ASSERT_EQ(exact[i].sizes(), found[i].sizes());
        const double scale = exact[i].abs().max().item<double>();
        EXPECT_EQ("", mismatch(numbers(exact[i]), numbers(found[i]), rounding(1e3, scale)))
            << set;  // sums of ~ 100 terms, four deep
        EXPECT_LE((exact[i] - single[i]).abs().max().item<double>(), 1e3 * 6e-8 * scale) << set;
      }
    }
  }
}

// The quotient along a direction is off by h²/6 times the third derivative, and by rounding over h, which is smaller.
TEST(FusedLayers, HasTheGradientsOfCentralDifferences) {
  constexpr double h = 1e-5;
  for (const Layer& layer :
       {small_block(false), small_block(true), perceptron_layer(7, 3, 8, 2), mix_layer(1), mix_layer(2)}) {
    const auto gradients = with_gradients(layer.fused, layer.inputs, torch::kFloat64);
    const Tensor weights = random_tensor(gradients.back().sizes().vec(), 9);
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const Tensor direction = random_tensor(layer.inputs[i].sizes().vec(), 10);
      const auto value = [&](double step) {
        const torch::NoGradGuard no_grad;
        std::vector<Tensor> moved = layer.inputs;
        moved[i] = moved[i] + step * direction;
        return (layer.fused(moved) * weights).sum().item<double>();
      };
      const double slope = (gradients[i] * direction).sum().item<double>();
      EXPECT_EQ("", mismatch((value(h) - value(-h)) / (2 * h), slope, discretisation(1000, h, 2)));
      EXPECT_GT(std::abs(slope), 1e-3);
    }
  }
}

TEST(FusedLayers, GivesGradientsOfInputsAloneWhenWeightsAreFixed) {
  for (const Layer& layer : {small_block(false), perceptron_layer(70, 3, 8, 2), mix_layer(1)}) {
    const auto all = with_gradients(layer.fused, layer.inputs, torch::kFloat64);
    std::vector<Tensor> variables = layer.inputs;
    variables[0] = variables[0].clone().set_requires_grad(true);
    const Tensor output = layer.fused(variables), weights = random_tensor(output.sizes().vec(), 9);
    const Tensor gradient = torch::autograd::grad({(output * weights).sum()}, {variables[0]})[0];
    EXPECT_EQ(numbers(all[0]), numbers(gradient));
  }
}

TEST(FusedLayers, RefusesSecondDerivatives) {
  const Layer layer = perceptron_layer(3, 3, 8, 2);
  std::vector<Tensor> variables = layer.inputs;
  variables[0] = variables[0].clone().set_requires_grad(true);
  const Tensor sum = layer.fused(variables).sum();
  EXPECT_THROW(torch::autograd::grad({sum}, {variables[0]}, {}, true, true), std::logic_error);
}

/// A network, and its training on random fields.
class Trained {
 public:
  Trained(const operators::FnoConfig& config, const std::vector<int>& shape, torch::ScalarType type, bool fused)
      : domain_(Domain::unit(shape)), network_(operators::make_network(config, type)) {
    network_->set_fused(fused);
    operators::initialise(*network_, 3);
    training::AdamW::Tensors parameters;
    for (operators::Parameter& parameter : network_->parameters())
      parameters[parameter.name] = parameter.value.set_requires_grad(true);
    optimiser_ = std::make_unique<training::AdamW>(parameters, 1e-4);
    const std::int64_t points = domain_.points();
    inputs_ = random_tensor({points, batch, 1}, 1).to(type);
    targets_ = inputs_ * inputs_;
  }

  double loss_and_gradient() {
    return training::batch_loss_and_gradient(*network_, batch, domain_, [&](std::int64_t first, std::int64_t count) {
      const Tensor outputs = network_->forward(inputs_.narrow(1, first, count), domain_);
      return torch::mse_loss(outputs, targets_.narrow(1, first, count), torch::Reduction::Sum) /
             static_cast<double>(targets_.numel());
    });
  }

  std::vector<double> losses(int steps) {
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
      losses.push_back(loss_and_gradient());
      optimiser_->step(1e-3);
    }
    return losses;
  }

  std::vector<double> gradients() const {
    std::vector<double> all;
    for (const operators::Parameter& parameter : network_->parameters()) {
      const auto part = numbers(parameter.value.grad());
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  static constexpr std::int64_t batch = 10;
  Domain domain_;
  std::unique_ptr<operators::Network> network_;
  std::unique_ptr<training::AdamW> optimiser_;
  Tensor inputs_, targets_;
};

operators::FnoConfig config(int dimension) {
  operators::FnoConfig config{.n_modes = {}, .hidden_channels = 20, .n_layers = 3, .domain_padding = 0.5};
  config.n_modes.assign(static_cast<std::size_t>(dimension), 8);
  return config;
}

const std::vector<std::vector<int>> shapes = {{1}, {5}, {16}, {33}, {4, 4}, {3, 5}, {8, 6}};

TEST(FusedTraining, HasTheGradientsOfLibTorch) {
  for (const std::vector<int>& shape : shapes) {
    const operators::FnoConfig model = config(static_cast<int>(shape.size()));
    Trained plain(model, shape, torch::kFloat64, false), fused(model, shape, torch::kFloat64, true);
    const double expected = plain.loss_and_gradient(), found = fused.loss_and_gradient();
    EXPECT_EQ("", mismatch(expected, found, rounding(1e3, 1)));
    EXPECT_LT(l2_distance(plain.gradients(), fused.gradients()), 1e-13);  // a thousand roundings
  }
}

// Training spreads rounding errors. How much is seen from LibTorch's own: its float32 losses against its float64
// losses.
TEST(FusedTraining, HasTheLossesOfLibTorchForFiftySteps) {
  for (const std::vector<int>& shape : {std::vector{64}, std::vector{8, 8}}) {
    const operators::FnoConfig model = config(static_cast<int>(shape.size()));
    const std::vector<double> exact = Trained(model, shape, torch::kFloat64, false).losses(50),
                              plain = Trained(model, shape, torch::kFloat32, false).losses(50),
                              fused = Trained(model, shape, torch::kFloat32, true).losses(50),
                              fused_exact = Trained(model, shape, torch::kFloat64, true).losses(50);
    double rounding_of_plain = 1e-7;
    for (std::size_t i = 0; i < exact.size(); ++i)
      rounding_of_plain = std::max(rounding_of_plain, std::abs(plain[i] - exact[i]) / exact[i]);
    EXPECT_LT(rounding_of_plain, 1e-4);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(exact[i], fused[i], 4 * rounding_of_plain * exact[i]) << "step " << i;
      EXPECT_NEAR(exact[i], fused_exact[i], 1e-11 * exact[i])
          << "step " << i;  // the same spreading, of 1e-16 instead of 6e-8, and 100 times more
    }
    EXPECT_LT(exact.back(), 0.9 * exact.front());
  }
}

TEST(FusedTraining, GivesBitsThatDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<double>> found;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    Trained trained(config(1), {96}, torch::kFloat32, true);
    found.push_back(trained.losses(3));
    trained.loss_and_gradient();
    found.push_back(trained.gradients());
  }
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[1], found[3]);
  EXPECT_EQ(found[0], found[4]);
  EXPECT_EQ(found[1], found[5]);
}

}  // namespace
}  // namespace opshap
