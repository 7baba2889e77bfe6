#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace opshap::engines {

using Index = std::int64_t;

inline std::size_t at(Index number) { return static_cast<std::size_t>(number); }

/// A fraction of each axis: one number for all axes, or one for each.
class AxisFractions {
 public:
  AxisFractions(double all = 0) : fractions_{all} {}
  AxisFractions(std::vector<double> of_axes) : fractions_(std::move(of_axes)) {}

  double at(std::size_t axis) const { return fractions_.size() == 1 ? fractions_.front() : fractions_.at(axis); }
  const std::vector<double>& all() const { return fractions_; }
  bool operator==(const AxisFractions&) const = default;

 private:
  std::vector<double> fractions_;  ///< not empty
};

/// Where the points of a grid lie in the grid that an FNO works on, with its zero padding. A line is a plane with one
/// row.
class PaddedGrid {
 public:
  /// `padding` is added on both sides or at the end.
  PaddedGrid(const std::vector<int>& shape, const AxisFractions& padding, bool both_sides) : line_(shape.size() == 1) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::size_t to = axis + (line_ ? 1 : 0);
      const std::int64_t added = std::lrint(padding.at(axis) * shape[axis]);  // half to even, as Python's round
      shape_[to] = shape[axis];
      padded_[to] = shape[axis] + (both_sides ? 2 : 1) * added;
      before_[to] = both_sides ? added : 0;
    }
  }

  /// By how much the frequencies of the inverse transform on the first of two axes are smaller than those of the
  /// transform, with a shift as FnoWeights::inverse_fftshift has it.
  std::int64_t lower_frequencies(bool inverse_fftshift) const {
    return inverse_fftshift && padded_[0] > 1 && padded_[0] % 2 == 1 ? 1 : 0;
  }

  std::int64_t points() const { return shape_[0] * shape_[1]; }
  std::int64_t padded_points() const { return padded_[0] * padded_[1]; }
  std::int64_t padded(std::size_t axis) const { return padded_[axis]; }
  /// Points of padding before the field.
  std::int64_t before(std::size_t axis) const { return before_[axis]; }
  std::int64_t padded_point(std::int64_t point) const {
    return (point / shape_[1] + before_[0]) * padded_[1] + point % shape_[1] + before_[1];
  }
  /// The point at these padded indices, −1 in the padding.
  std::int64_t point_at(std::int64_t row, std::int64_t column) const {
    const std::int64_t i = row - before_[0], j = column - before_[1];
    return i >= 0 && i < shape_[0] && j >= 0 && j < shape_[1] ? i * shape_[1] + j : -1;
  }
  /// i/n on an axis of the field: what the network sees as a coordinate.
  double position(std::int64_t point, int axis) const {
    const bool first = !line_ && axis == 0;
    return first ? static_cast<double>(point / shape_[1]) / static_cast<double>(shape_[0])
                 : static_cast<double>(point % shape_[1]) / static_cast<double>(shape_[1]);
  }

 private:
  bool line_;
  std::array<std::int64_t, 2> shape_{1, 1}, padded_{1, 1}, before_{0, 0};
};

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
  static AxisBasis half(std::int64_t points, std::int64_t count) { return {points, count - 1, true}; }
  /// The axis with `count` signed frequencies from −⌊count/2⌋ on; rows are of their absolute values.
  static AxisBasis full(std::int64_t points, std::int64_t count) { return {points, count / 2, false}; }
  /// One point and the frequency 0: what a line has for a first axis.
  static AxisBasis trivial() { return full(1, 1); }

 private:
  /// The frequencies 0..highest.
  AxisBasis(std::int64_t of_points, std::int64_t highest, bool half);
  double value(const Row& row, std::int64_t point) const;
  bool nyquist(std::int64_t frequency) const { return half_ && 2 * frequency == points; }

  bool half_;
};

}  // namespace opshap::engines
