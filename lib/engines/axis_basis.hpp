#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace opshap::engines {

/// The kept Fourier modes of one axis of a periodic grid as real rows, cosines and sines, and the points in the order
/// in which they share products.
///
/// Phases are taken at p + ½, which commutes with everything a spectral convolution does. Then the points j, P−1−j,
/// P/2−1−j and P/2+j (an orbit) have the same cosines and sines up to sign, and four signed sums of an orbit, one for
/// each symmetry class of rows, replace its four values: about four rows a point instead of seventeen. When 4 does not
/// divide P an orbit is just four neighbours and each point has its own values.
struct AxisBasis {
  struct Row {
    std::int64_t frequency = 0;
    bool sine = false;
  };

  std::int64_t points = 0;
  bool folded = false;
  std::int64_t orbits = 0;
  std::vector<Row> rows;             ///< by class when folded
  std::array<int, 5> class_begin{};  ///< cosines of even, of odd frequency, sines of even, of odd frequency
  std::vector<std::int64_t> order;   ///< [orbits·4] point, −1 for none
  std::vector<float> forward,
      inverse;  ///< [orbits, rows] of each orbit's first point when folded, else [orbits·4, rows]; zero for no point

  /// The number of a row, −1 when there is none.
  int row(std::int64_t frequency, bool sine) const;
  /// A row's weight at a point in the inverse transform.
  double inverse_at(int row, std::int64_t point) const;

  /// The axis with frequencies 0..count-1 of a real signal: weight 2 but for frequency 0 and P/2, of which the inverse
  /// uses the real part only.
  static AxisBasis half(std::int64_t points, std::int64_t count);
  /// The axis with `count` signed frequencies from −⌊count/2⌋ on; rows are of their absolute values.
  static AxisBasis full(std::int64_t points, std::int64_t count);
  /// One point and the frequency 0: what a line has for a first axis.
  static AxisBasis trivial() { return full(1, 1); }

 private:
  void fill(bool half);
  double value(const Row& row, std::int64_t point) const;
  bool nyquist(std::int64_t frequency) const { return half_ && 2 * frequency == points; }

  bool half_ = false;
};

}  // namespace opshap::engines
