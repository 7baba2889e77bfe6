#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// One attribution as an SVG: the input's channels, the operator's output in the explained channel, and the attribution
/// as a density (a player's value over its volume), each with the query point. Curves on a line, heat maps in the plane
/// with colours that part at 0; on a mesh its triangles, or its points.
///
/// `output` is a batch of one on the scenario's domain. `values` [players]. Throws EnvironmentError without gnuplot.
std::string attribution_figure(const Scenario& scenario, const FieldBatch& output, std::string_view method,
                               const std::vector<double>& values);

/// The numbers of that figure, a row for each point: its coordinates, volume and player, the input's channels, the
/// output, and the density of the attribution.
Table attribution_numbers(const Scenario& scenario, const FieldBatch& output, const std::vector<double>& values);

}  // namespace opshap::reporting
