#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "engines/axis_basis.hpp"
#include "operators/config_reader.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// Points first..first+points-1 of lines first_line..first_line+lines-1. A line is the last axis; there is one of them
/// in one dimension.
struct Box {
  std::int64_t first_line = 0, lines = 1, first = 0, points = 0;

  bool holds_line(std::int64_t line) const { return line >= first_line && line < first_line + lines; }
  bool holds(const Box& other) const {
    return holds_line(other.first_line) && holds_line(other.first_line + other.lines - 1) && other.first >= first &&
           other.end() <= end();
  }
  std::int64_t end() const { return first + points; }
  /// Rows of a batch before those of a point of the box, when the box is stored as [lines, points, batch].
  std::int64_t row(std::int64_t line, std::int64_t point, std::int64_t batch) const {
    return ((line - first_line) * points + point - first) * batch;
  }
  std::int64_t rows(std::int64_t batch) const { return lines * points * batch; }
};

/// Where a block's input is not zero, and where its output is wanted.
struct BlockBoxes {
  Box from, to;
};

/// The quadrature rule of the Fourier sums along one axis of a padded grid. All lengths are in units of the spacing.
struct AxisQuadrature {
  std::vector<double> weights;  ///< of the points; they add up to the period
  double period = 0;            ///< after which the padded axis repeats

  auto operator<=>(const AxisQuadrature&) const = default;
};

/// Where the points of an axis lie in its padded grid, and how long the padding is that they stand for.
struct AxisPadding {
  std::int64_t before = 0, behind = 0;  ///< points of padding on either side
  double length = 0;                    ///< of both sides together, as a fraction of the axis
};

/// The rule that gives every point the part of the padded axis that belongs to it.
///
/// A part ends half-way to the next point, and at the ends of the axis, where a padded field jumps: no part lies on
/// both sides of a jump. So the sum is the rule of the trapezium or of the midpoint on each side, of second order in
/// the spacing, wherever the first and the last point are. The weights of nodes are Axis::length() in units of the
/// spacing. So are those of cells, unless a stride has moved the points out of the middle of their cells: the lengths
/// stay equal then, and a sum with them would be of first order. The ends of a padded periodic axis are where it begins
/// and one extent further on. The period belongs to the axis and not to the points, and is the same on every grid of
/// it. The points from either side may therefore meet in the padding at less than a spacing, or pass each other; the
/// weights allow for that. Where the padding has no point it has no length either. A periodic axis without padding has
/// no end, and all of its weights are 1.
/// Shape: before + axis.points + behind weights, in the order of the padded grid.
AxisQuadrature volume_quadrature(const Axis& axis, const AxisPadding& padding);

/// The padding of a CONFIG or a profile: one fraction for all axes, or a list with one for each. Throws as
/// ConfigReader.
engines::AxisFractions read_padding(ConfigReader& reader, const std::string& key, std::size_t axes);
/// As read_padding() reads it.
nlohmann::ordered_json padding_json(const engines::AxisFractions& padding);

/// Where the fields of a domain lie in the padded grid that the blocks of a network work on. Tensors are points first,
/// [points, B, C].
class GridPadding {
 public:
  /// Zeros on both sides or at the end alone; the fraction of each axis is rounded half to even to whole points.
  GridPadding(const Domain& domain, const engines::AxisFractions& fraction, bool both_sides);

  /// Points per axis of the padded grid.
  const std::vector<std::int64_t>& padded() const { return padded_; }
  std::int64_t points() const { return grid_.points(); }
  std::int64_t padded_points() const { return grid_.padded_points(); }
  std::int64_t padded_point(std::int64_t point) const { return grid_.padded_point(point); }

  /// The unpadded part, all of the padded grid, and one point of the domain, as boxes of the padded grid.
  Box inside() const;
  Box whole() const;
  Box one(std::int64_t point) const;

  /// From the points of the domain to those of the padded grid, which are zero elsewhere, and back.
  torch::Tensor pad(const torch::Tensor& x) const;
  torch::Tensor crop(const torch::Tensor& x) const;

  /// volume_quadrature() of each axis.
  std::vector<AxisQuadrature> volume_quadratures() const;

 private:
  bool none() const { return shape_ == padded_; }

  std::vector<Axis> axes_;
  std::vector<double> lengths_;  ///< of the padding of each axis, as a fraction of it
  engines::PaddedGrid grid_;
  std::vector<std::int64_t> shape_, padded_, before_;
};

}  // namespace opshap::operators
