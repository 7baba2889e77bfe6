#include "engines/gelu_table.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace opshap::engines {

namespace {

double g(double t) { return 0.5 * t * std::erfc(t / std::numbers::sqrt2); }

double g_slope(double t) {
  const double density = std::exp(-t * t / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return 0.5 * std::erfc(t / std::numbers::sqrt2) - t * density;
}

/// Coefficients of the polynomial through (u_j, y_j), by divided differences and Horner's expansion.
std::vector<double> interpolate(const std::vector<double>& u, std::vector<double> y) {
  const std::size_t count = u.size();
  for (std::size_t order = 1; order < count; ++order) {
    for (std::size_t j = count - 1; j >= order; --j) y[j] = (y[j] - y[j - 1]) / (u[j] - u[j - order]);
  }
  std::vector<double> polynomial(count, 0.0);
  for (std::size_t j = count; j-- > 0;) {
    for (std::size_t d = count - 1; d > 0; --d) polynomial[d] = polynomial[d - 1] - u[j] * polynomial[d];
    polynomial[0] = y[j] - u[j] * polynomial[0];
  }
  return polynomial;
}

}  // namespace

GeluTable::GeluTable(int intervals, int degree, Of of) {
  const auto function = of == Of::value ? g : g_slope;
  std::vector<double> u, y;
  for (int i = 0; i < intervals; ++i) {
    u.clear();
    y.clear();
    for (int node = 0; node <= degree; ++node) {
      // Interval 0 holds t >= 0 alone; g is smooth there, and its nodes stay inside.
      const double unit = std::cos(std::numbers::pi * (node + 0.5) / (degree + 1)) / 2;
      u.push_back(i == 0 ? (unit + 0.5) / 2 : unit);
      y.push_back(function((i + u.back()) / static_cast<double>(scale(intervals))));
    }
    const std::vector<double> polynomial = interpolate(u, y);
    for (int d = 0; d <= degree; ++d) coefficients[d][i] = static_cast<float>(polynomial[static_cast<std::size_t>(d)]);
  }
}

}  // namespace opshap::engines
