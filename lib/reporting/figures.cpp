#include "reporting/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

const std::vector<FigureKind>& all() {
  static const std::vector<FigureKind> kinds = {
#define FIGURE(name, summary) {#name, summary, &name},
#include "reporting/figures.def"
#undef FIGURE
  };
  return kinds;
}

std::optional<std::int64_t> typical_sample(const Scoreboard& scores, const Discretisation& on) {
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  const Cell* cell = explainers.empty() ? nullptr : scores.cell(on, explainers.front());
  if (cell == nullptr) return std::nullopt;
  std::vector<std::pair<double, std::int64_t>> errors;
  for (const runs::AttributionRow* row : cell->rows) {
    const bool stored = scores.values(on, row->sample, "reference") != nullptr &&
                        scores.values(on, row->sample, explainers.front()) != nullptr;
    if (row->nrmse.value && stored) errors.emplace_back(*row->nrmse.value, row->sample);
  }
  if (errors.empty()) return std::nullopt;
  std::sort(errors.begin(), errors.end());
  return errors[(errors.size() - 1) / 2].second;
}

const runs::FieldsRow* fields_of(const Scoreboard& scores, const Discretisation& on, std::int64_t sample) {
  for (const runs::FieldsRow& row : scores.run().results.fields) {
    if (row.pde == scores.run().pde && row.sample == sample && row.shape == on.shape && row.players() == on.players)
      return &row;
  }
  return nullptr;
}

std::optional<Discretisation> finest_drawable(const Scoreboard& scores,
                                              const std::function<bool(const Discretisation&)>& wanted) {
  constexpr int narrowest_bar = 3;  // of the panel's width
  constexpr std::int64_t most_rectangles = 1024;
  std::optional<Discretisation> finest;
  for (const Discretisation& on : scores.discretisations()) {
    const std::int64_t points = runs::points_of(on.shape);
    const bool fits = on.shape.size() == 1 ? points * narrowest_bar <= panel_width : points <= most_rectangles;
    if (!wanted(on)) continue;
    if (!finest || (fits && points >= runs::points_of(finest->shape))) finest = on;
  }
  return finest;
}

Figure missing(std::string title, std::string why) { return {.title = std::move(title), .missing = std::move(why)}; }

std::string dash_style(std::string_view dash) { return dash.empty() ? "dt solid" : fmt::format("dt ({})", dash); }

std::string line_style(const MethodStyle& style) {
  return fmt::format("with linespoints lc rgb '{}' {} pt {} ps 0.75 lw 1.8", style.color, dash_style(style.dash),
                     style.marker);
}

std::string digits(double value) { return fmt::format("{:.7g}", value); }

}  // namespace opshap::reporting::figures
