#pragma once

#include <memory>

#include "core/estimator.hpp"
#include "estimators/quadrature.hpp"

namespace opshap::estimators {

inline constexpr int default_quadrature_nodes = 50;

/// ∫₀¹ ∂f/∂a_i(t, …, t) dt of a differentiable game by a quadrature: integrated gradients (Sundararajan, Taly, Yan
/// 2017), the Aumann–Shapley value of f.
///
/// It is the Shapley value for games without interactions of three or more players and for multilinear extensions, not
/// in general. Cost: one gradient a node, plus v(∅) and v(N), which the sum of the values meets up to the quadrature
/// error. Throws InvalidArgument unless 1 <= nodes <= 1000.
std::unique_ptr<Estimator> integrated_gradients(Rule rule, int nodes);

}  // namespace opshap::estimators
