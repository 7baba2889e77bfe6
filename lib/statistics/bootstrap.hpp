#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/rng.hpp"

namespace opshap::statistics {

/// Where a number lies when its inputs are drawn anew.
struct Interval {
  double low = 0, high = 0;
};

/// One draw of the inputs of a sample, with replacement, and a stream for whatever else is uncertain.
struct Draw {
  std::vector<std::size_t> inputs;  ///< as many indices as there are inputs
  Rng noise;
};

/// A number made of the drawn inputs. Infinity is allowed and sorts last; NaN is not.
using Statistic = std::function<double(Draw&)>;

/// Percentile bootstrap (Efron 1979) over inputs. It is paired: whatever the statistic looks at, it looks at the same
/// inputs. It says how sure the statistic is about inputs of the same law, not about another training or another law.
///
/// Deterministic in the seed. Cost: resamples × statistic. Throws InvalidArgument for no inputs, a confidence outside
/// (0, 1), no resamples, or a statistic that is NaN.
Interval bootstrap(std::size_t inputs, const Statistic& statistic, std::uint64_t seed, double confidence = 0.95,
                   int resamples = 1000);

}  // namespace opshap::statistics
