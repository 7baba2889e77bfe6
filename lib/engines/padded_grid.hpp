#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace opshap::engines {

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

}  // namespace opshap::engines
