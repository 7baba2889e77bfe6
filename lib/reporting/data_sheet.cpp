#include "reporting/data_sheet.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"
#include "reporting/field_figures.hpp"
#include "reporting/html.hpp"
#include "reporting/methods.hpp"
#include "reporting/page_parts.hpp"

namespace opshap::reporting {

namespace {

constexpr std::array<const char*, 4> input_colors = {"#000000", "#E69F00", "#CC79A7", "#009E73"},
                                     target_colors = {"#0072B2", "#D55E00", "#56B4E9", "#F0E442"};

/// A channel of the input or of the target, how it is called and drawn.
struct Drawing {
  std::string name, color;
  std::vector<double> values;
};

std::vector<Drawing> drawings(const runs::FieldsRow& fields) {
  std::vector<Drawing> found;
  for (std::size_t i = 0; i < fields.input_channels.size(); ++i) {
    found.push_back({"input " + fields.input_channels[i], input_colors[i % input_colors.size()],
                     figures::channel(fields, fields.input, static_cast<int>(i))});
  }
  for (std::size_t i = 0; i < fields.output_channels.size(); ++i) {
    found.push_back({"target " + fields.output_channels[i], target_colors[i % target_colors.size()],
                     figures::channel(fields, fields.solution, static_cast<int>(i))});
  }
  return found;
}

/// The drawings of one sample: all curves in one panel, or a heat map for each channel. `prefix` begins their titles.
std::vector<std::string> draw_sample(const SheetSample& sample, std::size_t number, const std::string& prefix) {
  const runs::FieldsRow& fields = sample.fields;
  require(fields.axes() == 1 || fields.axes() == 2, "data preview: dimension=", fields.axes(),
          " (fields of one or two axes can be drawn). Draw slices of it.");
  const std::string id = fmt::format("sample-{}", number);
  if (fields.axes() == 1) {
    std::vector<figures::Curve> curves;
    for (Drawing& drawing : drawings(fields)) {
      const std::string color = drawing.color == "#000000" ? "black" : drawing.color;
      curves.push_back({std::move(drawing.values), fmt::format("with lines lw 2 lc rgb '{}'", color)});
    }
    return draw({figures::curves_panel(
        fields, {id, prefix.empty() ? "input and target" : sample.heading, "Input and target of " + sample.heading}, "",
        curves)});
  }
  std::vector<Panel> panels;
  for (const Drawing& drawing : drawings(fields)) {
    panels.push_back(figures::heat_map_panel(
        fields,
        {fmt::format("{}-{}", id, panels.size()), prefix + drawing.name, drawing.name + " of " + sample.heading},
        drawing.values));
  }
  return draw(panels);
}

/// What the curves' colours mean; heat maps say it in their titles.
std::vector<LegendEntry> sheet_legend(const DataSheet& sheet) {
  std::vector<LegendEntry> legend;
  if (sheet.samples.empty() || sheet.samples.front().fields.axes() != 1) return legend;
  for (const Drawing& drawing : drawings(sheet.samples.front().fields))
    legend.push_back({.label = drawing.name, .color = drawing.color, .dash = ""});
  return legend;
}

}  // namespace

std::string sheet_html(const DataSheet& sheet) {
  const std::string title = fmt::format("{}: samples of a data set", pde_label(sheet.pde));
  Html samples;
  for (std::size_t i = 0; i < sheet.samples.size(); ++i) {
    const SheetSample& sample = sheet.samples[i];
    Html figure = element("h3", sample.heading) + panels_html(draw_sample(sample, i, ""));
    if (!sample.drawn.empty())
      figure +=
          element("details", Attribute{"open", ""}, element("summary", "Drawn numbers"), key_value_table(sample.drawn));
    samples += element("figure", figure);
  }
  return document(title,
                  element("p.overline", "OperatorSHAP, data") + element("h1", title) + fact_list(sheet.facts) +
                      legend_html(sheet_legend(sheet)),
                  samples)
      .markup();
}

std::string sheet_svg(const DataSheet& sheet) {
  std::vector<std::string> panels;
  for (std::size_t i = 0; i < sheet.samples.size(); ++i) {
    for (std::string& panel : draw_sample(sheet.samples[i], i, sheet.samples[i].heading + ", "))
      panels.push_back(std::move(panel));
  }
  return compose(pde_label(sheet.pde), "Samples of a data set: inputs and targets.", panels, sheet_legend(sheet));
}

}  // namespace opshap::reporting
