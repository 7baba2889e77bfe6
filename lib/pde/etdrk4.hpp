#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace opshap::pde {

/// The fourth-order exponential time-differencing Runge–Kutta method for v' = L v + N(v), with L real and diagonal.
///
/// The linear part is exact; the coefficients are means over 32 points of a circle around each h·L, which avoids their
/// cancellation near 0. Source: Cox, Matthews, "Exponential time differencing for stiff systems" (2002); Kassam,
/// Trefethen, "Fourth-order time-stepping for stiff PDEs" (2005).
class Etdrk4 {
 public:
  using Modes = std::vector<std::complex<double>>;

  Etdrk4(std::span<const double> linear, double step);

  /// Advances v by one step. `nonlinear(v, out)` writes N(v) to out; `at_start` is N(v) at the start of the step.
  template <typename Nonlinear>
  void advance(Modes& v, const Modes& at_start, Nonlinear&& nonlinear);

 private:
  std::vector<double> full_, half_, stage_, first_, middle_, last_;
  Modes a_, b_, at_a_, at_b_, at_c_;
};

template <typename Nonlinear>
void Etdrk4::advance(Modes& v, const Modes& at_start, Nonlinear&& nonlinear) {
  const std::size_t modes = full_.size();
  for (std::size_t k = 0; k < modes; ++k) a_[k] = half_[k] * v[k] + stage_[k] * at_start[k];
  nonlinear(a_, at_a_);
  for (std::size_t k = 0; k < modes; ++k) b_[k] = half_[k] * v[k] + stage_[k] * at_a_[k];
  nonlinear(b_, at_b_);
  for (std::size_t k = 0; k < modes; ++k) a_[k] = half_[k] * a_[k] + stage_[k] * (2.0 * at_b_[k] - at_start[k]);
  nonlinear(a_, at_c_);
  for (std::size_t k = 0; k < modes; ++k) {
    v[k] = full_[k] * v[k] + first_[k] * at_start[k] + middle_[k] * (at_a_[k] + at_b_[k]) + last_[k] * at_c_[k];
  }
}

}  // namespace opshap::pde
