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

std::optional<std::int64_t> typical_sample(const Scoreboard& scores, int players) {
  const Cell* explainer = scores.cell(players, "operator_shap");
  if (explainer == nullptr) return std::nullopt;
  std::vector<std::pair<double, std::int64_t>> errors;
  for (const AttributionRow* row : explainer->rows) {
    const bool stored = scores.values(players, row->sample, "reference") != nullptr &&
                        scores.values(players, row->sample, "operator_shap") != nullptr;
    if (row->nrmse.value && stored) errors.emplace_back(*row->nrmse.value, row->sample);
  }
  if (errors.empty()) return std::nullopt;
  std::sort(errors.begin(), errors.end());
  return errors[(errors.size() - 1) / 2].second;
}

Figure missing(std::string title, std::string why) {
  return {
      .title = std::move(title), .finding = {}, .panels = {}, .legend = {}, .numbers = {}, .missing = std::move(why)};
}

std::string dash_style(std::string_view dash) { return dash.empty() ? "dt solid" : fmt::format("dt ({})", dash); }

std::string line_style(std::string_view method) {
  const MethodStyle style = style_of(method);
  return fmt::format("with linespoints lc rgb '{}' {} pt {} ps 0.75 lw 1.8", style.color, dash_style(style.dash),
                     style.marker);
}

std::string digits(double value) { return fmt::format("{:.7g}", value); }

}  // namespace opshap::reporting::figures
