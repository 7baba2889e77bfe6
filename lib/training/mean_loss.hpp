#pragma once

#include <cstddef>
#include <vector>

#include "training/ranks.hpp"

namespace opshap::training {

/// The mean loss of an epoch or a validation over its samples, from what each rank has of each batch's mean loss.
class MeanLoss {
 public:
  /// What this rank has of the mean loss of a batch of `samples`, of all ranks together.
  void add(double loss, std::size_t samples) {
    sum_ += loss * static_cast<double>(samples);
    samples_ += samples;
  }
  /// The mean over all samples, the same on every rank.
  double over(const Ranks& ranks) const {
    std::vector<double> sum = {sum_};
    ranks.add(std::span<double>(sum));
    return sum.front() / static_cast<double>(samples_);
  }

 private:
  double sum_ = 0;
  std::size_t samples_ = 0;
};

}  // namespace opshap::training
