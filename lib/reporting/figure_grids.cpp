// Attributions of one input on three grids, by the trained explainer and by the reference: heat maps with their
// difference in the plane, as the paper has them, and curves on a line.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/relative.hpp"
#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

constexpr std::size_t most_grids = 3;

/// Densities of the explainer and of the reference on one grid.
struct ShownGrid {
  Discretisation on;
  const runs::FieldsRow* fields;
  std::string reference_kind;
  std::vector<double> explainer, reference, difference;
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

/// The sample on the last grids up to `finest` that have the values of both, coarse to fine.
std::vector<ShownGrid> grids_of(const Scoreboard& scores, const std::string& explainer, std::int64_t sample,
                                const Discretisation& finest) {
  std::vector<ShownGrid> grids;
  for (const Discretisation& on : scores.discretisations()) {
    if (runs::points_of(on.shape) > runs::points_of(finest.shape)) continue;
    const runs::FieldsRow* fields = fields_of(scores, on, sample);
    const runs::ValuesRow* first = scores.values(on, sample, explainer);
    const runs::ValuesRow* second = scores.values(on, sample, "reference");
    if (fields == nullptr || first == nullptr || second == nullptr || fields->shape.size() > 2) continue;
    ShownGrid shown{.on = on,
                    .fields = fields,
                    .reference_kind = kind_of_reference(scores, on, sample),
                    .explainer = density(*fields, first->values),
                    .reference = density(*fields, second->values),
                    .difference = {}};
    for (std::size_t i = 0; i < shown.explainer.size(); ++i)
      shown.difference.push_back(shown.explainer[i] - shown.reference[i]);
    grids.push_back(std::move(shown));
  }
  if (grids.size() > most_grids) grids.erase(grids.begin(), grids.end() - most_grids);
  return grids;
}

std::string line_in_words(const MethodStyle& style) {
  return fmt::format("with lines lw 2 {} lc rgb '{}'", dash_style(style.dash), style.color);
}

/// Heat maps of both and of their difference in one scale, or both as curves.
void draw(Figure& figure, const ShownGrid& shown, std::int64_t sample, const MethodStyle& explainer) {
  const std::string on = runs::shape_in_words(shown.on.shape);
  if (shown.fields->shape.size() == 1) {
    figure.panels.push_back(curves_panel(
        *shown.fields, fmt::format("grids-{}", shown.on.players), fmt::format("n = {}, {}", on, shown.reference_kind),
        fmt::format("Densities of input {} on {} points by {}, and by the reference: {}.", sample, on, explainer.label,
                    shown.reference_kind),
        "density", {{shown.reference, line_in_words(reference_style())}, {shown.explainer, line_in_words(explainer)}}));
    return;
  }
  const double scale = std::max(largest_size(shown.explainer), largest_size(shown.reference));
  for (const auto& [what, values] :
       {std::pair(explainer.label, &shown.explainer), std::pair(shown.reference_kind, &shown.reference),
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
      .columns = {{"n", true}, {"reference"}, {"|explainer|", true}, {"|reference|", true}, {"|difference|", true}},
      .rows = {}};
  std::string words;
  for (const ShownGrid& shown : grids) {
    draw(figure, shown, typical.sample, explainer);
    const double size = norm(shown.reference), apart = norm(shown.difference);
    figure.numbers.add(
        {shown.on.label(), shown.reference_kind, digits(norm(shown.explainer)), digits(size), digits(apart)});
    words += fmt::format("{}{} on {}", words.empty() ? "" : ", ", size > 0 ? show(apart / size) : "undefined",
                         runs::shape_in_words(shown.on.shape));
  }
  if (grids.front().fields->shape.size() == 2) {
    figure.legend.push_back({.label = "query point", .color = "#000000", .marker = 6, .line = false});
  } else {
    for (const MethodStyle& style : {explainer, reference_style()})
      figure.legend.push_back({.label = style.label, .color = style.color, .dash = style.dash});
  }
  figure.finding = fmt::format("{} The relative distance between {} and the reference is {}.",
                               typical.in_words(explainer.label), explainer.label, words);
  return figure;
}

}  // namespace opshap::reporting::figures
