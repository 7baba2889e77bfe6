#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "operators/network.hpp"
#include "operators/torch.hpp"

namespace opshap {

/// A relative L2 distance for two sides that compute in float32: a dozen layers of products of some hundred numbers.
constexpr double float32_layers = 1e-5;

inline std::vector<double> numbers(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

/// Normal numbers in float64.
inline torch::Tensor random_tensor(const std::vector<std::int64_t>& shape, std::uint64_t item, double scale = 1) {
  torch::Tensor drawn = torch::empty(shape, torch::kFloat64);
  Rng rng(7, "tensors of tests", 0, item);
  for (std::int64_t i = 0; i < drawn.numel(); ++i) drawn.data_ptr<double>()[i] = scale * rng.normal();
  return drawn;
}

/// Fields of normal numbers.
inline FieldBatch random_fields(const Domain& domain, std::int64_t batch, int channels, std::uint64_t item = 0) {
  FieldBatch fields = FieldBatch::zeros(domain, batch, channels);
  Rng rng(5, "fields of tests", 0, item);
  for (double& value : fields.values) value = rng.normal();
  return fields;
}

/// How many numbers a network learns; a complex one counts once.
inline std::int64_t parameter_count(const operators::Network& network) {
  std::int64_t count = 0;
  for (const auto& parameter : network.parameters()) count += parameter.value.numel() / (parameter.complex ? 2 : 1);
  return count;
}

/// Holds two networks to have the same parameters, to the bit.
inline void expect_same_parameters(const operators::Network& expected, const operators::Network& found) {
  ASSERT_EQ(expected.parameters().size(), found.parameters().size());
  for (std::size_t i = 0; i < expected.parameters().size(); ++i) {
    const operators::Parameter &one = expected.parameters()[i], &other = found.parameters()[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_TRUE(torch::equal(one.value, other.value)) << one.name;
  }
}

/// The derivatives of an operator at one point, by all numbers of the inputs, as quotients of central differences. They
/// are off by h²/6 times the third derivative, and by rounding over h, which is smaller.
inline std::vector<double> central_differences(const Operator& op, const FieldBatch& inputs, Query query, double h) {
  std::vector<double> found;
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    FieldBatch above = inputs.one(static_cast<std::int64_t>(i / inputs.field_size())), below = above;
    above.values[i % inputs.field_size()] += h;
    below.values[i % inputs.field_size()] -= h;
    found.push_back((op.values_at(above, query)[0] - op.values_at(below, query)[0]) / (2 * h));
  }
  return found;
}

/// The derivatives of Σ cos(output) with respect to the fields and to all parameters.
inline std::vector<torch::Tensor> derivatives(const operators::Network& network, const FieldBatch& inputs,
                                              const std::function<torch::Tensor(const torch::Tensor&)>& output) {
  const torch::Tensor fields = operators::to_tensor(inputs, 0, inputs.batch, network.options()).set_requires_grad(true);
  std::vector<torch::Tensor> of = {fields};
  for (const operators::Parameter& parameter : network.parameters()) of.push_back(parameter.value);
  return torch::autograd::grad({output(fields).cos().sum()}, of);
}

}  // namespace opshap
