#pragma once

namespace opshap::engines {

/// gelu(x) = max(x, 0) − g(|x|) with g(t) = t·Φ(−t), smooth and falling to zero, and its derivative 1[x > 0] ∓ g'(|x|):
/// one polynomial of g or of g' for each interval of t.
///
/// Interval i is centred at i/scale and 1/scale wide; u = t·scale − i lies in [−½, ½] and g(t) ≈ Σ_d
/// coefficients[d][i]·u^d. Beyond `limit` g is constant and less than 1e-7.
struct GeluTable {
  static constexpr int max_intervals = 16, max_degree = 6;

  enum class Of { value, slope };

  /// 1 <= degree <= max_degree, 2 <= intervals <= max_intervals. The polynomials interpolate g at the Chebyshev nodes
  /// of their interval.
  GeluTable(int intervals, int degree, Of of);

  static constexpr float limit = 5.6F;  // g(5.6) = 6e-8: half a unit in the last place of a float near 1
  /// The first interval is only half used.
  static constexpr float scale(int intervals) { return (static_cast<float>(intervals) - 0.5F) / limit; }

  alignas(64) float coefficients[max_degree + 1][max_intervals] =
      {};  // an array that code for another processor can read without inline functions
};

}  // namespace opshap::engines
