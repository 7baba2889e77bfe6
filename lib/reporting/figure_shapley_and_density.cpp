// The paper's figure of bars and a line: do discrete Shapley values over their volumes approach the explainer's
// density?

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

double relative_difference(const std::vector<double>& values, const std::vector<double>& reference) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    difference = std::hypot(difference, values[i] - reference[i]);
    size = std::hypot(size, reference[i]);
  }
  return size > 0 ? difference / size : 0;
}

/// Bars with their standard errors, and a line.
Panel bars_and_line(const runs::FieldsRow& grid, const Discretisation& on, const std::vector<double>& bars,
                    const std::vector<double>& errors, const std::vector<double>& line, const MethodStyle& style) {
  Panel panel = curves_panel(
      grid, "shapley-and-density-" + on.id(), "n = " + on.label(),
      fmt::format("Bars: reference Shapley values of input {} over their share of the volume. Line: density of {}.",
                  grid.sample, style.label),
      "attribution density", {{bars, ""}, {errors, ""}, {line, ""}});
  const std::vector<double> x = coordinates(grid, 0);
  const double width = x.size() < 2 ? 1 : (x.back() - x.front()) / static_cast<double>(x.size() - 1);
  panel.script.resize(panel.script.rfind("plot "));
  panel.script += fmt::format(
      "plot $data using 1:2:({}) with boxes fs transparent solid 0.45 noborder lc rgb '#0072B2', $data using "
      "1:($2-$3):(0):(2*$3) with vectors nohead lw 1.2 lc rgb 'black', $data using 1:4 with lines lw 2.2 lc rgb '{}'\n",
      digits(0.85 * width), style.color);
  return panel;
}

}  // namespace

Figure shapley_and_density(const Scoreboard& scores) {
  const std::string title = "Shapley values and the explainer's density";
  const auto drawable = [&](const Discretisation& on) {
    const auto sample = typical_sample(scores, on);
    const runs::FieldsRow* fields = sample ? fields_of(scores, on, *sample) : nullptr;
    return fields != nullptr && fields->shape.size() == 1;
  };
  const auto fine = finest_drawable(scores, drawable);
  if (!fine)
    return missing(title, "no stored values of both the reference and a trained explainer on a grid of one axis");
  const auto coarse = std::find_if(scores.discretisations().begin(), scores.discretisations().end(), drawable);
  std::vector<Discretisation> shown = {*coarse};
  if (*fine != *coarse) shown.push_back(*fine);
  const std::int64_t sample = *typical_sample(scores, *fine);
  const std::string explainer = scores.methods_with_access("amortised").front();
  const MethodStyle style = style_of(explainer);
  Figure figure{.title = title};
  figure.legend = {{.label = "reference", .color = "#0072B2", .bar = true},
                   {.label = "its standard error", .color = "#000000"},
                   {.label = style.label, .color = style.color}};
  figure.numbers = {
      .name = "shapley_and_density",
      .caption = "Values over their share of the volume at each point, with the standard error of the reference.",
      .columns = {{"n", true}, {"x", true}, {"reference", true}, {"standard error", true}, {style.label, true}}};
  std::string errors_in_words;
  for (const Discretisation& on : shown) {
    const runs::FieldsRow* grid = fields_of(scores, on, sample);
    const runs::ValuesRow* reference = scores.values(on, sample, "reference");
    const runs::ValuesRow* values = scores.values(on, sample, explainer);
    if (grid == nullptr || reference == nullptr || values == nullptr) continue;
    const std::vector<double> bars = density(*grid, reference->values), line = density(*grid, values->values),
                              errors = reference->standard_errors.empty() ? std::vector<double>(bars.size(), 0)
                                                                          : density(*grid, reference->standard_errors),
                              x = coordinates(*grid, 0);
    for (std::size_t i = 0; i < bars.size(); ++i)
      figure.numbers.add({on.label(), digits(x[i]), digits(bars[i]), digits(errors[i]), digits(line[i])});
    errors_in_words += fmt::format("{}{} at n = {}", errors_in_words.empty() ? "" : ", ",
                                   show(relative_difference(line, bars)), on.label());
    figure.panels.push_back(bars_and_line(*grid, on, bars, errors, line, style));
  }
  if (figure.panels.empty()) return missing(title, "no input has stored values at both numbers of players");
  figure.finding = fmt::format(
      "Input {}, the one with the explainer's median error. Bars are the reference's Shapley values over their share "
      "of the volume. The line is the density of {}, whose NRMSE here is {}.",
      sample, style.label, errors_in_words);
  return figure;
}

}  // namespace opshap::reporting::figures
