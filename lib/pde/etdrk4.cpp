#include "pde/etdrk4.hpp"

#include <cmath>
#include <numbers>

namespace opshap::pde {

Etdrk4::Etdrk4(std::span<const double> linear, double step)
    : a_(linear.size()), b_(a_), at_a_(a_), at_b_(a_), at_c_(a_) {
  constexpr int points = 32;
  for (const double value : linear) {
    full_.push_back(std::exp(step * value));
    half_.push_back(std::exp(step * value / 2));
    double stage = 0, first = 0, middle = 0, last = 0;
    for (int j = 0; j < points; ++j) {
      // The functions are real on the real line, so the upper half of the circle has the mean of the whole.
      const std::complex<double> z = step * value + std::polar(1.0, std::numbers::pi * (j + 0.5) / points);
      const std::complex<double> e = std::exp(z), cube = z * z * z;
      stage += ((std::exp(z / 2.0) - 1.0) / z).real();
      first += ((-4.0 - z + e * (4.0 - 3.0 * z + z * z)) / cube).real();
      middle += (2.0 * (2.0 + z + e * (z - 2.0)) / cube).real();
      last += ((-4.0 - 3.0 * z - z * z + e * (4.0 - z)) / cube).real();
    }
    stage_.push_back(step * stage / points);
    first_.push_back(step * first / points);
    middle_.push_back(step * middle / points);
    last_.push_back(step * last / points);
  }
}

}  // namespace opshap::pde
