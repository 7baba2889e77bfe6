#include "reporting/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "statistics/quantiles.hpp"

namespace opshap::reporting::figures {

const std::vector<FigureKind>& all() {
  static const std::vector<FigureKind> kinds = {
#define FIGURE(name, summary) {#name, summary, &name},
#include "reporting/figures.def"
#undef FIGURE
  };
  return kinds;
}

std::string TypicalInput::in_words(const std::string& explainer) const {
  if (!backbone_error)
    return fmt::format("Input {} is the one with {}'s median NRMSE. The backbone's error on it is not stored.", sample,
                       explainer);
  return fmt::format(
      "Of the inputs whose backbone error is at most twice the median, input {} is the one with {}'s median NRMSE. The "
      "backbone's relative error on it is {}.",
      sample, explainer, show(*backbone_error));
}

std::optional<TypicalInput> typical_input(const Scoreboard& scores, const Discretisation& on) {
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  const Cell* cell = explainers.empty() ? nullptr : scores.cell(on, explainers.front());
  if (cell == nullptr) return std::nullopt;
  constexpr double ordinary = 2;  // times the median backbone error, at most
  const std::map<std::int64_t, double> backbone = backbone_errors(scores, on.shape);
  std::vector<double> backbone_sizes;
  for (const auto& [sample, error] : backbone) backbone_sizes.push_back(error);
  const double limit = backbone.empty() ? 0 : ordinary * statistics::quartiles(backbone_sizes).median;
  const auto is_ordinary = [&](std::int64_t sample) {
    const auto found = backbone.find(sample);
    return backbone.empty() || (found != backbone.end() && found->second <= limit);
  };
  std::vector<std::pair<double, std::int64_t>> errors;
  for (const runs::AttributionRow* row : cell->rows) {
    const bool stored = scores.values(on, row->sample, "reference") != nullptr &&
                        scores.values(on, row->sample, explainers.front()) != nullptr;
    if (row->scores["nrmse"].value && stored && is_ordinary(row->sample))
      errors.emplace_back(*row->scores["nrmse"].value, row->sample);
  }
  if (errors.empty()) return std::nullopt;
  std::sort(errors.begin(), errors.end());
  TypicalInput typical{.sample = errors[(errors.size() - 1) / 2].second, .backbone_error = std::nullopt};
  if (!backbone.empty()) typical.backbone_error = backbone.at(typical.sample);
  return typical;
}

double largest_size(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

Figure missing(std::string title, std::string why) { return {.title = std::move(title), .missing = std::move(why)}; }

std::string dash_style(std::string_view dash) { return dash.empty() ? "dt solid" : fmt::format("dt ({})", dash); }

std::string line_style(const MethodStyle& style) {
  return fmt::format("with linespoints lc rgb '{}' {} pt {} ps 0.75 lw 1.8", style.color, dash_style(style.dash),
                     style.marker);
}

std::string digits(double value) { return fmt::format("{:.7g}", value); }

}  // namespace opshap::reporting::figures
