#pragma once

#include <vector>

namespace opshap {

/// The Gauss–Legendre rule on [0, 1]: ∫₀¹ f(t) dt ≈ Σ_k weights[k] f(nodes[k]), exact for polynomials of degree 2K − 1.
struct GaussLegendre {
  std::vector<double> nodes;    ///< [K], increasing
  std::vector<double> weights;  ///< [K], summing to 1

  /// K = `count` >= 1. O(K²).
  explicit GaussLegendre(int count);
};

}  // namespace opshap
