#pragma once

#include <string_view>
#include <vector>

namespace opshap::estimators {

/// How an integral over [0, 1] is replaced by a sum.
enum class Rule {
  midpoint,        ///< t_k = (k − ½)/K, equal weights; exact for polynomials of degree 1
  gauss_legendre,  ///< exact for polynomials of degree 2K − 1
};

/// "midpoint" or "gauss_legendre". Throws InvalidArgument for another name.
Rule find_rule(std::string_view name);

struct Quadrature {
  std::vector<double> nodes;    ///< [K], increasing
  std::vector<double> weights;  ///< [K], summing to 1

  /// Σ_k w_k f(t_k) of vector values [K, n] row-major: [n].
  std::vector<double> integral(const std::vector<double>& values) const;
};

inline constexpr int max_quadrature_nodes = 1000;

/// Throws InvalidArgument unless 1 <= nodes <= 1000; `who` starts the message.
Quadrature quadrature(Rule rule, int nodes, std::string_view who = "quadrature");

}  // namespace opshap::estimators
