#include "reporting/attribution_figure.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/mesh_panels.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

namespace {

std::vector<double> channel(const FieldBatch& fields, int index) {
  const auto points = static_cast<std::ptrdiff_t>(fields.domain.points());
  return {fields.values.begin() + index * points, fields.values.begin() + (index + 1) * points};
}

/// A player's value over its volume, at each of its points.
std::vector<double> density(const Scenario& scenario, const std::vector<double>& values) {
  std::vector<double> density;
  for (const int player : scenario.partition.player_of)
    density.push_back(values[static_cast<std::size_t>(player)] /
                      scenario.partition.volumes[static_cast<std::size_t>(player)]);
  return density;
}

Panel panel(const Scenario& scenario, const FieldBatch& output, const std::string& id, const std::string& title,
            const std::vector<double>& field, const char* style) {
  const Domain& domain = scenario.input.domain;
  const bool line = domain.dimension() == 1;
  if (!domain.is_grid()) {
    return line ? figures::mesh_curve_panel(domain.as_mesh(), id, title, title, field, style, scenario.query.point)
                : figures::mesh_panel(domain.as_mesh(), id, title, title, field, scenario.query.point);
  }
  const runs::FieldsRow row = runs::fields_row(scenario, output, output);
  if (line) return figures::curves_panel(row, id, title, title, title, {{.values = field, .style = style}});
  return figures::heat_map_panel(row, id, title, title, field);
}

}  // namespace

std::string attribution_figure(const Scenario& scenario, const FieldBatch& output, std::string_view method,
                               const std::vector<double>& values) {
  std::vector<std::string> panels;
  const auto add = [&](const std::string& id, const std::string& title, const std::vector<double>& field,
                       const char* style) { panels.push_back(draw(panel(scenario, output, id, title, field, style))); };
  for (int index = 0; index < scenario.input.channels; ++index) {
    const std::string title = scenario.input.channels == 1 ? "input" : fmt::format("input, channel {}", index);
    add(fmt::format("input-{}", index), title, channel(scenario.input, index), "with lines lw 2 lc rgb 'black'");
  }
  const int explained = scenario.query.channel;
  add("output", output.channels == 1 ? "output" : fmt::format("output, channel {}", explained),
      channel(output, explained), "with lines lw 2 lc rgb '#0072B2'");
  const std::string label = style_of(method).label;
  add("attribution", "attribution density, " + label, density(scenario, values),
      "with histeps lw 1.8 lc rgb '#009E73'");
  std::string query;
  for (const double coordinate : scenario.input.domain.position(scenario.query.point))
    query += fmt::format("{}{:.6g}", query.empty() ? "" : ", ", coordinate);
  return compose("Attribution by " + label,
                 fmt::format("{} players; the value at the query point ({}), channel {}, is explained.", values.size(),
                             query, explained),
                 panels, {});
}

Table attribution_numbers(const Scenario& scenario, const FieldBatch& output, const std::vector<double>& values) {
  using figures::digits;
  const Domain& domain = scenario.input.domain;
  Table table{.name = "attribution",
              .caption = "Input, explained output and density of the attribution at each point.",
              .columns = {{"x", true}},
              .rows = {}};
  if (domain.dimension() == 2) table.columns.push_back({"y", true});
  for (const char* heading : {"volume", "player"}) table.columns.push_back({heading, true});
  for (int index = 0; index < scenario.input.channels; ++index)
    table.columns.push_back({fmt::format("input {}", index), true});
  for (const char* heading : {"output", "density"}) table.columns.push_back({heading, true});
  const std::vector<double> explained = channel(output, scenario.query.channel), density_of = density(scenario, values);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const auto at = static_cast<std::size_t>(point);
    std::vector<std::string> row;
    for (const double coordinate : domain.position(point)) row.push_back(digits(coordinate));
    row.push_back(digits(domain.volume(point)));
    row.push_back(std::to_string(scenario.partition.player_of[at]));
    for (int index = 0; index < scenario.input.channels; ++index)
      row.push_back(digits(scenario.input.values[static_cast<std::size_t>(index * domain.points()) + at]));
    row.push_back(digits(explained[at]));
    row.push_back(digits(density_of[at]));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace opshap::reporting
