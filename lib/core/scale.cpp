#include "core/scale.hpp"

#include <algorithm>
#include <cmath>

namespace opshap {

std::optional<int> Scale::see(std::span<const double> numbers) {
  const std::optional<int> largest = largest_exponent(numbers);
  if (!exponent_) exponent_ = largest;
  if (!largest || *largest < *exponent_ + most_bits) return std::nullopt;
  return largest;
}

double Scale::inside(double number) const { return std::ldexp(number, -exponent_.value_or(0)); }

std::vector<double> Scale::inside(std::vector<double> numbers) const {
  if (exponent_.value_or(0) == 0) return numbers;
  for (double& number : numbers) number = inside(number);
  return numbers;
}

double Scale::outside(double number) const { return std::ldexp(number, exponent_.value_or(0)); }

std::vector<double> Scale::outside(std::vector<double> numbers) const {
  if (exponent_.value_or(0) == 0) return numbers;
  for (double& number : numbers) number = outside(number);
  return numbers;
}

std::optional<int> largest_exponent(std::span<const double> numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  if (largest == 0) return std::nullopt;
  return std::ilogb(largest);
}

}  // namespace opshap
