#pragma once

#include <complex>
#include <memory>
#include <span>

namespace opshap::pde {

/// The discrete Fourier transform of one real periodic line, with its two buffers. FFTW; not thread-safe, but each
/// thread may have its own.
///
/// Same input, same bits, whatever ran before: plans are estimated, never measured.
class RealFourier {
 public:
  /// Throws InvalidArgument unless points >= 1. Cost: some microseconds for the plans.
  explicit RealFourier(int points);
  ~RealFourier();
  RealFourier(const RealFourier&) = delete;
  RealFourier& operator=(const RealFourier&) = delete;

  std::span<double> values() const;               ///< [points]
  std::span<std::complex<double>> modes() const;  ///< [points/2 + 1]
  /// modes[k] = Σ_j values[j] e^{-2πi jk/points}. Keeps the values.
  void forward() const;
  /// values[j] = Σ_{|k| <= points/2} modes[k] e^{2πi jk/points}: points times the inverse of forward(). Overwrites the
  /// modes.
  void backward() const;

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// Name and version of the library behind it: "fftw-3.3.10-sse2-avx".
const char* fft_library();

}  // namespace opshap::pde
