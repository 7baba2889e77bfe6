#include "pde/fourier.hpp"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <numbers>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

// FFTW makes and destroys plans on shared state; only executing them is thread-safe.
std::mutex planner;

}  // namespace

struct RealFourier::Plans {
  explicit Plans(const std::vector<int>& shape)
      : points(static_cast<std::size_t>(shape.front())), halves(static_cast<std::size_t>(shape.back() / 2 + 1)) {
    if (shape.size() == 2) {
      halves *= points;
      points *= static_cast<std::size_t>(shape.back());
    }
    values = fftw_alloc_real(points);
    modes = fftw_alloc_complex(halves);
    const std::lock_guard lock(planner);
    if (values != nullptr && modes != nullptr) {
      const auto rank = static_cast<int>(shape.size());
      forward = fftw_plan_dft_r2c(rank, shape.data(), values, modes, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
      backward = fftw_plan_dft_c2r(rank, shape.data(), modes, values, FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
    }
  }
  ~Plans() {
    {
      const std::lock_guard lock(planner);
      fftw_destroy_plan(forward);
      fftw_destroy_plan(backward);
    }
    fftw_free(values);
    fftw_free(modes);
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  std::size_t points, halves;
  double* values = nullptr;
  fftw_complex* modes = nullptr;
  fftw_plan forward = nullptr, backward = nullptr;
};

RealFourier::RealFourier(const std::vector<int>& shape) {
  require(shape.size() == 1 || shape.size() == 2, "fourier: dimensions=", shape.size(),
          " (lines and planes are transformed). Give one or two sizes.");
  for (const int points : shape)
    require(points >= 1, "fourier: points=", points, " (a line has at least one). Give more.");
  plans_ = std::make_unique<Plans>(shape);
  if (plans_->forward == nullptr || plans_->backward == nullptr) throw std::bad_alloc();
}

RealFourier::~RealFourier() = default;

std::span<double> RealFourier::values() const { return {plans_->values, plans_->points}; }

std::span<std::complex<double>> RealFourier::modes() const {
  // FFTW's manual promises that its complex type has the layout of std::complex<double>.
  return {reinterpret_cast<std::complex<double>*>(plans_->modes), plans_->halves};
}

void RealFourier::forward() const { fftw_execute(plans_->forward); }

void RealFourier::backward() const { fftw_execute(plans_->backward); }

Wavenumbers::Wavenumbers(const Domain& domain) {
  const std::vector<Axis>& axes = domain.axes();
  const auto whole = [](int index, int points) { return index <= points / 2 ? index : index - points; };
  const auto radians = [](int waves, const Axis& axis) { return 2 * std::numbers::pi * waves / axis.extent; };
  const int last = axes.back().points;
  for (int i = 0; i < (axes.size() == 2 ? axes[0].points : 1); ++i) {
    for (int j = 0; j <= last / 2; ++j) {
      x.push_back(axes.size() == 2 ? radians(whole(i, axes[0].points), axes[0]) : radians(j, axes[0]));
      if (axes.size() == 2) y.push_back(radians(j, axes[1]));
      highest.push_back(2 * j == last || (axes.size() == 2 && 2 * i == axes[0].points));
      kept.push_back(axes.size() == 1 ? 3 * j < last
                                      : 3 * j < last && 3 * std::abs(whole(i, axes[0].points)) < axes[0].points);
    }
  }
}

std::vector<double> filtered(const Domain& domain, std::span<const double> values, const Wavenumbers& wavenumbers,
                             const std::function<std::complex<double>(std::size_t)>& factor) {
  const RealFourier fourier(domain.shape());
  std::copy(values.begin(), values.end(), fourier.values().begin());
  fourier.forward();
  const auto modes = fourier.modes();
  const double points = static_cast<double>(values.size());
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const std::complex<double> by = factor(k);
    modes[k] *= (wavenumbers.highest[k] ? std::complex<double>(by.real()) : by) / points;
  }
  fourier.backward();
  return {fourier.values().begin(), fourier.values().end()};
}

const char* fft_library() { return fftw_version; }

Etdrk4::Etdrk4(std::span<const double> linear, double step)
    : a_(linear.size()), b_(a_), at_a_(a_), at_b_(a_), at_c_(a_) {
  constexpr int points = 32;
  for (const double value : linear) {
    full_.push_back(std::exp(step * value));
    half_.push_back(std::exp(step * value / 2));
    double stage = 0, first = 0, middle = 0, last = 0;
    for (int j = 0; j < points; ++j) {
      // The functions are real on the real line, so the upper half of the circle has the mean of the whole.
      const std::complex<double> z = step * value + std::polar(1.0, std::numbers::pi * (j + 0.5) / points);
      const std::complex<double> e = std::exp(z), cube = z * z * z;
      stage += ((std::exp(z / 2.0) - 1.0) / z).real();
      first += ((-4.0 - z + e * (4.0 - 3.0 * z + z * z)) / cube).real();
      middle += (2.0 * (2.0 + z + e * (z - 2.0)) / cube).real();
      last += ((-4.0 - 3.0 * z - z * z + e * (4.0 - z)) / cube).real();
    }
    stage_.push_back(step * stage / points);
    first_.push_back(step * first / points);
    middle_.push_back(step * middle / points);
    last_.push_back(step * last / points);
  }
}

}  // namespace opshap::pde
