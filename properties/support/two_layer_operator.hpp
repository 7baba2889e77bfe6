#pragma once

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "core/operator.hpp"

namespace opshap {

/// G(u)_o(x) = Σ_y k(x, y) tanh(3 Σ_z k(y, z) Σ_c a_oc u_c(z)) with k a product of (1 + cos 2π(x − y)/n)/n over the
/// axes: smooth, nonlinear, not local.
///
/// One or two axes, any channels; a_oc = cos(o + 2c). O(points²) a field. It likes batches of 5, so that games cut
/// their work.
class TwoLayerOperator final : public Operator {
 public:
  TwoLayerOperator(int dimension, int channels) : dimension_(dimension), channels_(channels) {}

  std::string describe() const override { return "two layers on " + std::to_string(dimension_) + " axes"; }
  int dimension() const override { return dimension_; }
  int input_channels() const override { return channels_; }
  int output_channels() const override { return 2; }
  std::int64_t preferred_batch(const Domain&) const override { return 5; }

  FieldBatch apply(const FieldBatch& inputs) const override {
    FieldBatch outputs = FieldBatch::zeros(inputs.domain, inputs.batch, 2);
    const std::vector<double> k = kernel(inputs.domain);
    const auto points = static_cast<std::size_t>(inputs.domain.points());
    for (std::int64_t b = 0; b < inputs.batch; ++b) {
      for (int channel = 0; channel < 2; ++channel) {
        const std::vector<double> hidden = hidden_layer(inputs.field(b), k, channel);
        for (std::size_t x = 0; x < points; ++x) {
          double& sum = outputs.field(b)[static_cast<std::size_t>(channel) * points + x];
          for (std::size_t y = 0; y < points; ++y) sum += k[x * points + y] * std::tanh(hidden[y]);
        }
      }
    }
    return outputs;
  }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    if (!readout.is_query()) return by_queries(readout, [&](Query each) { return gradient_at(inputs, each); });
    const Query query = readout.query();
    Gradient result{.values = values_at(inputs, query),
                    .gradient = FieldBatch::zeros(inputs.domain, inputs.batch, channels_)};
    const std::vector<double> k = kernel(inputs.domain);
    const auto points = static_cast<std::size_t>(inputs.domain.points());
    for (std::int64_t b = 0; b < inputs.batch; ++b) {
      const std::vector<double> hidden = hidden_layer(inputs.field(b), k, query.channel);
      for (std::size_t y = 0; y < points; ++y) {
        const double slope =
            3 * k[static_cast<std::size_t>(query.point) * points + y] / std::pow(std::cosh(hidden[y]), 2);
        for (int channel = 0; channel < channels_; ++channel) {
          for (std::size_t z = 0; z < points; ++z)
            result.gradient.field(b)[static_cast<std::size_t>(channel) * points + z] +=
                slope * k[y * points + z] * mixing(query.channel, channel);
        }
      }
    }
    return result;
  }

 private:
  static double mixing(int out, int in) { return std::cos(out + 2 * in); }

  static std::vector<double> kernel(const Domain& domain) {
    const auto points = static_cast<std::size_t>(domain.points());
    const int columns = domain.shape().back(), rows = domain.dimension() == 2 ? domain.shape()[0] : 1;
    const auto factors = [](int n) {
      std::vector<double> factors;
      for (int distance = 0; distance < n; ++distance)
        factors.push_back((1 + std::cos(2 * std::numbers::pi * distance / n)) / n);
      return factors;
    };
    const std::vector<double> across = factors(columns), along = rows == 1 ? std::vector<double>{1.0} : factors(rows);
    std::vector<double> k(points * points);
    for (std::size_t i = 0; i < k.size(); ++i) {
      const int x = static_cast<int>(i / points), y = static_cast<int>(i % points);
      k[i] = across[static_cast<std::size_t>(std::abs(x % columns - y % columns))] *
             along[static_cast<std::size_t>(std::abs(x / columns - y / columns))];
    }
    return k;
  }

  std::vector<double> hidden_layer(std::span<const double> field, const std::vector<double>& k, int out) const {
    const std::size_t points = field.size() / static_cast<std::size_t>(channels_);
    std::vector<double> mixed(points, 0.0), hidden(points, 0.0);
    for (std::size_t i = 0; i < field.size(); ++i)
      mixed[i % points] += mixing(out, static_cast<int>(i / points)) * field[i];
    for (std::size_t y = 0; y < points; ++y)
      for (std::size_t z = 0; z < points; ++z) hidden[y] += 3 * k[y * points + z] * mixed[z];
    return hidden;
  }

  int dimension_, channels_;
};

}  // namespace opshap
