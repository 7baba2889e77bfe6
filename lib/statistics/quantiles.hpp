#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opshap::statistics {

/// The mean of a sample and how well it is known.
struct Mean {
  double value = 0;
  double standard_error = 0;  ///< √(Σ(x − mean)² / (count(count − 1))); infinity for a sample of one
  std::size_t count = 0;
};

/// Two passes. Throws InvalidArgument for an empty sample.
Mean mean(std::span<const double> sample);

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

/// P(F > statistic) of Fisher's F with these degrees of freedom, which need not be whole numbers; with infinitely many
/// in the denominator it is that of χ²/numerator. Throws InvalidArgument unless both are positive.
double fisher_tail(double statistic, double numerator, double denominator);

/// The value that χ² with these degrees of freedom is below with this probability. Throws InvalidArgument unless they
/// are positive and the probability is in (0, 1).
double chi_squared_quantile(double probability, double degrees);

/// The same of Student's t, which is what an estimate over its standard error follows where the error is of
/// degrees + 1 normal samples.
double student_quantile(double probability, double degrees);

}  // namespace opshap::statistics
