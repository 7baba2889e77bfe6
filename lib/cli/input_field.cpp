#include "cli/input_field.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "data/npy.hpp"

namespace opshap::cli {

namespace {

/// "[n] or [1,n]", and with `batches` also "[B,1,n]".
std::string wanted_shapes(int dimension, int channels, bool batches) {
  const std::string points = dimension == 1 ? "n" : "nx,ny";
  return message(channels == 1 ? message("[", points, "] or ") : "", "[", channels, ",", points, "]",
                 batches ? message(" or [B,", channels, ",", points, "]") : "");
}

FieldBatch fields_of(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                     int channels, std::string_view who, bool batches) {
  const auto axes = static_cast<std::size_t>(dimension);
  const bool without_channels = shape.size() == axes && channels == 1;
  const bool with_channels = shape.size() == axes + 1 && shape.front() == channels;
  const bool with_batch = batches && shape.size() == axes + 2 && shape[0] >= 1 && shape[1] == channels;
  require(without_channels || with_channels || with_batch, who, ": shape=", data::shape_text(shape),
          " (takes fields of ", wanted_shapes(dimension, channels, batches), "). Give an array of that shape.");
  std::vector<int> points;
  for (std::size_t axis = shape.size() - axes; axis < shape.size(); ++axis) {
    constexpr std::int64_t most = 1 << 24;
    require(shape[axis] >= 1 && shape[axis] <= most, who, ": shape=", data::shape_text(shape), " (an axis needs 1..",
            most, " points). Give a grid of that size.");
    points.push_back(static_cast<int>(shape[axis]));
  }
  FieldBatch fields{
      .domain = Domain::unit(points), .batch = with_batch ? shape[0] : 1, .channels = channels, .values = values};
  require(values.size() == static_cast<std::size_t>(fields.batch) * fields.field_size(), who,
          ": values=", values.size(), " (the shape ", data::shape_text(shape), " has ",
          static_cast<std::size_t>(fields.batch) * fields.field_size(), "). Write the file again.");
  require_finite(fields, std::string(who).c_str());
  return fields;
}

}  // namespace

FieldBatch input_field(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                       int channels, std::string_view who) {
  return fields_of(shape, values, dimension, channels, who, false);
}

FieldBatch input_fields(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                        int channels, std::string_view who) {
  return fields_of(shape, values, dimension, channels, who, true);
}

FieldBatch on_mesh(FieldBatch fields, const Domain& mesh, std::string_view who) {
  require(fields.domain.points() == mesh.points(), who, ": values=", fields.domain.points(), " in a channel (the ",
          mesh.describe(), "). Give one value for each of its points, in the order of the mesh file.");
  fields.domain = mesh;
  return fields;
}

Partition input_partition(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& labels,
                          const Domain& domain, std::string_view who) {
  std::vector<std::int64_t> wanted = {domain.points()};
  if (domain.is_grid()) wanted.assign(domain.shape().begin(), domain.shape().end());
  require(shape == wanted, who, ": shape=", data::shape_text(shape), " (the input's ",
          domain.is_grid() ? "grid" : "mesh", " is ", data::shape_text(wanted), "). Give one label per point.");
  return Partition::from_labels(domain, labels);
}

}  // namespace opshap::cli
