#include "core/measured.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace opshap {

double norm(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) return std::abs(value);
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest);
  double squares = 0;
  for (const double value : values) {
    const double scaled = std::ldexp(value, -exponent);
    squares += scaled * scaled;
  }
  return std::ldexp(std::sqrt(squares), exponent);
}

double root_mean_square(std::span<const double> values) {
  return values.empty() ? 0 : norm(values) / std::sqrt(static_cast<double>(values.size()));
}

double distance(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.begin(), a.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b[i];
  return norm(difference);
}

Measured relative(double error, double size) {
  if (!std::isfinite(error) || !std::isfinite(size)) return Measured::undefined("a value is not finite");
  if (error == 0) return Measured::of(0);
  if (size == 0) return Measured::undefined("relative to 0");
  const double ratio = error / size;
  return std::isfinite(ratio) ? Measured::of(ratio) : Measured::undefined("relative to 0, but for rounding");
}

}  // namespace opshap
