#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario.hpp"
#include "reporting/gnuplot.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// One attribution as a picture: the input's channels, the operator's output in the explained channel, and the
/// attribution as a density (a player's value over its volume), each with the query point. Curves on a line, heat maps
/// in the plane with colours that part at 0; on a mesh its triangles, or its points. On a line a player with a standard
/// error has a bar of two of them on both sides; in the plane they are a panel of their own.
///
/// `output` is a batch of one on the scenario's domain. `values` and `standard_errors` [players]. Returns the bytes of
/// the picture. Throws EnvironmentError without gnuplot.
std::string attribution_figure(const Scenario& scenario, const FieldBatch& output, std::string_view method,
                               const std::vector<double>& values,
                               const std::optional<std::vector<double>>& standard_errors, Picture format);

/// The numbers of that figure, a row for each point: its coordinates, volume and player, the input's channels, the
/// output, the density of the attribution, and its standard error where there is one.
Table attribution_numbers(const Scenario& scenario, const FieldBatch& output, const std::vector<double>& values,
                          const std::optional<std::vector<double>>& standard_errors);

}  // namespace opshap::reporting
