#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"

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

inline constexpr int default_quadrature_nodes = 50;

/// ∫₀¹ ∂f/∂a_i(t, …, t) dt of a differentiable game by a quadrature: integrated gradients (Sundararajan, Taly, Yan
/// 2017), the Aumann–Shapley value of f.
///
/// It is the Shapley value for games without interactions of three or more players and for multilinear extensions, not
/// in general. Cost: one gradient a node, plus v(∅) and v(N), which the sum of the values meets up to the quadrature
/// error. Throws InvalidArgument unless 1 <= nodes <= 1000.
std::unique_ptr<Estimator> integrated_gradients(Rule rule, int nodes);

inline constexpr int default_mean_field_nodes = 16;

/// ∫₀¹ ∂F/∂a_i(t, …, t) dt of a game's mean-field closure F by Gauss–Legendre: the Shapley value with Owen's
/// multilinear extension (1972) replaced by F.
///
/// Deterministic. For a neural operator whose nonlocal layers are integrals over the whole field (FNO) the error is
/// O(1/n) relative to the values, since those integrals fluctuate by O(n^-1/2) and enter at second order; it is 0 where
/// no interaction involves more than two players. Where the nonlocal layers are stencils of a few cells, the error does
/// not vanish. The query's own cell keeps a share that does not shrink with its volume. Cost: one reverse pass of two
/// branches a node, about six forward passes; plus v(∅) and v(N), which the values meet up to the quadrature error.
/// Throws InvalidArgument for a game without closure, and unless 1 <= nodes <= 1000.
std::unique_ptr<Estimator> mean_field(int nodes);

}  // namespace opshap::estimators
