#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/domain.hpp"

namespace opshap::pde {

/// The discrete Fourier transform of one real periodic line or plane, with its two buffers. FFTW; not thread-safe, but
/// each thread may have its own.
///
/// Same input, same bits, whatever ran before: plans are estimated, never measured.
class RealFourier {
 public:
  /// Throws InvalidArgument unless there are one or two positive sizes. Cost: some microseconds for the plans.
  explicit RealFourier(const std::vector<int>& shape);
  explicit RealFourier(int points) : RealFourier(std::vector<int>{points}) {}
  ~RealFourier();
  RealFourier(const RealFourier&) = delete;
  RealFourier& operator=(const RealFourier&) = delete;

  std::span<double> values() const;  ///< [points] or [nx, ny]
  /// [points/2 + 1] or [nx, ny/2 + 1]: only half of the last axis, since the values are real.
  std::span<std::complex<double>> modes() const;
  /// modes[k] = Σ_j values[j] e^{-2πi jk/points}, and so along both axes of a plane. Keeps the values.
  void forward() const;
  /// values[j] = Σ_{|k| <= points/2} modes[k] e^{2πi jk/points}: points times the inverse of forward(). Overwrites the
  /// modes.
  void backward() const;

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// The wavenumbers of the modes of a RealFourier on a periodic grid, in radians per unit of length.
struct Wavenumbers {
  explicit Wavenumbers(const Domain& domain);
  std::vector<double> x, y;  ///< of each mode; y is empty on a line
  /// Of each mode: whether it is the highest of an axis with an even number of points, where the sine vanishes.
  std::vector<bool> highest;
  /// Of each mode: whether |k| < N/3 along every axis, so that products of two fields have no aliases among the kept.
  std::vector<bool> kept;

  std::size_t size() const { return x.size(); }
  /// |k|².
  double square(std::size_t mode) const { return x[mode] * x[mode] + (y.empty() ? 0 : y[mode] * y[mode]); }
};

/// A field of one channel with each of its modes times factor(mode); the highest modes of even axes take its real part.
///
/// The exact solution of a linear equation with constant coefficients, when the factor is e^{symbol·time}.
std::vector<double> filtered(const Domain& domain, std::span<const double> values, const Wavenumbers& wavenumbers,
                             const std::function<std::complex<double>(std::size_t mode)>& factor);

/// Name and version of the library behind it: "fftw-3.3.10-sse2-avx".
const char* fft_library();

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
