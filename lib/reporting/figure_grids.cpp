// Attributions of one input on three grids, by the trained explainer and by RegressionMSR (the reference where that was
// not run): heat maps with their difference in the plane, as the paper has them, and curves on a line.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

constexpr std::size_t shown_grids = 3;

/// Densities of both methods on one grid.
struct Shown {
  Discretisation on;
  const runs::FieldsRow* fields;
  std::vector<double> explainer, sampled, difference;
};

double norm(const std::vector<double>& values) {
  double size = 0;
  for (const double value : values) size = std::hypot(size, value);
  return size;
}

/// The sample on the last grids up to `finest` that have the values of both methods, coarse to fine.
std::vector<Shown> grids_of(const Scoreboard& scores, const std::string& explainer, const std::string& other,
                            std::int64_t sample, const Discretisation& finest) {
  std::vector<Shown> grids;
  for (const Discretisation& on : scores.discretisations()) {
    if (runs::points_of(on.shape) > runs::points_of(finest.shape)) continue;
    const runs::FieldsRow* fields = fields_of(scores, on, sample);
    const runs::ValuesRow* first = scores.values(on, sample, explainer);
    const runs::ValuesRow* second = scores.values(on, sample, other);
    if (fields == nullptr || first == nullptr || second == nullptr || fields->shape.size() > 2) continue;
    Shown shown{.on = on,
                .fields = fields,
                .explainer = density(*fields, first->values),
                .sampled = density(*fields, second->values),
                .difference = {}};
    for (std::size_t i = 0; i < shown.explainer.size(); ++i)
      shown.difference.push_back(shown.explainer[i] - shown.sampled[i]);
    grids.push_back(std::move(shown));
  }
  if (grids.size() > shown_grids) grids.erase(grids.begin(), grids.end() - shown_grids);
  return grids;
}

double largest_size(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

std::string line_of(std::string_view method) {
  const MethodStyle style = style_of(method);
  return fmt::format("with lines lw 2 {} lc rgb '{}'", dash_style(style.dash),
                     style.color == "#000000" ? "black" : style.color);
}

/// Heat maps of both and of their difference in one scale, or both as curves.
void draw(Figure& figure, const Shown& shown, std::int64_t sample, const std::string& by_explainer,
          const std::string& by_other, const std::vector<std::string>& curves) {
  const std::string on = runs::shape_in_words(shown.on.shape);
  if (shown.fields->shape.size() == 1) {
    figure.panels.push_back(curves_panel(*shown.fields, fmt::format("grids-{}", shown.on.players), "n = " + on,
                                         fmt::format("Densities of input {} on {} points.", sample, on), "density",
                                         {{shown.sampled, curves[1]}, {shown.explainer, curves[0]}}));
    return;
  }
  const double scale = std::max(largest_size(shown.explainer), largest_size(shown.sampled));
  for (const auto& [what, values] : {std::pair(by_explainer, &shown.explainer), std::pair(by_other, &shown.sampled),
                                     std::pair(std::string("difference"), &shown.difference)}) {
    figure.panels.push_back(heat_map_panel(
        *shown.fields, fmt::format("grids-{}-{}", shown.on.players, figure.panels.size()),
        fmt::format("{}, {}", what, on),
        fmt::format("{} of input {} on {} points; one scale for the three of this grid.", what, sample, on), *values,
        scale));
  }
}

}  // namespace

Figure grids(const Scoreboard& scores) {
  const std::string title = "Attributions on three grids";
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  if (explainers.empty()) return missing(title, "needs a trained explainer");
  const std::vector<std::string> methods = scores.methods();
  const char* const sampling = "regression_msr_shapiq_1_6";
  const std::string other = std::ranges::find(methods, sampling) == methods.end() ? "reference" : sampling;
  const auto finest = finest_drawable(scores, [&](const Discretisation& on) {
    const auto sample = typical_sample(scores, on);
    return sample && fields_of(scores, on, *sample) != nullptr && scores.values(on, *sample, other) != nullptr;
  });
  if (!finest) return missing(title, "no stored fields and values of the same input");
  const std::int64_t sample = *typical_sample(scores, *finest);
  const std::string& explainer = explainers.back();  // with several the newest one, which is named
  const std::vector<Shown> grids = grids_of(scores, explainer, other, sample, *finest);
  if (grids.size() < 2) return missing(title, "values of the same input are stored on one grid alone");
  const std::string by_explainer = style_of(explainer).label,
                    by_other = other == "reference" ? other : style_of(other).label;
  Figure figure{.title = title};
  figure.numbers = {
      .name = "grids",
      .caption = fmt::format("Densities of input {}: their sizes, and how far they are apart. The other one is {}.",
                             sample, by_other),
      .columns = {{"n", true}, {"|explainer|", true}, {"|other|", true}, {"|difference|", true}},
      .rows = {}};
  std::string words;
  for (const Shown& shown : grids) {
    draw(figure, shown, sample, by_explainer, by_other, {line_of(explainer), line_of(other)});
    const double size = norm(shown.sampled), apart = norm(shown.difference);
    figure.numbers.add({shown.on.label(), digits(norm(shown.explainer)), digits(size), digits(apart)});
    words += fmt::format("{}{} on {}", words.empty() ? "" : ", ", size > 0 ? show(apart / size) : "undefined",
                         runs::shape_in_words(shown.on.shape));
  }
  if (grids.front().fields->shape.size() == 2) {
    figure.legend.push_back({.label = "query point", .color = "#000000", .dash = "0,40", .marker = 6});
  } else {
    for (const std::string& method : {explainer, other}) {
      LegendEntry entry = legend_of(style_of(method));
      if (method == "reference") entry.label = method;
      entry.marker = 0;
      figure.legend.push_back(std::move(entry));
    }
  }
  figure.finding =
      fmt::format("Input {}: relative distance between {} and {} {}.", sample, by_explainer, by_other, words);
  return figure;
}

}  // namespace opshap::reporting::figures
