#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/domain.hpp"

namespace opshap {

/// `batch` fields of `channels` channels on one domain; values are [batch, channels, points], row-major.
struct FieldBatch {
  Domain domain;
  std::int64_t batch = 0;
  int channels = 1;
  std::vector<double> values;

  static FieldBatch zeros(Domain domain, std::int64_t batch, int channels);

  /// Doubles in one field: channels × points.
  std::size_t field_size() const { return static_cast<std::size_t>(channels * domain.points()); }
  std::span<double> field(std::int64_t index) {
    return {values.data() + static_cast<std::size_t>(index) * field_size(), field_size()};
  }
  std::span<const double> field(std::int64_t index) const {
    return {values.data() + static_cast<std::size_t>(index) * field_size(), field_size()};
  }
  /// A copy of one field, as a batch of one.
  FieldBatch one(std::int64_t index) const;
  /// Adds fields with the same channels on the same domain.
  void append(const FieldBatch& fields) {
    values.insert(values.end(), fields.values.begin(), fields.values.end());
    batch += fields.batch;
  }
};

/// Every s-th point of each axis from point 0 on (no filter), where s = native points / wanted points.
/// Throws InvalidArgument unless it divides, and for a field on a mesh.
FieldBatch strided(const FieldBatch& fields, const std::vector<int>& shape);

/// Throws DataError naming the first value of `fields` that is NaN or infinite; `who` starts the message.
void require_finite(const FieldBatch& fields, const char* who);

/// The fields on another grid of the same domain. Where the new points are points of the old grid, the values are those
/// up to rounding. No filter: waves that the new grid cannot hold are seen as others.
///
/// On a periodic axis by the trigonometric polynomial through the values: a field without waves beyond half of the old
/// points is met exactly everywhere. On another axis by the cubic through the four nearest points, which is exact for
/// cubics, and of fourth order for smooth fields. New points beyond the outermost old ones, as in the middle of smaller
/// cells, lie on the cubic of the four points at that end.
///
/// Any number of points per axis may be asked for, divisor or not. Cost: old times new points for each line of the
/// grid. Throws InvalidArgument for a mesh and for another number of axes.
FieldBatch interpolated(const FieldBatch& fields, const std::vector<int>& shape);

}  // namespace opshap
