#include "core/gauss_legendre.hpp"

#include <boost/math/special_functions/legendre.hpp>
#include <cmath>
#include <cstddef>

#include "core/error.hpp"

namespace opshap {

GaussLegendre::GaussLegendre(int count) {
  require(count >= 1, "gauss_legendre: nodes=", count, " (a rule has at least one). Give a number from 1.");
  const auto size = static_cast<std::size_t>(count);
  nodes.resize(size);
  weights.resize(size);
  // Boost gives the zeros x >= 0 of P_K in increasing order; on [-1, 1] the weight of x is 2/((1 - x²) P_K'(x)²).
  const std::vector<double> zeros = boost::math::legendre_p_zeros<double>(count);
  for (std::size_t k = 0; k < zeros.size(); ++k) {
    const double slope = boost::math::legendre_p_prime(count, zeros[k]);
    const double weight = 1 / ((1 - zeros[k] * zeros[k]) * slope * slope);
    const std::size_t right = size - zeros.size() + k, left = zeros.size() - 1 - k;
    nodes[right] = (1 + zeros[k]) / 2;
    nodes[left] = (1 - zeros[k]) / 2;
    weights[right] = weights[left] = weight;
  }
}

Grading::Grading(double ratio) : log_ratio_(std::log(ratio)) {
  require(ratio >= 1 / most && ratio <= most, "grading: ratio=", ratio, " (needs ", 1 / most, "..", most,
          "; 1 makes equal cells). Give a ratio in that range.");
}

double Grading::operator()(double x) const {
  return log_ratio_ == 0 ? x : std::expm1(x * log_ratio_) / std::expm1(log_ratio_);
}

double Grading::inverse(double y) const {
  return log_ratio_ == 0 ? y : std::log1p(y * std::expm1(log_ratio_)) / log_ratio_;
}

}  // namespace opshap
