#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reporting/gnuplot.hpp"
#include "runs/results.hpp"

namespace opshap::reporting::figures {

/// The coordinates of the points of a grid along one axis.
std::vector<double> coordinates(const runs::FieldsRow& grid, int axis);

/// The density of an attribution at each point of a grid: a player's value divided by its share of the volume. The
/// points of a regular grid have equal volumes. [players] -> [points]. Throws DataError for another number of players.
std::vector<double> density(const runs::FieldsRow& grid, const std::vector<double>& values);

/// A channel of values that are stored channel after channel.
std::vector<double> channel(const runs::FieldsRow& grid, const std::vector<double>& values, int index);

/// A curve of a 1D panel: its values at the points of the grid, and how gnuplot draws them ("with lines lc rgb
/// 'black'").
struct Curve {
  std::vector<double> values;  ///< [points]
  std::string style;
};

/// Curves over the points of a 1D grid, and a dotted line at the query point.
Panel curves_panel(const runs::FieldsRow& grid, std::string id, std::string title, std::string description,
                   const std::string& label, const std::vector<Curve>& curves);

/// Commands of gnuplot for a panel whose colours say the sign of a value: white at 0, blue below, red above, and the
/// colours of `full` and beyond at the ends. Axes are x and y in true proportion; their ranges are the caller's.
std::string signed_colours(double full);

/// A field on a 2D grid as a heat map: white at 0, blue below, red above, the same length of scale on both sides. A
/// ring marks the query point. `scale` is the value of full colour; without it the largest size of a value. Cost: a
/// rectangle in the SVG for each point.
Panel heat_map_panel(const runs::FieldsRow& grid, std::string id, std::string title, std::string description,
                     const std::vector<double>& values, std::optional<double> scale = std::nullopt);

}  // namespace opshap::reporting::figures
