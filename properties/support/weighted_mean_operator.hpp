#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/operator.hpp"

namespace opshap {

/// G(u)(x) = m(x) + c·m(x)³ with m the mean of u weighted by 1 + cos 2π(x − y): cheap, smooth, any resolution, with
/// closed forms.
///
/// For c = 0 it is linear, and the Shapley value of cell i is its own term of the mean, whatever the resolution.
class WeightedMeanOperator : public Operator {
 public:
  explicit WeightedMeanOperator(double cubic) : cubic_(cubic) {}

  std::string describe() const override { return "weighted mean with cubic term " + std::to_string(cubic_); }
  int dimension() const override { return 1; }
  int input_channels() const override { return 1; }
  int output_channels() const override { return 1; }

  FieldBatch apply(const FieldBatch& inputs) const override {
    FieldBatch outputs = inputs;
    for (std::int64_t b = 0; b < inputs.batch; ++b) {
      for (int x = 0; x < inputs.domain.shape()[0]; ++x) {
        const double m = mean(inputs.field(b), x);
        outputs.field(b)[static_cast<std::size_t>(x)] = m + cubic_ * m * m * m;
      }
    }
    return outputs;
  }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    return at_means(
        inputs, readout, [](double u, std::size_t, std::int64_t) { return u; },
        [](std::size_t, std::int64_t) { return 1.0; });
  }

  bool has_mean_field() const override { return true; }

  /// The mean is all that G sees: F(t) = m + c·m³ with m the mean of t·shown + (1 − t)·hidden.
  Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                         const Readout& readout) const override {
    const auto of = [](const FieldBatch& states, std::size_t y, std::int64_t b) {
      return states.field(std::min(b, states.batch - 1))[y];
    };
    const auto gain = [&](std::size_t y, std::int64_t b) { return of(shown, y, b) - of(hidden, y, b); };
    return at_means(
        inclusion, readout, [&](double t, std::size_t y, std::int64_t b) { return of(hidden, y, b) + t * gain(y, b); },
        gain);
  }

  /// What there is to know of cells that have these parts of the mean: Aumann–Shapley and Shapley values.
  std::pair<std::vector<double>, std::vector<double>> solution(const std::vector<double>& part) const {
    const double total = std::accumulate(part.begin(), part.end(), 0.0),
                 squares = std::inner_product(part.begin(), part.end(), part.begin(), 0.0);
    std::vector<double> aumann_shapley, shapley;
    for (const double own : part) {
      aumann_shapley.push_back(own * (1 + cubic_ * total * total));
      shapley.push_back(aumann_shapley.back() + cubic_ * own * (squares - total * own) / 2);
    }
    return {std::move(aumann_shapley), std::move(shapley)};
  }

  /// How much the mean at point x depends on the value at point y, of n: the weights of a point add up to 1.
  static double weight(int x, int y, int n) { return (1 + std::cos(2 * std::numbers::pi * (x - y) / n)) / n; }

 private:
  /// m + c·m³ of the mean m of what the numbers of each point give, and its derivatives by them, with their slopes.
  Gradient at_means(const FieldBatch& numbers, const Readout& readout, const auto& given, const auto& slope) const {
    if (!readout.is_query())
      return by_queries(readout, [&](Query each) { return at_means(numbers, each, given, slope); });
    Gradient result{.gradient = FieldBatch::zeros(numbers.domain, numbers.batch, 1)};
    const int n = numbers.domain.shape()[0], x = static_cast<int>(readout.query().point);
    for (std::int64_t b = 0; b < numbers.batch; ++b) {
      double m = 0;
      for (int y = 0; y < n; ++y)
        m += weight(x, y, n) * given(numbers.field(b)[static_cast<std::size_t>(y)], static_cast<std::size_t>(y), b);
      result.values.push_back(m + cubic_ * m * m * m);
      for (int y = 0; y < n; ++y)
        result.gradient.field(b)[static_cast<std::size_t>(y)] =
            (1 + 3 * cubic_ * m * m) * weight(x, y, n) * slope(static_cast<std::size_t>(y), b);
    }
    return result;
  }

  static double mean(std::span<const double> u, int x) {
    double sum = 0;
    for (std::size_t y = 0; y < u.size(); ++y) sum += weight(x, static_cast<int>(y), static_cast<int>(u.size())) * u[y];
    return sum;
  }

  double cubic_;
};

/// The mean over a domain in the plane with the weight 1 + cos 2πx, which each point counts by its volume. The Shapley
/// value of a player is what its points have of it.
class PlaneMeanOperator final : public Operator {
 public:
  std::string describe() const override { return "weighted mean over the plane"; }
  int dimension() const override { return 2; }
  int input_channels() const override { return 1; }
  int output_channels() const override { return 1; }

  FieldBatch apply(const FieldBatch& inputs) const override {
    FieldBatch outputs = inputs;
    for (std::int64_t b = 0; b < inputs.batch; ++b) {
      double mean = 0;
      for (std::int64_t point = 0; point < inputs.domain.points(); ++point) mean += share(inputs, b, point);
      std::ranges::fill(outputs.field(b), mean);
    }
    return outputs;
  }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    Gradient found{.values = values_at(inputs, readout), .gradient = inputs};
    FieldBatch ones = inputs;
    std::ranges::fill(ones.values, 1.0);
    for (std::int64_t b = 0; b < inputs.batch; ++b)
      for (std::int64_t point = 0; point < inputs.domain.points(); ++point)
        found.gradient.field(b)[static_cast<std::size_t>(point)] = share(ones, b, point);
    return found;
  }

  /// What a point has of the mean.
  static double share(const FieldBatch& inputs, std::int64_t b, std::int64_t point) {
    const double weight = 1 + std::cos(2 * std::numbers::pi * inputs.domain.position(point)[0]);
    return weight * inputs.field(b)[static_cast<std::size_t>(point)] * inputs.domain.volume(point) /
           inputs.domain.volume();
  }
};

}  // namespace opshap
