#include "support/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <sstream>

namespace opshap {

Tolerance rounding(double operations, double scale) {
  return {operations * std::numeric_limits<double>::epsilon() * scale, "rounding"};
}

Tolerance sampling(double standard_error, double sigmas) { return {sigmas * standard_error, "sampling"}; }

Tolerance discretisation(double constant, double h, double order) {
  return {constant * std::pow(h, order), "discretisation"};
}

std::string mismatch(const std::vector<double>& expected, const std::vector<double>& actual,
                     const Tolerance& tolerance) {
  std::ostringstream words;
  words.precision(17);
  if (expected.size() != actual.size()) {
    words << "expected " << expected.size() << " entries, got " << actual.size();
    return words.str();
  }
  std::size_t worst = expected.size();
  double worst_error = tolerance.bound;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(actual[i] - expected[i]);
    if (error <= worst_error) continue;  // false for NaN
    worst = i;
    worst_error = error;
    if (std::isnan(error)) break;
  }
  if (worst == expected.size()) return "";
  words << "entry " << worst << ": expected " << expected[worst] << ", got " << actual[worst];
  words.precision(3);
  words << " (error " << worst_error << " is " << worst_error / tolerance.bound << " x the " << tolerance.reason
        << " tolerance)";
  return words.str();
}

std::string mismatch(double expected, double actual, const Tolerance& tolerance) {
  return mismatch(std::vector<double>{expected}, std::vector<double>{actual}, tolerance);
}

double largest(std::span<const double> values) {
  double found = 0;
  for (const double value : values) found = std::max(found, std::abs(value));
  return found;
}

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace opshap
