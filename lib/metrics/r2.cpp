#include <algorithm>
#include <cmath>
#include <limits>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "metrics/registry.hpp"

namespace opshap::metrics {

Metric describe_r2() {
  return {
      .name = "r2",
      .symbol = "R²",
      .range = "(-inf, 1]",
      .better = Better::higher,
      .tolerance = 0.05,
      .definition =
          "share of the variance of v(S) - v(empty) over 10 000 coalitions drawn from the Shapley kernel law that "
          "the attribution's sums over S explain (weighted R², faithfulness); needs no reference; nearly blind for "
          "many players; undefined when v is the same on all of them",
      .score =
          [](const Scored& scored) { return weighted_r2(scored.attribution.values, *scored.coalitions, scored.gains); },
      .needs_coalitions = true};
}

Measured weighted_r2(std::span<const double> values, const Coalitions& coalitions, std::span<const double> gains) {
  require(values.size() == static_cast<std::size_t>(coalitions.players()), "r2: values=", values.size(),
          " (the coalitions have ", coalitions.players(), " players). Score attributions of one game.");
  require(gains.size() == coalitions.size() && !gains.empty(), "r2: gains=", gains.size(), " (there are ",
          coalitions.size(), " coalitions). Give one value a coalition.");
  const auto count = static_cast<double>(gains.size());
  double largest = 0;
  for (const double gain : gains) largest = std::isnan(gain) ? gain : std::max(largest, std::abs(gain));
  if (!std::isfinite(largest)) return Measured::undefined("a value is not finite");
  // In units of the largest gain, by a power of two, so that squares of tiny games do not underflow.
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  const auto scaled = [exponent](double value) { return std::ldexp(value, -exponent); };
  double mean = 0, residual = 0, variance = 0;
  for (const double gain : gains) mean += scaled(gain);
  mean /= count;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    residual += std::pow(scaled(gains[i] - coalition_sum(values, coalitions.row(i))), 2);
    variance += std::pow(scaled(gains[i]) - mean, 2);
  }
  if (!std::isfinite(residual)) return Measured::undefined("a value is not finite");
  // What the rounding of the mean leaves of gains that are all equal.
  if (variance <= count * std::pow(count * std::numeric_limits<double>::epsilon() * scaled(largest), 2))
    return Measured::undefined("v is the same on all coalitions");
  return Measured::of(1 - residual / variance);
}

}  // namespace opshap::metrics
