#pragma once

namespace opshap {

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
