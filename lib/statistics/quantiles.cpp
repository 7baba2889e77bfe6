#include "statistics/quantiles.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"

namespace opshap::statistics {

Mean mean(std::span<const double> sample) {
  require(!sample.empty(), "mean: sample=0 values (has no mean). Give at least one.");
  const auto count = static_cast<double>(sample.size());
  double value = std::accumulate(sample.begin(), sample.end(), 0.0) / count;
  if (!std::isfinite(value)) {  // the sum may be beyond all numbers where the mean is none of them
    value = 0;
    for (const double x : sample) value += x / count;
  }
  double squares = 0;
  for (const double x : sample) squares += (x - value) * (x - value);
  const double error =
      sample.size() == 1 ? std::numeric_limits<double>::infinity() : std::sqrt(squares / (count * (count - 1)));
  return {.value = value, .standard_error = error, .count = sample.size()};
}

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

double fisher_tail(double statistic, double numerator, double denominator) {
  require(numerator > 0 && denominator > 0, "fisher tail: degrees of freedom=", numerator, ", ", denominator,
          " (must be positive). Give samples of two or more.");
  if (std::isinf(statistic)) return 0;
  const double clamped = std::max(statistic, 0.0);
  // From here on the two laws agree to 1e-8, and the incomplete beta function loses digits.
  if (denominator > 1e9) return boost::math::cdf(complement(boost::math::chi_squared(numerator), numerator * clamped));
  return boost::math::cdf(complement(boost::math::fisher_f(numerator, denominator), clamped));
}

double chi_squared_quantile(double probability, double degrees) {
  require(probability > 0 && probability < 1 && degrees > 0, "chi squared quantile: probability=", probability,
          ", degrees of freedom=", degrees, " (must be in (0, 1), and positive). Give samples of two or more.");
  return boost::math::quantile(boost::math::chi_squared(degrees), probability);
}

double student_quantile(double probability, double degrees) {
  require(probability > 0 && probability < 1 && degrees > 0, "student quantile: probability=", probability,
          ", degrees of freedom=", degrees, " (must be in (0, 1), and positive). Give samples of two or more.");
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

}  // namespace opshap::statistics
