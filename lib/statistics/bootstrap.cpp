#include "statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace opshap::statistics {

namespace {

/// The order statistic below a lower end and above an upper one: no interpolation, so infinity stays infinity.
double order_statistic(const std::vector<double>& sorted, double p, bool upper) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(upper ? std::ceil(position) : std::floor(position))];
}

}  // namespace

Interval bootstrap(std::size_t inputs, const Statistic& statistic, std::uint64_t seed, double confidence,
                   int resamples) {
  require(inputs > 0, "bootstrap: inputs=0 (nothing to draw from). Give at least one input.");
  require(confidence > 0 && confidence < 1 && resamples > 0, "bootstrap: confidence=", confidence,
          ", resamples=", resamples, " (needs 0 < confidence < 1 and a resample). Use 0.95 and 1000.");
  std::vector<double> found;
  for (int resample = 0; resample < resamples; ++resample) {
    const auto item = static_cast<std::uint64_t>(resample);
    Rng choice(seed, "bootstrap inputs", 0, item);
    Draw draw{.inputs = std::vector<std::size_t>(inputs), .noise = Rng(seed, "bootstrap inputs", 1, item)};
    for (std::size_t& input : draw.inputs) input = choice.below(inputs);
    found.push_back(statistic(draw));
    require(!std::isnan(found.back()), "bootstrap: statistic of resample ", resample,
            " (is not a number). Leave inputs out for which it is undefined.");
  }
  std::sort(found.begin(), found.end());
  const double tail = (1 - confidence) / 2;
  return {.low = order_statistic(found, tail, false), .high = order_statistic(found, 1 - tail, true)};
}

}  // namespace opshap::statistics
