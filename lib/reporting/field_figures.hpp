#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain.hpp"
#include "core/scenario.hpp"
#include "reporting/gnuplot.hpp"
#include "reporting/table.hpp"
#include "runs/results.hpp"

namespace opshap::reporting::figures {

/// The coordinates of the points of a grid along one axis, or of those of a mesh.
std::vector<double> coordinates(const runs::FieldsRow& grid, int axis);

/// The density of an attribution at each point: a player's value divided by its share of the volume. The points of a
/// regular grid have equal volumes, those of a mesh those of Mesh::of_cells(). [players] -> [points]. Throws DataError
/// for another number of players.
std::vector<double> density(const runs::FieldsRow& grid, const std::vector<double>& values);

/// A channel of values that are stored channel after channel.
std::vector<double> channel(const runs::FieldsRow& grid, const std::vector<double>& values, int index);

/// A curve of a 1D panel: its values at the points of the grid, and how gnuplot draws them ("with lines lc rgb
/// 'black'").
struct Curve {
  std::vector<double> values;  ///< [points]
  std::string style;
};

/// The panel with curves over the points of a 1D grid, and a dotted line at the query point. `label` is that of the y
/// axis.
Panel curves_panel(const runs::FieldsRow& grid, Panel panel, const std::string& label,
                   const std::vector<Curve>& curves);

/// The panel with a field on a 2D grid, or on triangles, as a heat map: white at 0, blue below, red above, the same
/// length of scale on both sides. A ring marks the query point. On triangles lines show the ends of the domain and
/// where players meet. `scale` is the value of full colour; without it the largest size of a value. Cost: a rectangle
/// in the SVG for each point, or a polygon for each triangle.
Panel heat_map_panel(const runs::FieldsRow& grid, Panel panel, const std::vector<double>& values,
                     std::optional<double> scale = std::nullopt);

}  // namespace opshap::reporting::figures

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
