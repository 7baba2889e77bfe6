#include "evaluation/cross_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/error.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::evaluation {

CrossCheck cross_check(const Estimate& a, const Estimate& b, double dimension, double rounding) {
  require(a.values.size() == b.values.size() && !a.values.empty(), "cross-check: players=", b.values.size(),
          " (the other estimate has ", a.values.size(), "). Compare estimates of one game.");
  double distance = 0, variance_a = 0, variance_b = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    distance += std::pow(a.values[i] - b.values[i], 2);
    variance_a += std::pow(a.standard_errors[i], 2);
    variance_b += std::pow(b.standard_errors[i], 2);
  }
  const double variance = variance_a + variance_b + 2 * rounding * rounding * static_cast<double>(a.values.size());
  if (variance == 0) return {.statistic = distance == 0 ? 0.0 : HUGE_VAL, .p_value = distance == 0 ? 1.0 : 0.0};
  // Of a sum of two estimated variances (Satterthwaite 1946).
  const double spread = variance_a * variance_a / a.degrees + variance_b * variance_b / b.degrees;
  CrossCheck check{.statistic = distance / variance, .numerator_degrees = dimension};
  check.denominator_degrees = spread > 0 ? dimension * variance * variance / spread : HUGE_VAL;
  check.p_value = statistics::fisher_tail(check.statistic, check.numerator_degrees, check.denominator_degrees);
  return check;
}

double effective_dimension(const std::vector<std::vector<double>>& samples) {
  const std::size_t count = samples.size();
  require(count >= 3, "effective dimension: samples=", count, " (needs three). Draw more.");
  const std::size_t n = samples.front().size();
  std::vector<double> mean(n, 0.0);
  for (const auto& sample : samples) {
    for (std::size_t i = 0; i < n; ++i) mean[i] += sample[i] / static_cast<double>(count);
  }
  // The traces of the sample covariance and of its square, from the inner products of the centred samples.
  const auto degrees = static_cast<double>(count - 1);
  double trace = 0, trace_of_square = 0;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t l = 0; l < count; ++l) {
      double product = 0;
      for (std::size_t i = 0; i < n; ++i) product += (samples[k][i] - mean[i]) * (samples[l][i] - mean[i]);
      trace_of_square += product * product / (degrees * degrees);
      if (k == l) trace += product / degrees;
    }
  }
  const double most = std::max(1.0, static_cast<double>(n) - 1);
  if (!(trace > 0)) return most;
  const double factor = degrees * degrees / ((degrees - 1) * (degrees + 2));
  const double square = factor * (trace_of_square - trace * trace / degrees);
  const double squared_trace = std::max(0.0, trace * trace - 2 * square / degrees);
  return square * most <= squared_trace ? most : std::clamp(squared_trace / square, 1.0, most);
}

double least_dimension(const std::vector<std::vector<double>>& samples) {
  if (samples.size() < 3) return 1;
  const auto products = static_cast<double>(samples.size() * (samples.size() - 1) / 2);
  return std::max(1.0, effective_dimension(samples) * statistics::chi_squared_quantile(0.05, products) / products);
}

double dimension_of_sum(double variance_a, double dimension_a, double variance_b, double dimension_b) {
  const double variance = variance_a + variance_b;
  if (variance == 0) return std::min(dimension_a, dimension_b);
  return std::pow(variance / (variance_a / std::sqrt(dimension_a) + variance_b / std::sqrt(dimension_b)), 2);
}

}  // namespace opshap::evaluation
