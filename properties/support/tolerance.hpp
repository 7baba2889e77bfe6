#pragma once

#include <span>
#include <string>
#include <vector>

namespace opshap {

/// How far two numbers may be apart, and why. Made by one of the three functions below only.
struct Tolerance {
  double bound = 0;
  std::string reason;  ///< "rounding", "sampling" or "discretisation"
};

/// `operations` roundings of numbers of size `scale`: operations · 2^-52 · scale. Where a linear system is solved, its
/// condition number is in `operations`.
Tolerance rounding(double operations, double scale);

/// Five standard errors (false alarm 6e-7 a comparison) unless another number is argued for.
Tolerance sampling(double standard_error, double sigmas = 5);

/// constant · h^order.
Tolerance discretisation(double constant, double h, double order);

/// "" when all entries agree, else the worst one in words: "entry 3: expected -10, got 0 (error 10 is 1.1e10 x the
/// rounding tolerance)". Different lengths and NaN never agree.
std::string mismatch(const std::vector<double>& expected, const std::vector<double>& actual,
                     const Tolerance& tolerance);
std::string mismatch(double expected, double actual, const Tolerance& tolerance);

/// The largest absolute value, 0 for none.
double largest(std::span<const double> values);
double sum(std::span<const double> values);

}  // namespace opshap
