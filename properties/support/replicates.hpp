#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace opshap {

/// Numbers over replicates of an estimate: their means, and how far these scatter.
class Replicates {
 public:
  void add(const std::vector<double>& values) {
    ++count_;
    sums_.resize(values.size());
    squares_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums_[i] += values[i];
      squares_[i] += values[i] * values[i];
    }
  }
  void add(double value) { add(std::vector{value}); }

  double count() const { return count_; }
  double mean(std::size_t i = 0) const { return sums_[i] / count_; }
  /// The standard deviation of one replicate, and the standard error of the mean.
  double spread(std::size_t i = 0) const { return std::sqrt(std::max(0.0, squares_[i] / count_ - mean(i) * mean(i))); }
  double error(std::size_t i = 0) const { return spread(i) / std::sqrt(count_ - 1); }

 private:
  double count_ = 0;
  std::vector<double> sums_, squares_;
};

}  // namespace opshap
