#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"

namespace opshap::cli {

/// One field from an array: shape [n] or [C, n] in one dimension, [nx, ny] or [C, nx, ny] in two; the channel axis may
/// be left out when `channels` is 1.
///
/// The grid is the unit interval or square. `who` starts the messages.
/// Throws InvalidArgument for another shape, DataError for values that are not finite.
FieldBatch input_field(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                       int channels, std::string_view who);

/// Several fields from an array of shape [B, C, n] or [B, C, nx, ny], or one from an array that input_field() takes.
/// Throws as input_field().
FieldBatch input_fields(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                        int channels, std::string_view who);

/// The same fields on a mesh: what input_field() or input_fields() made of an array of shape [N], [C, N] or [B, C, N]
/// with `dimension` 1. Throws InvalidArgument unless the mesh has N points.
FieldBatch on_mesh(FieldBatch fields, const Domain& mesh, std::string_view who);

/// The labels of a domain's points as a partition: shape [n] or [nx, ny] for a grid, [N] for a mesh. Throws
/// InvalidArgument when the shape is not the domain's or labels have gaps.
Partition input_partition(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& labels,
                          const Domain& domain, std::string_view who);

}  // namespace opshap::cli
