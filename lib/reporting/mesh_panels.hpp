#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/mesh.hpp"
#include "reporting/gnuplot.hpp"

namespace opshap::reporting::figures {

/// A field on a mesh in the plane, in the colours of heat_map_panel(): each triangle has the mean of its corners, and a
/// point cloud is drawn as dots. A ring marks the query point where there is one. `values` [points].
/// Cost: a polygon or a dot in the SVG for each triangle or point.
Panel mesh_panel(const Mesh& mesh, std::string id, std::string title, std::string description,
                 const std::vector<double>& values, std::optional<std::int64_t> query);

/// A field on a mesh in one dimension: a curve over its points from left to right, drawn as `style` says, and a dotted
/// line at the query point.
Panel mesh_curve_panel(const Mesh& mesh, std::string id, std::string title, std::string description,
                       const std::vector<double>& values, const char* style, std::optional<std::int64_t> query);

}  // namespace opshap::reporting::figures
