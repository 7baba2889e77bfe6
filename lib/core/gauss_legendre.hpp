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

/// A smooth increasing map of [0, 1] onto itself, x ↦ (ratio^x − 1)/(ratio − 1): its slope at 1 is `ratio` times its
/// slope at 0.
///
/// The points that it sends to 0, 1/n, …, 1 cut the interval into n cells whose widths fall from the first to the last
/// by nearly `ratio`; cutting into 2n keeps these points. A study of n → ∞ needs unequal cells: equal ones can make the
/// leading error vanish by symmetry.
class Grading {
 public:
  static constexpr double most = 1e6;
  /// 1 is the identity. Throws InvalidArgument unless 1e-6 <= ratio <= 1e6.
  explicit Grading(double ratio);

  double operator()(double x) const;
  double inverse(double y) const;

 private:
  double log_ratio_;
};

}  // namespace opshap
