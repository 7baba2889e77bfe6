#pragma once

#include <functional>
#include <vector>

#include "pde/problem.hpp"

namespace opshap {

/// A field with the channels of a space, on a grid of another size of its domain: function(x, y, channel), y = 0 on a
/// line.
inline FieldBatch field_of(const pde::Space& space, const std::vector<int>& shape,
                           const std::function<double(double, double, int)>& function) {
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    axes.push_back(space.domain.axes()[axis].resampled(shape[axis]));
  FieldBatch field = FieldBatch::zeros(Domain::grid(std::move(axes)), 1, space.channel_count());
  const std::int64_t points = field.domain.points();
  for (std::int64_t p = 0; p < points; ++p) {
    const std::vector<double> at = field.domain.position(p);
    for (int channel = 0; channel < field.channels; ++channel)
      field.values[static_cast<std::size_t>(channel * points + p)] =
          function(at[0], at.size() > 1 ? at[1] : 0, channel);
  }
  return field;
}

}  // namespace opshap
