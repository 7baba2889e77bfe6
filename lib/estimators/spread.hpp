#pragma once

#include <cstdint>

namespace opshap::estimators {

/// A running mean and the sum of squares about it (Welford 1962).
struct Spread {
  double mean = 0, squares = 0;
  std::int64_t count = 0;

  void add(double value) {
    const double before = value - mean;
    mean += before / static_cast<double>(++count);
    squares += before * (value - mean);
  }
  /// Of a value; 0 of a single one.
  double variance() const { return count > 1 ? squares / static_cast<double>(count - 1) : 0; }
  /// Of the mean.
  double variance_of_mean() const { return variance() / static_cast<double>(count); }
  /// Of the sum of the values.
  double variance_of_sum() const { return variance() * static_cast<double>(count); }
  double sum() const { return mean * static_cast<double>(count); }
};

}  // namespace opshap::estimators
