#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "metrics/registry.hpp"

namespace opshap::metrics {

namespace {

/// The values times the power of two that brings the largest below 1: no digit is lost, and no square overflows or
/// underflows.
std::vector<double> scaled(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  int exponent = 0;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  std::vector<double> result;
  for (const double value : values) result.push_back(std::ldexp(value, -exponent));
  return result;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Σ(v − mean)², or 0 when that is no more than the rounding of the mean leaves of a constant vector.
double spread(std::span<const double> values, double mean) {
  double squares = 0, largest = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
    largest = std::max(largest, std::abs(value));
  }
  const auto count = static_cast<double>(values.size());
  const double rounding = count * std::numeric_limits<double>::epsilon() * largest;
  return squares <= count * rounding * rounding ? 0 : squares;
}

}  // namespace

Metric describe_pearson() {
  return {.name = "pearson",
          .symbol = "Pearson",
          .range = "[-1, 1]",
          .better = Better::higher,
          .tolerance = 0.02,
          .definition =
              "sample correlation of the attribution with the reference over the players; blind to shifts and scale; "
              "undefined when either is constant",
          .score = [](const Scored& scored) { return pearson(scored.reference, scored.attribution.values); }};
}

Measured pearson(std::span<const double> reference_values, std::span<const double> estimate_values) {
  require(reference_values.size() == estimate_values.size() && !reference_values.empty(),
          "pearson: estimate=", estimate_values.size(), " players (the reference has ", reference_values.size(),
          "). Score attributions of one game.");
  if (reference_values.size() == 1) return Measured::undefined("one player has no correlation");
  const std::vector<double> reference = scaled(reference_values), estimate = scaled(estimate_values);
  const double reference_mean = mean(reference), estimate_mean = mean(estimate);
  const double reference_spread = spread(reference, reference_mean), estimate_spread = spread(estimate, estimate_mean);
  if (reference_spread == 0) return Measured::undefined("constant reference");
  if (estimate_spread == 0) return Measured::undefined("constant attribution");
  double product = 0;
  for (std::size_t i = 0; i < reference.size(); ++i)
    product += (reference[i] - reference_mean) * (estimate[i] - estimate_mean);
  const double correlation = product / std::sqrt(reference_spread) / std::sqrt(estimate_spread);
  if (!std::isfinite(correlation)) return Measured::undefined("an attribution value is not finite");
  return Measured::of(std::clamp(correlation, -1.0, 1.0));
}

}  // namespace opshap::metrics
