// The paper's figure of bars and a line: do discrete Shapley values over their volumes approach the explainer's
// density?

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reporting/axes.hpp"
#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

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
  std::vector<double> heights = line;  // and 0, where bars begin
  heights.push_back(0);
  for (std::size_t i = 0; i < bars.size(); ++i)
    heights.insert(heights.end(), {bars[i] - errors[i], bars[i] + errors[i]});
  const std::vector<double> x = coordinates(grid, 0);
  const double width = x.size() < 2 ? 1 : (x.back() - x.front()) / static_cast<double>(x.size() - 1);
  panel.script.resize(panel.script.rfind("plot "));
  panel.script += linear_axis("y", heights);
  panel.script += fmt::format(
      "plot $data using 1:2:({}) with boxes fs transparent solid 0.45 noborder lc rgb '#0072B2', $data using "
      "1:($2-$3):(0):(2*$3) with vectors nohead lw 1.2 lc rgb 'black', $data using 1:4 with lines lw 2.2 {} lc rgb "
      "'{}'\n",
      digits(0.85 * width), dash_style(style.dash), style.color);
  return panel;
}

/// The two grids of the paper's figure. Where the run cannot draw the finer one, its finest; where not the coarser one,
/// its coarsest.
std::vector<Discretisation> grids_with_values(const Scoreboard& scores,
                                              const std::function<bool(const Discretisation&)>& drawable) {
  const auto finest = finest_drawable(scores, drawable);
  if (!finest) return {};
  const auto coarsest = std::ranges::find_if(scores.discretisations(), drawable);
  const auto of_the_paper = [&](const char* constant, const Discretisation& otherwise) {
    const auto line = Discretisation::line(static_cast<int>(paper_constant(constant)));
    return drawable(line) ? line : otherwise;
  };
  const Discretisation many = of_the_paper("density_many_players", *finest);
  Discretisation few = of_the_paper("density_few_players", *coarsest);
  if (few == many) few = *coarsest;
  if (few == many) return {many};
  return {few, many};
}

}  // namespace

Figure shapley_and_density(const Scoreboard& scores) {
  const std::string title = "Shapley values and the explainer's density";
  const auto drawable = [&](const Discretisation& on) {
    const auto typical = typical_input(scores, on);
    const runs::FieldsRow* fields = typical ? fields_of(scores, on, typical->sample) : nullptr;
    return fields != nullptr && fields->shape.size() == 1;
  };
  const std::vector<Discretisation> shown = grids_with_values(scores, drawable);
  if (shown.empty())
    return without_values(scores, title,
                          "no stored values of both the reference and a trained explainer on a grid of one axis");
  const TypicalInput typical = *typical_input(scores, shown.back());
  const std::int64_t sample = typical.sample;
  const std::string explainer = scores.methods_with_access("amortised").front();
  const MethodStyle style = MethodStyles(scores.methods()).of(explainer);
  Figure figure{.title = title};
  figure.legend = {{.label = "reference", .color = "#0072B2", .bar = true},
                   {.label = "its standard error", .color = "#000000"},
                   {.label = style.label, .color = style.color, .dash = style.dash}};
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
      "{} Bars are the reference's Shapley values over their share of the volume. The line is the density of {}, whose "
      "NRMSE here is {}.",
      typical.in_words(style.label), style.label, errors_in_words);
  return figure;
}

}  // namespace opshap::reporting::figures
