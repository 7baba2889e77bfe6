// The paper's runtime curves: what an attribution costs in wall time, and how good it is then.

#include <fmt/format.h>

#include <algorithm>

#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::figures {

namespace {

/// Those with budget curves, else the smallest, the middle and the largest.
std::vector<int> shown_resolutions(const Scoreboard& scores) {
  if (!scores.curve_resolutions().empty()) return scores.curve_resolutions();
  const std::vector<int>& all = scores.resolutions();
  std::vector<int> shown = {all.front(), all[all.size() / 2], all.back()};
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  return shown;
}

/// A sampling method's curve, else the cell of the tables.
std::vector<Cell> cells_of(const Scoreboard& scores, int players, const std::string& method) {
  std::vector<Cell> cells = scores.curve(players, method);
  if (cells.empty() && scores.cell(players, method) != nullptr) cells.push_back(*scores.cell(players, method));
  return cells;
}

}  // namespace

Figure runtime_error(const Scoreboard& scores) {
  Figure figure{.title = "Wall time against error", .finding = {}, .panels = {}, .numbers = {}, .missing = {}};
  figure.numbers = {
      .name = "runtime_error",
      .caption = "Median wall time of one attribution on this machine and median NRMSE.",
      .columns = {{"n", true}, {"method"}, {"budget", true}, {"inputs", true}, {"seconds", true}, {"NRMSE", true}},
      .rows = {}};
  std::string ratios;
  for (const int players : shown_resolutions(scores)) {
    std::string data, plots;
    int block = 0;
    double explainer = 0, fastest = 0;
    std::string fastest_method;
    for (const std::string& method : scores.methods()) {
      if (method == "uniform") continue;
      std::string points;
      for (const Cell& cell : cells_of(scores, players, method)) {
        const auto error = cell.quartiles("nrmse");
        const double seconds = cell.seconds().median;
        if (!error) continue;
        figure.numbers.add({std::to_string(players), style_of(method).label,
                            cell.budget ? std::to_string(*cell.budget) : "none", std::to_string(error->count),
                            digits(seconds), digits(error->median)});
        if (method == "operator_shap") {
          explainer = seconds;
        } else if (fastest_method.empty() || seconds < fastest) {
          fastest = seconds;
          fastest_method = style_of(method).label;
        }
        if (seconds > 0 && error->median > 0) points += fmt::format("{} {}\n", digits(seconds), digits(error->median));
      }
      if (points.empty()) continue;
      data += fmt::format("$m{} << EOD\n{}EOD\n", block, points);
      plots += fmt::format("{}$m{} using 1:2 {} title {}", plots.empty() ? "" : ", ", block, line_style(method),
                           quote_for_gnuplot(style_of(method).label));
      ++block;
    }
    if (block == 0) continue;
    if (explainer > 0 && !fastest_method.empty()) {
      ratios += fmt::format("{}n = {}: OperatorSHAP {}, next {} {} ({}x)", ratios.empty() ? "" : "; ", players,
                            show_seconds(explainer), fastest_method, show_seconds(fastest),
                            fmt::format("{:.2g}", fastest / explainer));
    }
    figure.panels.push_back(
        {.id = fmt::format("runtime-error-{}", players),
         .title = fmt::format("NRMSE against wall time, n = {}", players),
         .description = fmt::format("Each point is a method at one budget, n = {}.", players),
         .script = data + fmt::format("set title 'n = {}'\nset logscale xy\nset format x '10^{{%L}}'\nset xlabel "
                                      "'seconds per attribution'\nset ylabel 'median NRMSE'\n"
                                      "set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05\nplot {}\n",
                                      players, plots)});
  }
  if (figure.panels.empty()) return missing(figure.title, "no attribution has both a wall time and an error above 0");
  figure.finding =
      "Median wall time of one attribution, the game's evaluations included, against its median NRMSE; connected "
      "points are budgets. " +
      (ratios.empty() ? "OperatorSHAP was not run." : ratios + ".");
  return figure;
}

}  // namespace opshap::figures
