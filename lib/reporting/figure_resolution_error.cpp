// The quality table at a glance: error of every method against the number of players.

#include <fmt/format.h>

#include "reporting/axes.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

Figure resolution_error(const Scoreboard& scores) {
  const std::string title = "Error across resolutions";
  if (scores.resolutions().size() < 2) return missing(title, "this run has a single number of players");
  Figure figure{.title = title, .finding = {}, .panels = {}, .legend = {}, .numbers = {}, .missing = {}};
  figure.numbers = {
      .name = "resolution_error",
      .caption = "NRMSE over the test inputs at the budget of the tables.",
      .columns = {{"method"}, {"n", true}, {"budget", true}, {"q25", true}, {"median", true}, {"q75", true}},
      .rows = {}};
  std::string data, plots, explainer;
  LogRange errors;
  for (const std::string& method : scores.methods()) {
    std::string points;
    for (const int players : scores.resolutions()) {
      const Cell* cell = scores.cell(players, method);
      const auto error = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
      if (!error) continue;
      figure.numbers.add({style_of(method).label, std::to_string(players),
                          cell->budget ? std::to_string(*cell->budget) : "none", digits(error->q25),
                          digits(error->median), digits(error->q75)});
      if (method == "operator_shap")
        explainer += fmt::format("{}{} at n = {}", explainer.empty() ? "" : ", ", show(error->median), players);
      if (error->median <= 0) continue;
      errors.include(error->median);
      points += fmt::format("{} {}\n", players, digits(error->median));
    }
    if (points.empty()) continue;
    data += fmt::format("$m{} << EOD\n{}EOD\n", figure.legend.size(), points);
    plots += fmt::format("{}$m{} using 1:2 {}", plots.empty() ? "" : ", ", figure.legend.size(), line_style(method));
    figure.legend.push_back(legend_of(method));
  }
  if (errors.empty()) return missing(title, "no method has an error above 0");
  figure.panels.push_back(
      {.id = "resolution-error",
       .title = "median over the test inputs",
       .description = explainer.empty() ? "OperatorSHAP was not run." : "OperatorSHAP: " + explainer + ".",
       .script = data + log_axis_at('x', {scores.resolutions().begin(), scores.resolutions().end()}) +
                 log_axis('y', errors) + "set xlabel 'players n'\nset ylabel 'median NRMSE'\nplot " + plots + "\n"});
  figure.finding = fmt::format(
      "Median NRMSE of each method at its table budget max(2n, 1024). OperatorSHAP, one model for all n: {}.",
      explainer.empty() ? "not run" : explainer);
  return figure;
}

}  // namespace opshap::reporting::figures
