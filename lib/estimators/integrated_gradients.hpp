#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"

namespace opshap {

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

inline constexpr int default_quadrature_nodes = 50;
inline constexpr int max_quadrature_nodes = 1000;

/// Throws InvalidArgument unless 1 <= nodes <= 1000.
Quadrature quadrature(Rule rule, int nodes);

/// ∫₀¹ ∂f/∂a_i(t, …, t) dt of a differentiable game by a quadrature: integrated gradients (Sundararajan, Taly, Yan 2017), the Aumann–Shapley value of f.
///
/// It is the Shapley value for games without interactions of three or more players and for multilinear extensions, not in general.
/// Cost: one gradient a node, plus v(∅) and v(N), which the sum of the values meets up to the quadrature error.
std::unique_ptr<Estimator> integrated_gradients(Rule rule, int nodes);

}  // namespace opshap
