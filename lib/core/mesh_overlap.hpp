#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/domain.hpp"

namespace opshap {

/// Two triangles of a mesh in the plane that have more than a border in common, the smaller number first; nothing where
/// there are none.
///
/// Two triangles are apart when a line along an edge of one of them parts them. They may cross it by as much as the
/// rounding of coordinates to float32 moves a point. Cost: O(C log C) and a test for each pair whose boxes overlap.
std::optional<std::pair<std::int64_t, std::int64_t>> overlapping_triangles(const Mesh& mesh);

}  // namespace opshap
