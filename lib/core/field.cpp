#include "core/field.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace opshap {

FieldBatch FieldBatch::zeros(Domain domain, std::int64_t batch, int channels) {
  FieldBatch fields{.domain = std::move(domain), .batch = batch, .channels = channels, .values = {}};
  fields.values.assign(static_cast<std::size_t>(batch) * fields.field_size(), 0.0);
  return fields;
}

FieldBatch FieldBatch::one(std::int64_t index) const {
  const auto from = field(index);
  return {.domain = domain, .batch = 1, .channels = channels, .values = {from.begin(), from.end()}};
}

FieldBatch strided(const FieldBatch& fields, const std::vector<int>& shape) {
  const Domain& native = fields.domain;
  const Domain domain = native.strided(shape);
  std::vector<int> strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) strides.push_back(native.axes()[axis].stride_to(shape[axis]));
  FieldBatch coarse = FieldBatch::zeros(domain, fields.batch, fields.channels);
  const int rows = shape.size() == 2 ? shape[0] : 1;
  const int columns = shape.back();
  const int row_stride = shape.size() == 2 ? strides[0] : 1;
  const std::int64_t planes = fields.batch * fields.channels;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const double* from = fields.values.data() + plane * native.points();
    double* to = coarse.values.data() + plane * domain.points();
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        to[row * columns + column] =
            from[static_cast<std::int64_t>(row) * row_stride * native.shape().back() + column * strides.back()];
      }
    }
  }
  return coarse;
}

void require_finite(const FieldBatch& fields, const char* who) {
  const auto bad =
      std::find_if(fields.values.begin(), fields.values.end(), [](double value) { return !std::isfinite(value); });
  if (bad == fields.values.end()) return;
  const std::int64_t flat = bad - fields.values.begin();
  const std::int64_t points = fields.domain.points();
  throw DataError(message(who, ": value=", *bad, " (sample ", flat / (points * fields.channels), ", channel ",
                          flat / points % fields.channels, ", point ", flat % points,
                          " is not a finite number). Repair the field or leave that sample out."));
}

}  // namespace opshap
