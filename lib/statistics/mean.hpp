#pragma once

#include <cstddef>
#include <span>

namespace opshap::statistics {

/// The mean of a sample and how well it is known.
struct Mean {
  double value = 0;
  double standard_error = 0;  ///< √(Σ(x − mean)² / (count(count − 1))); infinity for a sample of one
  std::size_t count = 0;
};

/// Two passes. Throws InvalidArgument for an empty sample.
Mean mean(std::span<const double> sample);

}  // namespace opshap::statistics
