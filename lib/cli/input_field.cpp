#include "cli/input_field.hpp"

#include <cstddef>
#include <string>

#include "core/error.hpp"

namespace opshap::cli {

namespace {

std::string to_string(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis > 0 ? "," : "") + std::to_string(shape[axis]);
  return text + "]";
}

}  // namespace

FieldBatch input_field(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                       int channels, std::string_view who) {
  const auto axes = static_cast<std::size_t>(dimension);
  const std::string wanted = dimension == 1
                                 ? (channels == 1 ? "[n] or [1,n]" : message("[", channels, ",n]"))
                                 : (channels == 1 ? "[nx,ny] or [1,nx,ny]" : message("[", channels, ",nx,ny]"));
  const bool without_channels = shape.size() == axes && channels == 1;
  const bool with_channels = shape.size() == axes + 1 && shape.front() == channels;
  require(without_channels || with_channels, who, ": shape=", to_string(shape), " (a field has the shape ", wanted,
          " here). Give an array of that shape.");
  std::vector<int> points;
  for (std::size_t axis = shape.size() - axes; axis < shape.size(); ++axis) {
    constexpr std::int64_t most = 1 << 24;
    require(shape[axis] >= 1 && shape[axis] <= most, who, ": shape=", to_string(shape), " (an axis needs 1..", most,
            " points). Give a grid of that size.");
    points.push_back(static_cast<int>(shape[axis]));
  }
  FieldBatch field{.domain = Domain::unit(points), .batch = 1, .channels = channels, .values = values};
  require(values.size() == field.field_size(), who, ": values=", values.size(), " (the shape ", to_string(shape),
          " has ", field.field_size(), "). Write the file again.");
  require_finite(field, std::string(who).c_str());
  return field;
}

Partition input_partition(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& labels,
                          const Domain& domain, std::string_view who) {
  require(shape == std::vector<std::int64_t>(domain.shape().begin(), domain.shape().end()), who,
          ": shape=", to_string(shape), " (the input's grid is ",
          to_string({domain.shape().begin(), domain.shape().end()}), "). Give one label per grid point.");
  return Partition::from_labels(domain, labels);
}

}  // namespace opshap::cli
