#include "reporting/attribution_figure.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "reporting/field_panels.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

std::string attribution_figure(const Scenario& scenario, const FieldBatch& output, std::string_view method,
                               const std::vector<double>& values) {
  const runs::FieldsRow row = runs::fields_row(scenario, output, output);
  const bool line = row.shape.size() == 1;
  std::vector<std::string> panels;
  const auto add = [&](const std::string& id, const std::string& title, const std::vector<double>& field,
                       const char* style) {
    if (line) {
      std::vector<figures::Curve> curves;
      curves.push_back({.values = field, .style = style});
      panels.push_back(draw(figures::curves_panel(row, id, title, title, title, curves)));
    } else {
      panels.push_back(draw(figures::heat_map_panel(row, id, title, title, field)));
    }
  };
  for (int channel = 0; channel < scenario.input.channels; ++channel) {
    const std::string title = scenario.input.channels == 1 ? "input" : fmt::format("input, channel {}", channel);
    add(fmt::format("input-{}", channel), title, figures::channel(row, row.input, channel),
        "with lines lw 2 lc rgb 'black'");
  }
  add("output", output.channels == 1 ? "output" : fmt::format("output, channel {}", row.query_channel),
      figures::channel(row, row.prediction, row.query_channel), "with lines lw 2 lc rgb '#0072B2'");
  const std::string label = style_of(method).label;
  add("attribution", "attribution density, " + label, figures::density(row, values),
      "with histeps lw 1.8 lc rgb '#009E73'");
  std::string query;
  for (const double coordinate : row.query) query += fmt::format("{}{:.6g}", query.empty() ? "" : ", ", coordinate);
  return compose("Attribution by " + label,
                 fmt::format("{} players; the value at the query point ({}), channel {}, is explained.", values.size(),
                             query, row.query_channel),
                 panels, {});
}

}  // namespace opshap::reporting
