// The paper's budget curves: how many evaluations a sampling method needs to beat the explainer.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "reporting/error_curves.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

/// Which sampling methods fall below the explainer, and from which budgets on.
struct Wins {
  int methods = 0, below = 0;
  std::optional<std::int64_t> least_budget;
  std::string in_words;  ///< "KernelSHAP from 256, Permutation not up to 2048"
};

Wins who_wins(const Scoreboard& scores, const Discretisation& on, double explainer) {
  Wins wins;
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = scores.curve(on, method);
    if (curve.empty()) continue;
    const auto first = std::find_if(curve.begin(), curve.end(), [explainer](const Cell& cell) {
      return cell.quartiles("nrmse")->median < explainer;
    });
    const bool below = first != curve.end();
    ++wins.methods;
    wins.below += below;
    if (below) wins.least_budget = std::min(wins.least_budget.value_or(*first->budget), *first->budget);
    wins.in_words += fmt::format("{}{} {} {}", wins.in_words.empty() ? "" : ", ", style_of(method).label,
                                 below ? "from" : "not up to", below ? *first->budget : *curve.back().budget);
  }
  return wins;
}

}  // namespace

Figure budget_error(const Scoreboard& scores) {
  const std::string title = "Error against budget";
  if (scores.discretisations_with_curves().empty()) return missing(title, "no method was run at three budgets or more");
  Figure figure{.title = title};
  figure.numbers = {
      .name = "budget_error",
      .caption = "NRMSE over the inputs of the budget curves; the explainer on the same inputs.",
      .columns = {
          {"n", true}, {"method"}, {"budget", true}, {"inputs", true}, {"q25", true}, {"median", true}, {"q75", true}}};
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  figure.finding =
      "Median NRMSE with its quartiles (bands) against the number of distinct coalitions allowed. A horizontal line is "
      "a trained explainer, which needs none.";
  const MethodStyles styles(scores.methods());
  std::vector<std::string> drawn;
  for (const Discretisation& on : scores.discretisations_with_curves()) {
    ErrorCurves curves;
    std::optional<std::set<std::int64_t>> inputs;
    for (const std::string& method : scores.sampling_methods()) {
      const std::vector<Cell> curve = scores.curve(on, method);
      if (curve.empty()) continue;
      if (!inputs) inputs = curve.front().samples();
      std::vector<ErrorPoint> points;
      for (const Cell& cell : curve) {
        const statistics::Quartiles error = *cell.quartiles("nrmse");
        points.push_back({static_cast<double>(*cell.budget), error});
        figure.numbers.add({on.label(), style_of(method).label, std::to_string(*cell.budget),
                            std::to_string(error.count), digits(error.q25), digits(error.median), digits(error.q75)});
      }
      curves.add(styles.of(method), points);
      if (std::find(drawn.begin(), drawn.end(), method) == drawn.end()) drawn.push_back(method);
    }
    if (curves.empty()) continue;
    std::optional<Wins> wins;
    for (const std::string& explainer : explainers) {
      const Cell* cell = scores.cell(on, explainer);
      const auto error = cell == nullptr ? std::nullopt : cell->restricted_to(*inputs).quartiles("nrmse");
      if (!error) continue;
      const MethodStyle style = styles.of(explainer);
      figure.numbers.add({on.label(), style.label, "none", std::to_string(error->count), digits(error->q25),
                          digits(error->median), digits(error->q75)});
      if (explainer == explainers.front()) wins = who_wins(scores, on, error->median);
      curves.add_level(error->median, fmt::format("lw 2.4 {} lc rgb '{}'", dash_style(style.dash), style.color));
    }
    std::string description = "No explainer was run on these inputs.";
    if (wins) {
      description = fmt::format("Budgets at which methods fall below the explainer's error: {}.", wins->in_words);
      figure.finding +=
          fmt::format(" At n = {}, {} of {} sampling methods fall below {}{}.", on.label(), wins->below, wins->methods,
                      style_of(explainers.front()).label,
                      wins->least_budget ? fmt::format(", the first at a budget of {}", *wins->least_budget) : "");
    }
    figure.panels.push_back({.id = "budget-error-" + on.id(),
                             .title = "n = " + on.label(),
                             .description = std::move(description),
                             .script = curves.script()});
  }
  for (const std::string& method : drawn) figure.legend.push_back(legend_of(styles.of(method)));
  for (const std::string& explainer : explainers) {
    const MethodStyle style = styles.of(explainer);
    figure.legend.push_back({.label = style.label, .color = style.color, .dash = style.dash});
  }
  if (figure.panels.empty()) return missing(title, "all errors of the budget curves are 0");
  return figure;
}

}  // namespace opshap::reporting::figures
