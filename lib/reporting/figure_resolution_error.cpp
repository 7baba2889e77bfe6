// The quality table at a glance: error of every method against the number of players.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reporting/axes.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

/// Players, or the points of the grid where two grids have the same number of players.
std::int64_t position(const std::vector<Discretisation>& all, const Discretisation& on) {
  std::set<int> players;
  for (const Discretisation& other : all) players.insert(other.players);
  return players.size() == all.size() ? on.players : runs::points_of(on.shape);
}

}  // namespace

Figure resolution_error(const Scoreboard& scores) {
  const std::string title = "Error across resolutions";
  const std::vector<Discretisation>& all = scores.discretisations();
  if (all.size() < 2) return missing(title, "this run has a single number of players");
  Figure figure{.title = title};
  figure.numbers = {
      .name = "resolution_error",
      .caption = "NRMSE over the test inputs at the budget of the tables.",
      .columns = {{"method"}, {"n", true}, {"budget", true}, {"q25", true}, {"median", true}, {"q75", true}}};
  std::string data, plots, explained;
  LogRange errors;
  std::vector<double> positions;
  for (const Discretisation& on : all) positions.push_back(static_cast<double>(position(all, on)));
  const MethodStyles styles(scores.methods());
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  for (const std::string& method : scores.methods()) {
    std::string points, words;
    for (const Discretisation& on : all) {
      const Cell* cell = scores.cell(on, method);
      const auto error = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
      if (!error) continue;
      figure.numbers.add({style_of(method).label, on.label(), cell->budget ? std::to_string(*cell->budget) : "none",
                          digits(error->q25), digits(error->median), digits(error->q75)});
      if (on == all.front() || on == all.back())
        words += fmt::format("{}{} at n = {}", words.empty() ? "" : " and ", show(error->median), on.label());
      if (error->median <= 0) continue;
      errors.include(error->median);
      points += fmt::format("{} {}\n", position(all, on), digits(error->median));
    }
    if (std::find(explainers.begin(), explainers.end(), method) != explainers.end() && !words.empty())
      explained += fmt::format(" {}, one model for all n: {}.", style_of(method).label, words);
    if (points.empty()) continue;
    data += fmt::format("$m{} << EOD\n{}EOD\n", figure.legend.size(), points);
    plots += fmt::format("{}$m{} using 1:2 {}", plots.empty() ? "" : ", ", figure.legend.size(),
                         line_style(styles.of(method)));
    figure.legend.push_back(legend_of(styles.of(method)));
  }
  if (errors.empty()) return missing(title, "no method has an error above 0");
  const bool by_players =
      position(all, all.front()) == all.front().players && position(all, all.back()) == all.back().players;
  figure.finding = "Median NRMSE of each method at its budget of the tables; lower is better." +
                   (explained.empty() ? " No trained explainer was run." : explained);
  figure.panels.push_back({.id = "resolution-error",
                           .title = "median over the test inputs",
                           .description = figure.finding,
                           .script = data + log_axis_at('x', positions) + log_axis('y', errors) + "set xlabel '" +
                                     (by_players ? "players n" : "points of the grid") +
                                     "'\nset ylabel 'median NRMSE'\nplot " + plots + "\n"});
  return figure;
}

}  // namespace opshap::reporting::figures
