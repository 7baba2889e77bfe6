#include "training/adamw.hpp"

#include <cmath>

namespace opshap {

namespace {

constexpr double beta_first = 0.9, beta_second = 0.999, epsilon = 1e-8;

}  // namespace

AdamW::AdamW(const Tensors& parameters, double weight_decay) : parameters_(parameters), weight_decay_(weight_decay) {
  for (const auto& [name, parameter] : parameters_) {
    first_[name] = torch::zeros_like(parameter).set_requires_grad(false);
    second_[name] = torch::zeros_like(parameter).set_requires_grad(false);
  }
}

void AdamW::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  const double first_correction = 1 - std::pow(beta_first, static_cast<double>(steps_));
  const double second_correction = 1 - std::pow(beta_second, static_cast<double>(steps_));
  for (auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    torch::Tensor gradient = parameter.grad();
    torch::Tensor& first = first_[name];
    torch::Tensor& second = second_[name];
    parameter.mul_(1 - learning_rate * weight_decay_);
    first.mul_(beta_first).add_(gradient, 1 - beta_first);
    second.mul_(beta_second).addcmul_(gradient, gradient, 1 - beta_second);
    const torch::Tensor scale = second.sqrt().div_(std::sqrt(second_correction)).add_(epsilon);
    parameter.addcdiv_(first, scale, -learning_rate / first_correction);
    gradient.zero_();
  }
}

AdamW::Tensors AdamW::moments() const {
  Tensors all;
  for (const auto& [name, tensor] : first_) all["first." + name] = tensor;
  for (const auto& [name, tensor] : second_) all["second." + name] = tensor;
  return all;
}

}  // namespace opshap
