#include "pde/fourier.hpp"

#include <fftw3.h>

#include <mutex>
#include <new>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

// FFTW makes and destroys plans on shared state; only executing them is thread-safe.
std::mutex planner;

}  // namespace

struct RealFourier::Plans {
  explicit Plans(int points) : points(points), values(fftw_alloc_real(static_cast<std::size_t>(points))) {
    modes = fftw_alloc_complex(static_cast<std::size_t>(points / 2 + 1));
    const std::lock_guard lock(planner);
    if (values != nullptr && modes != nullptr) {
      forward = fftw_plan_dft_r2c_1d(points, values, modes, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
      backward = fftw_plan_dft_c2r_1d(points, modes, values, FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
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

  int points;
  double* values;
  fftw_complex* modes;
  fftw_plan forward = nullptr, backward = nullptr;
};

RealFourier::RealFourier(int points) {
  require(points >= 1, "fourier: points=", points, " (a line has at least one). Give more.");
  plans_ = std::make_unique<Plans>(points);
  if (plans_->forward == nullptr || plans_->backward == nullptr) throw std::bad_alloc();
}

RealFourier::~RealFourier() = default;

std::span<double> RealFourier::values() const { return {plans_->values, static_cast<std::size_t>(plans_->points)}; }

std::span<std::complex<double>> RealFourier::modes() const {
  // FFTW's manual promises that its complex type has the layout of std::complex<double>.
  return {reinterpret_cast<std::complex<double>*>(plans_->modes), static_cast<std::size_t>(plans_->points / 2 + 1)};
}

void RealFourier::forward() const { fftw_execute(plans_->forward); }

void RealFourier::backward() const { fftw_execute(plans_->backward); }

const char* fft_library() { return fftw_version; }

}  // namespace opshap::pde
