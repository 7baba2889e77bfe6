#pragma once

#include <cstddef>
#include <vector>

namespace opshap::statistics {

/// Median and quartiles of a sample, with its size.
struct Quartiles {
  double q25 = 0, median = 0, q75 = 0;
  std::size_t count = 0;
};

/// The p-quantile of a sample: linear interpolation between order statistics at position (count − 1)·p (type 7 of
/// Hyndman and Fan 1996, the default of R and NumPy). Throws InvalidArgument for an empty sample, a value that is NaN,
/// or p outside [0, 1].
double quantile(std::vector<double> sample, double p);

/// All three by quantile(). Throws InvalidArgument for an empty sample.
Quartiles quartiles(std::vector<double> sample);

}  // namespace opshap::statistics
