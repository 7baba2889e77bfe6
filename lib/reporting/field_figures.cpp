#include "reporting/field_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "reporting/axes.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"
#include "reporting/trails.hpp"

namespace opshap::reporting::figures {

namespace {

/// An axis that ends half a cell beyond the first and the last point; one of a single point gets a cell of size 1.
std::string cell_axis(std::string_view axis, const std::vector<double>& points) {
  const double half =
      points.size() < 2 ? 0.5 : (points.back() - points.front()) / static_cast<double>(points.size() - 1) / 2;
  return linear_axis(axis, points.front() - half, points.back() + half);
}

/// A dotted line that marks the query point on a line.
std::string dotted_line(double x) {
  return fmt::format("set arrow from {0}, graph 0 to {0}, graph 1 nohead dt 3 lw 1 lc rgb '#808080'\n", digits(x));
}

/// How the ring around the point in $query is drawn.
constexpr const char* const ring = ", $query using 1:2 with points pt 6 ps 1.6 lw 2 lc rgb '#1B1F24'";

/// Commands of gnuplot for a panel whose colours say the sign of a value: white at 0, blue below, red above, and the
/// colours of `full` and beyond at the ends. Where `full` is 0, a field of zeros is white. Axes are x and y in true
/// proportion; their ranges are the caller's.
std::string signed_colours(double full) {
  return fmt::format(
      "set xlabel 'x'\nset ylabel 'y'\nset size ratio -1\nset palette defined (-1 '#2166AC', -0.5 '#92C5DE', 0 "
      "'#F7F7F7', 0.5 '#F4A582', 1 '#B2182B')\nset style fill solid 1\n{}unset grid\n",
      full > 0 ? linear_axis("cb", -full, full) : linear_axis("cb", -1, 1));
}

using Place = std::array<double, 2>;
using Edges = std::vector<std::pair<Place, Place>>;

Place place_of(const Mesh& mesh, std::int64_t point) { return {mesh.coordinate(point, 0), mesh.coordinate(point, 1)}; }

/// "x y".
std::string xy(const Place& place) { return digits(place[0]) + " " + digits(place[1]); }

std::vector<double> places_along(const Mesh& mesh, int axis) {
  std::vector<double> all;
  for (std::int64_t point = 0; point < mesh.size(); ++point) all.push_back(mesh.coordinate(point, axis));
  return all;
}

/// Lines "x y value", and between polygons an empty one.
std::string triangles(const Mesh& mesh, const std::vector<double>& values) {
  std::string data;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3) {
    double mean = 0;
    for (std::size_t corner = first; corner < first + 3; ++corner)
      mean += values[static_cast<std::size_t>(mesh.cells[corner])] / 3;
    for (std::size_t corner = first; corner < first + 3; ++corner)
      data += fmt::format("{} {}\n", xy(place_of(mesh, mesh.cells[corner])), digits(mean));
    data += "\n";
  }
  return data;
}

std::string dots(const Mesh& mesh, const std::vector<double>& values) {
  std::string data;
  for (std::int64_t point = 0; point < mesh.size(); ++point)
    data += fmt::format("{} {}\n", xy(place_of(mesh, point)), digits(values[static_cast<std::size_t>(point)]));
  return data;
}

/// Lines "x y" of edges that were joined where they meet, and behind each trail of them an empty one.
std::string lines(const Edges& edges) {
  std::string data;
  for (const std::vector<Place>& trail : trails(edges)) {
    for (const Place& place : trail) data += xy(place) + "\n";
    data += "\n";
  }
  return data;
}

/// Calls use(from, to) with the ends of each edge of the triangle whose corners begin at `first`, in their order.
template <typename Use>
void each_edge(const Mesh& mesh, std::size_t first, const Use& use) {
  for (std::size_t corner = 0; corner < 3; ++corner)
    use(mesh.cells[first + corner], mesh.cells[first + (corner + 1) % 3]);
}

/// The edges of a mesh that one triangle has: those of the domain and of bodies in it.
Edges outline(const Mesh& mesh) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> triangles_at;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3)
    each_edge(mesh, first, [&](std::int64_t from, std::int64_t to) { ++triangles_at[std::minmax(from, to)]; });
  Edges ends;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3)
    each_edge(mesh, first, [&](std::int64_t from, std::int64_t to) {
      if (triangles_at[std::minmax(from, to)] == 1) ends.emplace_back(place_of(mesh, from), place_of(mesh, to));
    });
  return ends;
}

/// Where players meet: in each triangle with two of them, from the middle of one of its mixed edges to that of the
/// other; with three, to its centre. Where triangles turn alike, the lower player is on one side all along.
Edges borders(const Mesh& mesh, const std::vector<int>& player_of) {
  Edges borders;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3) {
    Place centre{};
    std::vector<Place> entries, exits;
    each_edge(mesh, first, [&](std::int64_t from, std::int64_t to) {
      const Place begin = place_of(mesh, from), end = place_of(mesh, to);
      for (std::size_t axis = 0; axis < 2; ++axis) centre[axis] += begin[axis] / 3;
      const int player = player_of[static_cast<std::size_t>(from)], next = player_of[static_cast<std::size_t>(to)];
      if (player != next)
        (player < next ? entries : exits).push_back({(begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2});
    });
    if (entries.size() + exits.size() == 2) {
      borders.emplace_back(entries[0], exits[0]);
    } else {
      for (const Place& entry : entries) borders.emplace_back(entry, centre);
      for (const Place& exit : exits) borders.emplace_back(centre, exit);
    }
  }
  return borders;
}

/// A field on a mesh in the plane, in the colours of heat_map_panel(): each triangle has the mean of its corners, and a
/// point cloud is drawn as dots. Lines show the ends of the domain and, with `player_of`, where players meet. A ring
/// marks the query point where there is one. `values` [points]. `scale` as heat_map_panel() has it.
/// Triangles have one of 128 colours. Cost: some twenty letters in the SVG for a triangle whose neighbours have other
/// colours, a dot for each point.
Panel mesh_panel(const Mesh& mesh, Panel panel, const std::vector<double>& values, const std::vector<double>& query,
                 const std::vector<int>& player_of, std::optional<double> scale = std::nullopt) {
  const bool cloud = mesh.cells.empty(), blocks = !cloud && !player_of.empty();
  const std::string ends = cloud ? "" : lines(outline(mesh)), between = blocks ? lines(borders(mesh, player_of)) : "";
  panel.script = fmt::format(
      "{}set palette maxcolors 128\n{}{}{}{}{}$data << EOD\n{}EOD\nplot $data using 1:2:3 with {}{}{}{}\n",
      signed_colours(scale.value_or(largest_size(values))), linear_axis("x", places_along(mesh, 0)),
      linear_axis("y", places_along(mesh, 1)),
      query.empty() ? "" : fmt::format("$query << EOD\n{} {}\nEOD\n", digits(query[0]), digits(query[1])),
      ends.empty() ? "" : "$ends << EOD\n" + ends + "EOD\n",
      between.empty() ? "" : "$borders << EOD\n" + between + "EOD\n",
      cloud ? dots(mesh, values) : triangles(mesh, values),
      cloud ? "points pt 7 ps 0.6 lc palette" : "filledcurves closed fc palette",
      between.empty() ? "" : ", $borders using 1:2 with lines lw 0.5 lc rgb '#9AA0A6'",
      ends.empty() ? "" : ", $ends using 1:2 with lines lw 1.2 lc rgb '#1B1F24'", query.empty() ? "" : ring);
  return panel;
}

/// A field on a mesh in one dimension: a curve over its points from left to right, drawn as `style` says, and a dotted
/// line at the query point.
Panel mesh_curve_panel(const Mesh& mesh, const Panel& panel, const std::vector<double>& values, const char* style,
                       std::optional<std::int64_t> query) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::sort(order, {}, [&](std::int64_t point) { return mesh.coordinate(point, 0); });
  runs::FieldsRow line{.shape = {static_cast<int>(order.size())}};
  if (query) line.query = {mesh.coordinate(*query, 0)};
  Curve curve{.values = {}, .style = style};
  for (const std::int64_t point : order) {
    line.x.push_back(mesh.coordinate(point, 0));
    curve.values.push_back(values[static_cast<std::size_t>(point)]);
  }
  return curves_panel(line, panel, panel.title, {std::move(curve)});
}
}  // namespace

std::vector<double> coordinates(const runs::FieldsRow& grid, int axis) {
  if (grid.on_mesh()) return places_along(grid.mesh(), axis);
  auto begin = grid.x.begin();
  for (int before = 0; before < axis; ++before) begin += grid.shape[static_cast<std::size_t>(before)];
  return {begin, begin + grid.shape[static_cast<std::size_t>(axis)]};
}

std::vector<double> density(const runs::FieldsRow& grid, const std::vector<double>& values) {
  require<DataError>(static_cast<int>(values.size()) == grid.players(), "figures: values=", values.size(),
                     " (the stored field has ", grid.players(), " players). Run the evaluation again.");
  const auto points = static_cast<std::size_t>(grid.points());
  const std::vector<double> volumes = grid.on_mesh() ? grid.mesh().volumes : std::vector<double>(points, 1);
  const double whole = std::accumulate(volumes.begin(), volumes.end(), 0.0);
  const auto player_of = [&grid](std::size_t point) {
    return grid.player_of.empty() ? point : static_cast<std::size_t>(grid.player_of[point]);
  };
  std::vector<double> share(values.size(), 0), density;
  for (std::size_t point = 0; point < points; ++point) share[player_of(point)] += volumes[point];
  for (std::size_t point = 0; point < points; ++point)
    density.push_back(values[player_of(point)] * whole / share[player_of(point)]);
  return density;
}

std::vector<double> channel(const runs::FieldsRow& grid, const std::vector<double>& values, int index) {
  const auto points = static_cast<std::ptrdiff_t>(grid.points());
  return {values.begin() + index * points, values.begin() + (index + 1) * points};
}

Panel curves_panel(const runs::FieldsRow& grid, Panel panel, const std::string& label,
                   const std::vector<Curve>& curves) {
  const std::vector<double> x = coordinates(grid, 0);
  std::string data, plots;
  std::vector<double> heights;
  for (const Curve& curve : curves) heights.insert(heights.end(), curve.values.begin(), curve.values.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    data += digits(x[i]);
    for (const Curve& curve : curves) data += " " + digits(curve.values[i]);
    data += "\n";
  }
  for (std::size_t i = 0; i < curves.size(); ++i)
    plots += fmt::format("{}$data using 1:{} {}", i == 0 ? "" : ", ", i + 2, curves[i].style);
  panel.script = (grid.query.empty() ? "" : dotted_line(grid.query.front())) + "set xlabel 'x'\n" + cell_axis("x", x) +
                 linear_axis("y", heights) + "set ylabel " + quote_for_gnuplot(label) +
                 "\nset xzeroaxis lw 0.8 lc rgb 'black'\n$data << EOD\n" + data + "EOD\nplot " + plots + "\n";
  return panel;
}

Panel heat_map_panel(const runs::FieldsRow& grid, Panel panel, const std::vector<double>& values,
                     std::optional<double> scale) {
  if (grid.on_mesh()) return mesh_panel(grid.mesh(), std::move(panel), values, grid.query, grid.player_of, scale);
  const std::vector<double> x = coordinates(grid, 0), y = coordinates(grid, 1);
  std::string data, query;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.size(); ++j)
      data += fmt::format("{} {} {}\n", digits(x[i]), digits(y[j]), digits(values[i * y.size() + j]));
  }
  if (!grid.query.empty())
    query = fmt::format("$query << EOD\n{} {}\nEOD\n", digits(grid.query[0]), digits(grid.query[1]));
  panel.script = fmt::format("{}{}{}$data << EOD\n{}EOD\n{}plot $data using 1:2:3 with image{}\n",
                             signed_colours(scale.value_or(largest_size(values))), cell_axis("x", x), cell_axis("y", y),
                             data, query, query.empty() ? "" : ring);
  return panel;
}

}  // namespace opshap::reporting::figures

namespace opshap::reporting {

using figures::digits;

namespace {

std::vector<double> channel(const FieldBatch& fields, int index) {
  const auto points = static_cast<std::ptrdiff_t>(fields.domain.points());
  return {fields.values.begin() + index * points, fields.values.begin() + (index + 1) * points};
}

/// The explained point, where there is one.
std::optional<std::int64_t> query_of(const Scenario& scenario) {
  return scenario.readout.is_query() ? std::optional(scenario.readout.query().point) : std::nullopt;
}

std::vector<double> place_of_query(const Scenario& scenario) {
  const auto query = query_of(scenario);
  return query ? scenario.input.domain.position(*query) : std::vector<double>{};
}

/// The player of each point; none where every point plays.
std::vector<int> owners(const Scenario& scenario) {
  if (scenario.partition.players == scenario.input.domain.points()) return {};
  return {scenario.partition.player_of.begin(), scenario.partition.player_of.end()};
}

/// A player's value over its volume, at each of its points.
std::vector<double> density(const Scenario& scenario, const std::vector<double>& values) {
  std::vector<double> density;
  for (const int player : scenario.partition.player_of)
    density.push_back(values[static_cast<std::size_t>(player)] /
                      scenario.partition.volumes[static_cast<std::size_t>(player)]);
  return density;
}

Panel field_panel(const Scenario& scenario, const FieldBatch& output, const Panel& panel,
                  const std::vector<double>& field, const char* style) {
  const Domain& domain = scenario.input.domain;
  const bool line = domain.dimension() == 1;
  if (!domain.is_grid()) {
    return line ? figures::mesh_curve_panel(domain.as_mesh(), panel, field, style, query_of(scenario))
                : figures::mesh_panel(domain.as_mesh(), panel, field, place_of_query(scenario), owners(scenario));
  }
  const runs::FieldsRow row = runs::fields_row(scenario, output, output);
  if (!line) return figures::heat_map_panel(row, panel, field);
  return figures::curves_panel(row, panel, "", {{.values = field, .style = style}});
}

/// The density on a line: level over the cell of a point, without a stroke to 0 at the ends, and for each player a bar
/// of two standard errors on both sides, in the middle of its points.
Panel steps_panel(const Scenario& scenario, const std::string& title, const std::vector<double>& density,
                  const std::optional<std::vector<double>>& errors) {
  const Domain& domain = scenario.input.domain;
  std::vector<std::size_t> order(density.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto x = [&domain](std::size_t point) { return domain.position(static_cast<std::int64_t>(point)).front(); };
  std::ranges::sort(order, {}, x);
  std::vector<double> ends;  // of the cells of the points
  for (std::size_t i = 1; i < order.size(); ++i) ends.push_back((x(order[i - 1]) + x(order[i])) / 2);
  const bool alone = ends.empty();
  const double first = x(order.front()), last = x(order.back());
  ends.insert(ends.begin(), first - (alone ? 0.5 : (x(order[1]) - first) / 2));
  ends.push_back(last + (alone ? 0.5 : (last - x(order[order.size() - 2])) / 2));
  std::string steps, bars;
  for (std::size_t i = 0; i < order.size(); ++i)
    steps += fmt::format("{0} {2}\n{1} {2}\n", digits(ends[i]), digits(ends[i + 1]), digits(density[order[i]]));
  std::vector<double> heights = density;
  if (errors) {
    std::vector<double> middle(errors->size()), count(errors->size()), level(errors->size()), width(errors->size());
    for (std::size_t point = 0; point < density.size(); ++point) {
      const auto player = static_cast<std::size_t>(scenario.partition.player_of[point]);
      middle[player] += x(point);
      ++count[player];
      level[player] = density[point];
      width[player] = 2 * (*errors)[point];
    }
    for (std::size_t player = 0; player < count.size(); ++player) {
      for (const double sign : {-1.0, 1.0}) heights.push_back(level[player] + sign * width[player]);
      bars += fmt::format("{} {} {}\n", digits(middle[player] / count[player]), digits(level[player]),
                          digits(width[player]));
    }
  }
  const auto query = query_of(scenario);
  return {.id = "attribution",
          .title = title,
          .description = title,
          .script = (query ? figures::dotted_line(x(static_cast<std::size_t>(*query))) : "") +
                    linear_axis("x", ends.front(), ends.back()) + linear_axis("y", heights) +
                    "set xlabel 'x'\nset xzeroaxis lw 0.8 lc rgb 'black'\n$steps << EOD\n" + steps + "EOD\n" +
                    (bars.empty() ? "" : "$bars << EOD\n" + bars + "EOD\n") +
                    "plot $steps using 1:2 with lines lw 1.8 lc rgb '#009E73'" +
                    (bars.empty() ? "" : ", $bars using 1:2:3 with yerrorbars pt 7 ps 0.25 lw 0.8 lc rgb '#444444'") +
                    "\n"};
}

}  // namespace

std::string attribution_figure(const Scenario& scenario, const FieldBatch& output, std::string_view method,
                               const std::vector<double>& values,
                               const std::optional<std::vector<double>>& standard_errors, Picture format) {
  std::vector<Panel> panels;
  const auto add = [&](const std::string& id, const std::string& title, const std::vector<double>& field,
                       const char* style) {
    panels.push_back(field_panel(scenario, output, {.id = id, .title = title, .description = title}, field, style));
  };
  for (int index = 0; index < scenario.input.channels; ++index) {
    const std::string title = scenario.input.channels == 1 ? "input" : fmt::format("input, channel {}", index);
    add(fmt::format("input-{}", index), title, channel(scenario.input, index), "with lines lw 2 lc rgb 'black'");
  }
  const int explained = scenario.readout.terms().front().query.channel;
  add("output", output.channels == 1 ? "output" : fmt::format("output, channel {}", explained),
      channel(output, explained), "with lines lw 2 lc rgb '#0072B2'");
  const std::string label = style_of(method).label, title = "attribution density, " + label;
  std::optional<std::vector<double>> errors;
  if (standard_errors) errors = density(scenario, *standard_errors);
  if (scenario.input.domain.dimension() == 1) {
    panels.push_back(steps_panel(scenario, title, density(scenario, values), errors));
  } else {
    add("attribution", title, density(scenario, values), "");
    if (errors) add("errors", "its standard error", *errors, "");
  }
  std::string target = scenario.readout.describe();
  if (const auto query = query_of(scenario)) {
    const std::vector<double> place = scenario.input.domain.position(*query);
    target = fmt::format("the value at the query point ({:.6g}), channel {},", fmt::join(place, ", "), explained);
  }
  const std::string caption =
      fmt::format("{} players; {} is explained.{}", values.size(), target,
                  errors && scenario.input.domain.dimension() == 1 ? " Bars are two standard errors." : "");
  if (format != Picture::svg) return print({{"Attribution by " + label + ". " + caption, panels, {}}}, format).front();
  return compose("Attribution by " + label, caption, draw(panels), {});
}

Table attribution_numbers(const Scenario& scenario, const FieldBatch& output, const std::vector<double>& values,
                          const std::optional<std::vector<double>>& standard_errors) {
  const Domain& domain = scenario.input.domain;
  std::vector<std::int64_t> points(static_cast<std::size_t>(domain.points()));
  std::iota(points.begin(), points.end(), std::int64_t{0});
  std::vector<ColumnOf<std::int64_t>> columns;
  const auto add = [&columns](const std::string& heading, std::function<std::string(const std::int64_t& point)> cell) {
    columns.push_back({heading, std::move(cell), true});
  };
  const auto add_values = [&add](const std::string& heading, const std::vector<double>& values) {
    add(heading, [values](auto& point) { return digits(values[static_cast<std::size_t>(point)]); });
  };
  for (int axis = 0; axis < domain.dimension(); ++axis)
    add(axis == 0 ? "x" : "y",
        [&domain, axis](auto& point) { return digits(domain.position(point)[static_cast<std::size_t>(axis)]); });
  add("volume", [&domain](auto& point) { return digits(domain.volume(point)); });
  add("player", [&scenario](auto& point) {
    return std::to_string(scenario.partition.player_of[static_cast<std::size_t>(point)]);
  });
  for (int index = 0; index < scenario.input.channels; ++index)
    add_values(fmt::format("input {}", index), channel(scenario.input, index));
  add_values("output", channel(output, scenario.readout.terms().front().query.channel));
  add_values("density", density(scenario, values));
  if (standard_errors) add_values("standard error", density(scenario, *standard_errors));
  return table_of("attribution", "Input, explained output and density of the attribution at each point.", points,
                  columns);
}

}  // namespace opshap::reporting
