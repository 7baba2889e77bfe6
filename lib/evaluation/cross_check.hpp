#pragma once

#include <vector>

namespace opshap::evaluation {

/// An estimate of all players' values with what is known of its error.
struct Estimate {
  std::vector<double> values;           ///< [n]
  std::vector<double> standard_errors;  ///< [n]
  double degrees = 0;                   ///< degrees of freedom of each standard error
};

/// Whether two independent estimates of the same values are as far apart as their standard errors say.
struct CrossCheck {
  double statistic = 0;  ///< |a − b|² / Σ_i (se_a,i² + se_b,i²): 1 in the mean when both are right
  double numerator_degrees = 0, denominator_degrees = 0;
  double p_value = 1;

  /// Two right estimates fail this once in ten thousand times.
  static constexpr double level = 1e-4;
  bool agrees() const { return p_value >= level; }
};

/// Compares the statistic with Fisher's F: a sum of squares of `dimension` independent directions over its mean as the
/// standard errors give it (Box 1954).
///
/// `dimension` = tr(C)²/tr(C²) of the covariance C of the errors, at most n − 1 as the values have a fixed sum; fewer
/// directions make a large statistic less surprising. `rounding` is what each value is off by rounding alone; its
/// square is added to each variance.
CrossCheck cross_check(const Estimate& a, const Estimate& b, double dimension, double rounding);

/// tr(C)²/tr(C²) of the covariance C of equally distributed independent vectors, from a few of them; in [1, n − 1].
///
/// tr(C)² and tr(C²) have unbiased estimates under normality (Srivastava 2005), which need no n × n matrix:
/// O(count²·n). Throws InvalidArgument for fewer than three vectors.
double effective_dimension(const std::vector<std::vector<double>>& samples);

/// What effective_dimension() is at the least, with a confidence of 95 %, from any number of vectors; 1 from fewer than
/// three.
///
/// tr(C²) is known from the inner products of all pairs of vectors, and its estimate is taken to be spread like χ² with
/// as many degrees of freedom.
double least_dimension(const std::vector<std::vector<double>>& samples);

/// The least effective dimension that the sum of two independent errors can have, from their variances tr(C) and their
/// dimensions: ‖A + B‖ ≤ ‖A‖ + ‖B‖ for the root of tr(C²).
double dimension_of_sum(double variance_a, double dimension_a, double variance_b, double dimension_b);

}  // namespace opshap::evaluation
