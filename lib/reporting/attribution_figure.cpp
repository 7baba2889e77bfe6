#include "reporting/attribution_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "reporting/axes.hpp"
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

/// The explained point, where there is one.
std::optional<std::int64_t> query_of(const Scenario& scenario) {
  if (!scenario.readout.is_query()) return std::nullopt;
  return scenario.readout.query().point;
}

/// A player's value over its volume, at each of its points.
std::vector<double> density(const Scenario& scenario, const std::vector<double>& values) {
  std::vector<double> density;
  for (const int player : scenario.partition.player_of)
    density.push_back(values[static_cast<std::size_t>(player)] /
                      scenario.partition.volumes[static_cast<std::size_t>(player)]);
  return density;
}

Panel field_panel(const Scenario& scenario, const FieldBatch& output, const std::string& id, const std::string& title,
                  const std::vector<double>& field, const char* style) {
  const Domain& domain = scenario.input.domain;
  const bool line = domain.dimension() == 1;
  if (!domain.is_grid()) {
    return line ? figures::mesh_curve_panel(domain.as_mesh(), id, title, title, field, style, query_of(scenario))
                : figures::mesh_panel(domain.as_mesh(), id, title, title, field, query_of(scenario));
  }
  const runs::FieldsRow row = runs::fields_row(scenario, output, output);
  if (line) return figures::curves_panel(row, id, title, title, "", {{.values = field, .style = style}});
  return figures::heat_map_panel(row, id, title, title, field);
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
  std::string steps;
  double left = 0, right = 0;
  const std::size_t last = order.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    const double here = x(order[i]), half = last == 0 ? 0.5 : 0;
    const double low = i > 0 ? (x(order[i - 1]) + here) / 2 : here - (last == 0 ? half : (x(order[1]) - here) / 2);
    const double high =
        i < last ? (here + x(order[i + 1])) / 2 : here + (last == 0 ? half : (here - x(order[last - 1])) / 2);
    if (i == 0) left = low;
    right = high;
    steps += fmt::format("{0} {2}\n{1} {2}\n", figures::digits(low), figures::digits(high),
                         figures::digits(density[order[i]]));
  }
  std::string bars;
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
      bars += fmt::format("{} {} {}\n", figures::digits(middle[player] / count[player]), figures::digits(level[player]),
                          figures::digits(width[player]));
    }
  }
  std::string mark;
  if (const auto query = query_of(scenario))
    mark = fmt::format("set arrow from {0}, graph 0 to {0}, graph 1 nohead dt 3 lw 1 lc rgb '#808080'\n",
                       figures::digits(x(static_cast<std::size_t>(*query))));
  return {.id = "attribution",
          .title = title,
          .description = title,
          .script = mark + linear_axis("x", left, right) + linear_axis("y", heights) +
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
                       const char* style) { panels.push_back(field_panel(scenario, output, id, title, field, style)); };
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
    std::string place;
    for (const double coordinate : scenario.input.domain.position(*query))
      place += fmt::format("{}{:.6g}", place.empty() ? "" : ", ", coordinate);
    target = fmt::format("the value at the query point ({}), channel {},", place, explained);
  }
  const std::string caption =
      fmt::format("{} players; {} is explained.{}", values.size(), target,
                  errors && scenario.input.domain.dimension() == 1 ? " Bars are two standard errors." : "");
  if (format != Picture::svg) return print("Attribution by " + label + ". " + caption, panels, {}, format);
  std::vector<std::string> drawn;
  for (const Panel& panel : panels) drawn.push_back(draw(panel));
  return compose("Attribution by " + label, caption, drawn, {});
}

Table attribution_numbers(const Scenario& scenario, const FieldBatch& output, const std::vector<double>& values,
                          const std::optional<std::vector<double>>& standard_errors) {
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
  const std::vector<double> explained = channel(output, scenario.readout.terms().front().query.channel),
                            density_of = density(scenario, values);
  const std::vector<double> errors_of = standard_errors ? density(scenario, *standard_errors) : std::vector<double>();
  if (standard_errors) table.columns.push_back({"standard error", true});
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
    if (standard_errors) row.push_back(digits(errors_of[at]));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace opshap::reporting
