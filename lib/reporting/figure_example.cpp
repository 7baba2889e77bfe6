// One input, what the backbone makes of it, and which parts of it matter: curves in 1D, heat maps in 2D.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

/// An attribution of the example: its density at every point.
struct ShownDensity {
  MethodStyle style;
  std::vector<double> density;
};

/// The reference, the trained explainers, and the methods that see gradients: what has values without a budget.
std::vector<ShownDensity> attributions(const Scoreboard& scores, const Discretisation& on,
                                       const runs::FieldsRow& fields) {
  std::vector<ShownDensity> shown;
  if (const runs::ValuesRow* reference = scores.values(on, fields.sample, "reference"))
    shown.push_back({reference_style(), density(fields, reference->values)});
  const MethodStyles styles(scores.methods());
  for (const char* access : {"amortised", "gradient"}) {
    for (const std::string& method : scores.methods_with_access(access)) {
      const runs::ValuesRow* values = scores.values(on, fields.sample, method);
      if (values == nullptr) continue;
      shown.push_back({styles.of(method), density(fields, values->values)});
    }
  }
  return shown;
}

std::string line(const std::string& color, const std::string& dash) {
  return fmt::format("with lines lw 2 {} lc rgb '{}'", dash_style(dash), color);
}

/// Colours and dashes of the channels of an input.
LegendEntry channel_entry(const std::string& name, std::size_t index) {
  static constexpr std::array<const char*, 4> colors = {"#000000", "#0072B2", "#CC79A7", "#E69F00"};
  static constexpr std::array<const char*, 2> dashes = {"", "6,3"};
  return {.label = "input " + name,
          .color = colors[index % colors.size()],
          .dash = dashes[index / colors.size() % dashes.size()]};
}

std::string gnuplot_color(const std::string& color) { return color == "#000000" ? "black" : color; }

void draw_curves(Figure& figure, const runs::FieldsRow& fields, const std::vector<ShownDensity>& shown) {
  std::vector<Curve> inputs, outputs, densities;
  for (std::size_t i = 0; i < fields.input_channels.size(); ++i) {
    const LegendEntry entry = channel_entry(fields.input_channels[i], i);
    inputs.push_back(
        {channel(fields, fields.input, static_cast<int>(i)), line(gnuplot_color(entry.color), entry.dash)});
    figure.legend.push_back(entry);
  }
  outputs.push_back({channel(fields, fields.solution, fields.query_channel), line("#56B4E9", "")});
  outputs.push_back({channel(fields, fields.prediction, fields.query_channel), line("#0072B2", "2,3")});
  figure.legend.push_back({.label = "solution", .color = "#56B4E9"});
  figure.legend.push_back({.label = "prediction", .color = "#0072B2", .dash = "2,3"});
  for (const ShownDensity& attribution : shown) {
    const bool first = densities.empty();  // the reference in steps: it is a value a player, not a curve
    densities.push_back(
        {attribution.density, first ? "with histeps lw 1.8 lc rgb '" + attribution.style.color + "'"
                                    : line(gnuplot_color(attribution.style.color), attribution.style.dash)});
    figure.legend.push_back(
        {.label = attribution.style.label, .color = attribution.style.color, .dash = attribution.style.dash});
  }
  figure.panels = {
      curves_panel(fields, "example-input", "input", fmt::format("Input {}.", fields.sample), "input", inputs),
      curves_panel(
          fields, "example-output", "output",
          fmt::format("Solution and prediction of input {}; the dotted line is the query point.", fields.sample),
          fields.output_channels[static_cast<std::size_t>(fields.query_channel)], outputs),
      curves_panel(fields, "example-attribution", "attribution density",
                   fmt::format("Densities of the attributions of input {}.", fields.sample), "density", densities)};
}

void draw_heat_maps(Figure& figure, const runs::FieldsRow& fields, const std::vector<ShownDensity>& shown) {
  for (std::size_t i = 0; i < fields.input_channels.size(); ++i) {
    figure.panels.push_back(
        heat_map_panel(fields, fmt::format("example-input-{}", i), "input " + fields.input_channels[i],
                       fmt::format("Channel {} of input {}.", fields.input_channels[i], fields.sample),
                       channel(fields, fields.input, static_cast<int>(i))));
  }
  const std::vector<double> solution = channel(fields, fields.solution, fields.query_channel),
                            prediction = channel(fields, fields.prediction, fields.query_channel);
  const double scale = std::max(largest_size(solution), largest_size(prediction));
  figure.panels.push_back(heat_map_panel(fields, "example-solution", "solution", "The solution.", solution, scale));
  figure.panels.push_back(heat_map_panel(fields, "example-prediction", "prediction",
                                         "The prediction, in the solution's colours.", prediction, scale));
  double density_scale = 0;
  for (const ShownDensity& attribution : shown)
    density_scale = std::max(density_scale, largest_size(attribution.density));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    figure.panels.push_back(
        heat_map_panel(fields, fmt::format("example-attribution-{}", i), shown[i].style.label,
                       "Attribution density of " + shown[i].style.label + ", in one scale for all methods.",
                       shown[i].density, density_scale));
  }
  figure.legend.push_back({.label = "query point", .color = "#000000", .dash = "0,40", .marker = 6});
}

Table numbers_of(const runs::FieldsRow& fields, const std::vector<ShownDensity>& shown) {
  Table table{
      .name = "example",
      .caption = "Fields and attribution densities (a player's value over its share of the volume) at every point."};
  static constexpr std::array<const char*, 2> axes = {"x", "y"};
  for (std::size_t axis = 0; axis < fields.shape.size(); ++axis) table.columns.push_back({axes[axis], true});
  for (const std::string& name : fields.input_channels) table.columns.push_back({"input " + name, true});
  for (const char* output : {"solution ", "prediction "})
    for (const std::string& name : fields.output_channels) table.columns.push_back({output + name, true});
  for (const ShownDensity& attribution : shown) table.columns.push_back({attribution.style.label, true});
  const auto points = static_cast<std::size_t>(runs::points_of(fields.shape));
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<std::string> row;
    std::size_t stride = points;
    for (std::size_t axis = 0; axis < fields.shape.size(); ++axis) {
      const auto along = static_cast<std::size_t>(fields.shape[axis]);
      stride /= along;
      row.push_back(digits(coordinates(fields, static_cast<int>(axis))[point / stride % along]));
    }
    for (const auto* values : {&fields.input, &fields.solution, &fields.prediction})
      for (std::size_t at = point; at < values->size(); at += points) row.push_back(digits((*values)[at]));
    for (const ShownDensity& attribution : shown) row.push_back(digits(attribution.density[point]));
    table.add(std::move(row));
  }
  return table;
}

std::string position_in_words(const std::vector<double>& query) {
  std::string words;
  for (const double coordinate : query) words += (words.empty() ? "" : ", ") + digits(coordinate);
  return query.size() == 1 ? "x = " + words : "(" + words + ")";
}

}  // namespace

Figure example(const Scoreboard& scores) {
  const std::string title = "One input and its attribution";
  const auto on = finest_drawable(scores, [&](const Discretisation& candidate) {
    const auto typical = typical_input(scores, candidate);
    const runs::FieldsRow* fields = typical ? fields_of(scores, candidate, typical->sample) : nullptr;
    return fields != nullptr && fields->shape.size() <= 2;
  });
  if (!on)
    return without_values(scores, title, "no stored fields and values of the same input on a grid of one or two axes");
  const TypicalInput typical = *typical_input(scores, *on);
  const runs::FieldsRow& fields = *fields_of(scores, *on, typical.sample);
  const std::vector<ShownDensity> shown = attributions(scores, *on, fields);
  Figure figure{.title = title, .numbers = numbers_of(fields, shown)};
  if (fields.shape.size() == 1) {
    draw_curves(figure, fields, shown);
  } else {
    draw_heat_maps(figure, fields, shown);
  }
  figure.finding = fmt::format(
      "n = {}. {}{}", on->label(), typical.in_words(style_of(scores.methods_with_access("amortised").front()).label),
      fields.query.empty() ? std::string()
                           : fmt::format(" The value at the query point {} is explained, which the drawings mark.",
                                         position_in_words(fields.query)));
  return figure;
}

}  // namespace opshap::reporting::figures
