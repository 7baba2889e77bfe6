// The quality table at a glance: error of every method against the number of players.

#include <fmt/format.h>

#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::figures {

Figure resolution_error(const Scoreboard& scores) {
  const std::string title = "Error across resolutions";
  if (scores.resolutions().size() < 2) return missing(title, "this run has a single number of players");
  Figure figure{.title = title, .finding = {}, .panels = {}, .numbers = {}, .missing = {}};
  figure.numbers = {
      .name = "resolution_error",
      .caption = "NRMSE over the test inputs at the budget of the tables.",
      .columns = {{"method"}, {"n", true}, {"budget", true}, {"q25", true}, {"median", true}, {"q75", true}},
      .rows = {}};
  std::string data, plots, explainer, worst;
  for (const std::string& method : scores.methods()) {
    std::string points;
    int count = 0;
    for (const int players : scores.resolutions()) {
      const Cell* cell = scores.cell(players, method);
      const auto error = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
      if (!error) continue;
      figure.numbers.add({style_of(method).label, std::to_string(players),
                          cell->budget ? std::to_string(*cell->budget) : "none", digits(error->q25),
                          digits(error->median), digits(error->q75)});
      if (method == "operator_shap")
        explainer += (explainer.empty() ? "" : ", ") + fmt::format("{} at n = {}", show(error->median), players);
      if (error->median <= 0) continue;
      points += fmt::format("{} {}\n", players, digits(error->median));
      ++count;
    }
    if (count == 0) continue;
    const std::string block = fmt::format("$m{}", plots.empty() ? 0 : static_cast<int>(plots.size()));
    data += block + " << EOD\n" + points + "EOD\n";
    plots += (plots.empty() ? "" : ", ") + block + " using 1:2 " + line_style(method) + " title " +
             quote_for_gnuplot(style_of(method).label);
  }
  std::string tics;
  for (const int players : scores.resolutions()) tics += fmt::format("{}{}", tics.empty() ? "" : ",", players);
  figure.panels.push_back(
      {.id = "resolution-error",
       .title = "Median NRMSE against the number of players",
       .description = "One line a method. " +
                      (explainer.empty() ? "OperatorSHAP was not run." : "OperatorSHAP: " + explainer + "."),
       .script = data + "set logscale xy\nset xtics (" + tics +
                 ")\nset xlabel 'players n'\nset ylabel 'median NRMSE'\nplot " + plots + "\n"});
  figure.finding =
      fmt::format("Median NRMSE of each method at its table budget max(2n, 1024). OperatorSHAP is one model: {}.",
                  explainer.empty() ? "not run" : explainer);
  return figure;
}

}  // namespace opshap::figures
