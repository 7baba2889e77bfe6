#include "statistics/quantiles.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace opshap::statistics {

namespace {

void sort_sample(std::vector<double>& sample) {
  require(!sample.empty(), "quantile: sample=0 values (has no quantiles). Give at least one.");
  require(std::none_of(sample.begin(), sample.end(), [](double value) { return std::isnan(value); }),
          "quantile: sample (holds a NaN). Leave undefined values out and count them.");
  std::sort(sample.begin(), sample.end());
}

double quantile_of_sorted(const std::vector<double>& sample, double p) {
  const double position = static_cast<double>(sample.size() - 1) * p;
  const auto below = static_cast<std::size_t>(position);
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0) return sample[below];
  const double low = sample[below], high = sample[below + 1];
  if (low == high) return low;  // also where both are infinite
  const double step = high - low;
  return std::isfinite(step) ? low + fraction * step : (1 - fraction) * low + fraction * high;
}

}  // namespace

double quantile(std::vector<double> sample, double p) {
  require(p >= 0 && p <= 1, "quantile: p=", p, " (is no probability). Give 0..1.");
  sort_sample(sample);
  return quantile_of_sorted(sample, p);
}

Quartiles quartiles(std::vector<double> sample) {
  sort_sample(sample);
  return {.q25 = quantile_of_sorted(sample, 0.25),
          .median = quantile_of_sorted(sample, 0.5),
          .q75 = quantile_of_sorted(sample, 0.75),
          .count = sample.size()};
}

}  // namespace opshap::statistics
