#include "statistics/mean.hpp"

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

}  // namespace opshap::statistics
