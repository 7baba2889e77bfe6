// Figures of single inputs: at two numbers of players, on three grids, and with the solution.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/measured.hpp"
#include "reporting/axes.hpp"
#include "reporting/field_figures.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::figures {

namespace {

/// The stored fields of an input on a grid with these players; nullptr when there are none.
const runs::FieldsRow* fields_of(const Scoreboard& scores, const Discretisation& on, std::int64_t sample) {
  for (const runs::FieldsRow& row : scores.run().results.fields) {
    if (row.pde == scores.run().pde && row.sample == sample && row.shape == on.shape && row.players() == on.players)
      return &row;
  }
  return nullptr;
}

using Accepts = std::function<bool(const Discretisation&)>;

/// Whether a grid of at most so many axes has stored fields of the input that stands for the others.
Accepts has_fields(const Scoreboard& scores, int most_axes) {
  return [&scores, most_axes](const Discretisation& on) {
    const auto typical = typical_input(scores, on);
    const runs::FieldsRow* fields = typical ? fields_of(scores, on, typical->sample) : nullptr;
    return fields != nullptr && fields->axes() <= most_axes;
  };
}

/// Of the grids that `wanted` accepts the finest whose points can still be told apart in a panel (one axis) or do not
/// bloat the page (two axes); the coarsest where all are too fine; none where none is accepted.
std::optional<Discretisation> finest_drawable(const Scoreboard& scores, const Accepts& wanted) {
  constexpr std::int64_t most_bars = 128, most_rectangles = 1024;
  std::optional<Discretisation> finest;
  for (const Discretisation& on : scores.discretisations()) {
    const std::int64_t points = runs::points_of(on.shape);
    const bool fits = points <= (on.shape.size() == 1 ? most_bars : most_rectangles);
    if (!wanted(on)) continue;
    if (!finest || (fits && points >= runs::points_of(finest->shape))) finest = on;
  }
  return finest;
}

/// A figure without panels that would show stored fields and values. Where the folder keeps none of a method, the rows
/// were left out of it, and the figure may have been drawn from them before.
Figure without_values(const Scoreboard& scores, std::string title, std::string why) {
  const runs::Results& rows = scores.run().results;
  const bool only_references =
      std::ranges::all_of(rows.values, [](const runs::ValuesRow& row) { return row.method == "reference"; });
  if (!rows.fields.empty() || !only_references) return missing(std::move(title), std::move(why));
  Figure figure = missing(std::move(title), "the fields and values that it shows are not kept in this folder");
  figure.rows_kept = false;
  return figure;
}

double relative_difference(const std::vector<double>& values, const std::vector<double>& reference) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    difference = std::hypot(difference, values[i] - reference[i]);
    size = std::hypot(size, reference[i]);
  }
  return size > 0 ? difference / size : 0;
}

/// Densities of the explainer and of the reference on one grid.
struct ShownGrid {
  Discretisation on;
  const runs::FieldsRow* fields;
  std::string reference_kind;
  std::vector<double> explainer, reference, difference = {};
};

/// "certified reference": how the stored reference of an input was made.
std::string kind_of_reference(const Scoreboard& scores, const Discretisation& on, std::int64_t sample) {
  for (const runs::AttributionRow* row : scores.references(on)) {
    if (row->sample != sample) continue;
    if (row->reference == "exact") return reference_label(row->reference);
    if (row->reference == "certified") return "certified reference";
    return "reference by " + reference_label(row->reference);
  }
  return "reference";
}

/// None where the fields of the input on the grid, or the values of one of the two, are not stored.
std::optional<ShownGrid> shown_grid(const Scoreboard& scores, const std::string& explainer, std::int64_t sample,
                                    const Discretisation& on) {
  const runs::FieldsRow* fields = fields_of(scores, on, sample);
  const runs::ValuesRow *first = scores.values(on, sample, explainer), *second = scores.values(on, sample, "reference");
  if (fields == nullptr || first == nullptr || second == nullptr) return std::nullopt;
  return ShownGrid{.on = on,
                   .fields = fields,
                   .reference_kind = kind_of_reference(scores, on, sample),
                   .explainer = density(*fields, first->values),
                   .reference = density(*fields, second->values)};
}

/// Bars of the reference with its standard errors, and a line of the explainer.
Panel bars_and_line(const ShownGrid& shown, const std::vector<double>& errors, const MethodStyle& style) {
  const runs::FieldsRow& grid = *shown.fields;
  const std::vector<double>&bars = shown.reference, &line = shown.explainer;
  Panel panel = curves_panel(
      grid,
      {"shapley-and-density-" + shown.on.id(), "n = " + shown.on.label(),
       fmt::format("Bars: reference Shapley values of input {} over their share of the volume. Line: density of {}.",
                   grid.sample, style.label)},
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
std::vector<Discretisation> grids_with_values(const Scoreboard& scores, const Accepts& drawable) {
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

constexpr std::size_t most_grids = 3;

/// The sample on the last grids up to `finest` that have the values of both, coarse to fine.
std::vector<ShownGrid> grids_of(const Scoreboard& scores, const std::string& explainer, std::int64_t sample,
                                const Discretisation& finest) {
  std::vector<ShownGrid> grids;
  for (const Discretisation& on : scores.discretisations()) {
    if (runs::points_of(on.shape) > runs::points_of(finest.shape)) continue;
    auto shown = shown_grid(scores, explainer, sample, on);
    if (!shown || shown->fields->axes() > 2) continue;
    for (std::size_t i = 0; i < shown->explainer.size(); ++i)
      shown->difference.push_back(shown->explainer[i] - shown->reference[i]);
    grids.push_back(*std::move(shown));
  }
  if (grids.size() > most_grids) grids.erase(grids.begin(), grids.end() - most_grids);
  return grids;
}

/// A line with a dash. Black is the colour of the surrounding text.
std::string line(const std::string& color, const std::string& dash) {
  return fmt::format("with lines lw 2 {} lc rgb '{}'", dash_style(dash), color == "#000000" ? "black" : color);
}

/// Heat maps of both and of their difference in one scale, or both as curves.
void draw(Figure& figure, const ShownGrid& shown, std::int64_t sample, const MethodStyle& explainer) {
  const std::string on = runs::shape_in_words(shown.on.shape);
  if (shown.fields->axes() == 1) {
    figure.panels.push_back(
        curves_panel(*shown.fields,
                     {fmt::format("grids-{}", shown.on.players), fmt::format("n = {}, {}", on, shown.reference_kind),
                      fmt::format("Densities of input {} on {} points by {}, and by the reference: {}.", sample, on,
                                  explainer.label, shown.reference_kind)},
                     "density",
                     {{shown.reference, line(reference_style().color, reference_style().dash)},
                      {shown.explainer, line(explainer.color, explainer.dash)}}));
    return;
  }
  const double scale = std::max(largest_size(shown.explainer), largest_size(shown.reference));
  for (const auto& [what, values] :
       {std::pair(explainer.label, &shown.explainer), std::pair(shown.reference_kind, &shown.reference),
        std::pair(std::string("difference"), &shown.difference)}) {
    figure.panels.push_back(heat_map_panel(
        *shown.fields,
        {fmt::format("grids-{}-{}", shown.on.players, figure.panels.size()), fmt::format("{}, {}", what, on),
         fmt::format("{} of input {} on {} points; one scale for the three of this grid.", what, sample, on)},
        *values, scale));
  }
}

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
      if (const runs::ValuesRow* values = scores.values(on, fields.sample, method))
        shown.push_back({styles.of(method), density(fields, values->values)});
    }
  }
  return shown;
}

/// Colours and dashes of the channels of an input.
LegendEntry channel_entry(const std::string& name, std::size_t index) {
  static constexpr std::array<const char*, 4> colors = {"#000000", "#0072B2", "#CC79A7", "#E69F00"};
  static constexpr std::array<const char*, 2> dashes = {"", "6,3"};
  return {.label = "input " + name,
          .color = colors[index % colors.size()],
          .dash = dashes[index / colors.size() % dashes.size()]};
}

void draw_curves(Figure& figure, const runs::FieldsRow& fields, const std::vector<ShownDensity>& shown) {
  std::vector<Curve> inputs, outputs, densities;
  const auto add = [&figure](std::vector<Curve>& curves, std::vector<double> values, LegendEntry entry) {
    curves.push_back({std::move(values), line(entry.color, entry.dash)});
    figure.legend.push_back(std::move(entry));
  };
  for (std::size_t i = 0; i < fields.input_channels.size(); ++i)
    add(inputs, channel(fields, fields.input, static_cast<int>(i)), channel_entry(fields.input_channels[i], i));
  add(outputs, channel(fields, fields.solution, fields.query_channel), {.label = "solution", .color = "#56B4E9"});
  add(outputs, channel(fields, fields.prediction, fields.query_channel),
      {.label = "prediction", .color = "#0072B2", .dash = "2,3"});
  for (const auto& [style, density] : shown) add(densities, density, line_legend_of(style));
  if (!shown.empty())  // the reference in steps: it is a value a player, not a curve
    densities.front().style = "with histeps lw 1.8 lc rgb '" + shown.front().style.color + "'";
  figure.panels = {
      curves_panel(fields, {"example-input", "input", fmt::format("Input {}.", fields.sample)}, "input", inputs),
      curves_panel(
          fields,
          {"example-output", "output",
           fmt::format("Solution and prediction of input {}; the dotted line is the query point.", fields.sample)},
          fields.output_channels[static_cast<std::size_t>(fields.query_channel)], outputs),
      curves_panel(fields,
                   {"example-attribution", "attribution density",
                    fmt::format("Densities of the attributions of input {}.", fields.sample)},
                   "density", densities)};
}

void draw_heat_maps(Figure& figure, const runs::FieldsRow& fields, const std::vector<ShownDensity>& shown) {
  const auto add = [&](Panel panel, const std::vector<double>& values, std::optional<double> scale) {
    figure.panels.push_back(heat_map_panel(fields, std::move(panel), values, scale));
  };
  for (std::size_t i = 0; i < fields.input_channels.size(); ++i) {
    const std::string& name = fields.input_channels[i];
    add({fmt::format("example-input-{}", i), "input " + name,
         fmt::format("Channel {} of input {}.", name, fields.sample)},
        channel(fields, fields.input, static_cast<int>(i)), std::nullopt);
  }
  const std::vector<double> solution = channel(fields, fields.solution, fields.query_channel),
                            prediction = channel(fields, fields.prediction, fields.query_channel);
  const double scale = std::max(largest_size(solution), largest_size(prediction));
  add({"example-solution", "solution", "The solution."}, solution, scale);
  add({"example-prediction", "prediction", "The prediction, in the solution's colours."}, prediction, scale);
  double density_scale = 0;
  for (const ShownDensity& attribution : shown)
    density_scale = std::max(density_scale, largest_size(attribution.density));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string& label = shown[i].style.label;
    add({fmt::format("example-attribution-{}", i), label,
         "Attribution density of " + label + ", in one scale for all methods."},
        shown[i].density, density_scale);
  }
  figure.legend.push_back({.label = "query point", .color = "#000000", .dash = "0,40", .marker = 6});
}

Table numbers_of(const runs::FieldsRow& fields, const std::vector<ShownDensity>& shown) {
  std::vector<ColumnOf<std::size_t>> columns;
  const auto add = [&columns](const std::string& heading, const std::vector<double>& values) {
    columns.push_back({heading, [values](auto& point) { return digits(values[point]); }, true});
  };
  std::vector<std::size_t> points(static_cast<std::size_t>(fields.points()));
  std::iota(points.begin(), points.end(), std::size_t{0});
  for (int axis = 0; fields.on_mesh() && axis < 2; ++axis) add(axis == 0 ? "x" : "y", coordinates(fields, axis));
  std::size_t stride = points.size();
  for (std::size_t axis = 0; !fields.on_mesh() && axis < fields.shape.size(); ++axis) {
    const auto along = static_cast<std::size_t>(fields.shape[axis]);
    stride /= along;
    const auto place = [x = coordinates(fields, static_cast<int>(axis)), stride, along](auto& point) {
      return digits(x[point / stride % along]);
    };
    columns.push_back({axis == 0 ? "x" : "y", place, true});
  }
  const auto add_channels = [&](const std::string& what, const std::vector<std::string>& names,
                                const std::vector<double>& values) {
    for (std::size_t i = 0; i < names.size(); ++i) add(what + names[i], channel(fields, values, static_cast<int>(i)));
  };
  add_channels("input ", fields.input_channels, fields.input);
  add_channels("solution ", fields.output_channels, fields.solution);
  add_channels("prediction ", fields.output_channels, fields.prediction);
  for (const ShownDensity& attribution : shown) add(attribution.style.label, attribution.density);
  return table_of("example",
                  "Fields and attribution densities (a player's value over its share of the volume) at every point.",
                  points, columns);
}

std::string position_in_words(const std::vector<double>& query) {
  const std::string words = fmt::format("{:.7g}", fmt::join(query, ", "));
  return query.size() == 1 ? "x = " + words : "(" + words + ")";
}

}  // namespace

Figure shapley_and_density(const Scoreboard& scores) {
  const std::string title = "Shapley values and the explainer's density";
  const std::vector<Discretisation> shown = grids_with_values(scores, has_fields(scores, 1));
  if (shown.empty())
    return without_values(scores, title,
                          "no stored values of both the reference and a trained explainer on a grid of one axis");
  const TypicalInput typical = *typical_input(scores, shown.back());
  const std::string explainer = scores.methods_with_access("amortised").front();
  const MethodStyle style = MethodStyles(scores.methods()).of(explainer);
  Figure figure{.title = title};
  figure.legend = {{.label = "reference", .color = "#0072B2", .bar = true},
                   {.label = "its standard error", .color = "#000000"},
                   line_legend_of(style)};
  figure.numbers = {
      .name = "shapley_and_density",
      .caption = "Values over their share of the volume at each point, with the standard error of the reference.",
      .columns = {{"n", true}, {"x", true}, {"reference", true}, {"standard error", true}, {style.label, true}}};
  std::string errors_in_words;
  for (const Discretisation& on : shown) {
    const auto grid = shown_grid(scores, explainer, typical.sample, on);
    if (!grid) continue;
    const std::vector<double>&bars = grid->reference, &line = grid->explainer;
    std::vector<double> errors = scores.values(on, typical.sample, "reference")->standard_errors;
    errors = errors.empty() ? std::vector<double>(bars.size()) : density(*grid->fields, errors);
    const std::vector<double> x = coordinates(*grid->fields, 0);
    for (std::size_t i = 0; i < bars.size(); ++i)
      figure.numbers.add({on.label(), digits(x[i]), digits(bars[i]), digits(errors[i]), digits(line[i])});
    errors_in_words += fmt::format("{}{} at n = {}", errors_in_words.empty() ? "" : ", ",
                                   show(relative_difference(line, bars)), on.label());
    figure.panels.push_back(bars_and_line(*grid, errors, style));
  }
  if (figure.panels.empty()) return missing(title, "no input has stored values at both numbers of players");
  figure.finding = fmt::format(
      "{} Bars are the reference's Shapley values over their share of the volume. The line is the density of {}, whose "
      "NRMSE here is {}.",
      typical.in_words(style.label), style.label, errors_in_words);
  return figure;
}

Figure grids(const Scoreboard& scores) {
  const std::string title = "Attributions on three grids";
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  if (explainers.empty()) return missing(title, "needs a trained explainer");
  const auto finest = finest_drawable(scores, [&](const Discretisation& on) {
    const auto typical = typical_input(scores, on);
    return typical && fields_of(scores, on, typical->sample) != nullptr;
  });
  if (!finest) return without_values(scores, title, "no stored fields and values of the same input");
  const TypicalInput typical = *typical_input(scores, *finest);
  const std::vector<ShownGrid> grids = grids_of(scores, explainers.front(), typical.sample, *finest);
  if (grids.size() < 2) return missing(title, "values of the same input are stored on one grid alone");
  const MethodStyle explainer = MethodStyles(scores.methods()).of(explainers.front());
  Figure figure{.title = title};
  figure.numbers = {
      .name = "grids",
      .caption = fmt::format("Sizes of the densities of input {} by {} and by the reference, and of their difference.",
                             typical.sample, explainer.label),
      .columns = {{"n", true}, {"reference"}, {"|explainer|", true}, {"|reference|", true}, {"|difference|", true}}};
  std::string words;
  for (const ShownGrid& shown : grids) {
    draw(figure, shown, typical.sample, explainer);
    const double size = norm(shown.reference), apart = norm(shown.difference);
    figure.numbers.add(
        {shown.on.label(), shown.reference_kind, digits(norm(shown.explainer)), digits(size), digits(apart)});
    words += fmt::format("{}{} on {}", words.empty() ? "" : ", ", size > 0 ? show(apart / size) : "undefined",
                         runs::shape_in_words(shown.on.shape));
  }
  if (grids.front().fields->axes() == 2) {
    figure.legend.push_back({.label = "query point", .color = "#000000", .marker = 6, .line = false});
  } else {
    for (const MethodStyle& style : {explainer, reference_style()}) figure.legend.push_back(line_legend_of(style));
  }
  figure.finding = fmt::format("{} The relative distance between {} and the reference is {}.",
                               typical.in_words(explainer.label), explainer.label, words);
  return figure;
}

Figure example(const Scoreboard& scores) {
  const std::string title = "One input and its attribution";
  const auto on = finest_drawable(scores, has_fields(scores, 2));
  if (!on)
    return without_values(scores, title, "no stored fields and values of the same input on a grid of one or two axes");
  const TypicalInput typical = *typical_input(scores, *on);
  const runs::FieldsRow& fields = *fields_of(scores, *on, typical.sample);
  const std::vector<ShownDensity> shown = attributions(scores, *on, fields);
  Figure figure{.title = title, .numbers = numbers_of(fields, shown)};
  if (fields.axes() == 1) {
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
