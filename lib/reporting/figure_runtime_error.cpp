// The paper's runtime curves: what an attribution costs in wall time, and how good it is then.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reporting/axes.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

namespace {

/// Those with budget curves, else the smallest, the middle and the largest.
std::vector<Discretisation> grids_with_times(const Scoreboard& scores) {
  if (!scores.discretisations_with_curves().empty()) return scores.discretisations_with_curves();
  const std::vector<Discretisation>& all = scores.discretisations();
  std::vector<Discretisation> shown = {all.front(), all[all.size() / 2], all.back()};
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  return shown;
}

/// A sampling method's curve, else the cell of the tables.
std::vector<Cell> cells_of(const Scoreboard& scores, const Discretisation& on, const std::string& method) {
  std::vector<Cell> cells = scores.curve(on, method);
  if (cells.empty() && scores.cell(on, method) != nullptr) cells.push_back(*scores.cell(on, method));
  return cells;
}

/// The fastest cell of the methods that `wanted` accepts, as its label and seconds.
template <typename Wanted>
std::pair<std::string, double> fastest(const Scoreboard& scores, const Discretisation& on, const Wanted& wanted) {
  std::pair<std::string, double> found;
  for (const std::string& method : scores.methods()) {
    for (const Cell& cell : cells_of(scores, on, method)) {
      const auto seconds = cell.seconds();
      if (!seconds || is_baseline(cell.access) || !wanted(cell)) continue;
      if (found.first.empty() || seconds->median < found.second) found = {style_of(method).label, seconds->median};
    }
  }
  return found;
}

/// "n = 16: A 1.3 ms, the fastest other one B 41 ms, 32 times as long", where A is a trained explainer.
std::string fastest_in_words(const Scoreboard& scores, const Discretisation& on) {
  const auto [explainer, explainer_seconds] =
      fastest(scores, on, [](const Cell& cell) { return cell.access == "amortised"; });
  const auto [other, other_seconds] = fastest(scores, on, [](const Cell& cell) { return cell.access != "amortised"; });
  if (explainer_seconds <= 0 || other.empty()) return "";
  return fmt::format("n = {}: {} {}, the fastest other one {} {}, {:.2g} times as long", on.label(), explainer,
                     show_seconds(explainer_seconds), other, show_seconds(other_seconds),
                     other_seconds / explainer_seconds);
}

}  // namespace

Figure runtime_error(const Scoreboard& scores) {
  Figure figure{.title = "Wall time against error"};
  figure.numbers = {
      .name = "runtime_error",
      .caption = "Median wall time of one attribution on this machine and median NRMSE.",
      .columns = {{"n", true}, {"method"}, {"budget", true}, {"inputs", true}, {"seconds", true}, {"NRMSE", true}}};
  std::string words;
  const MethodStyles styles(scores.methods());
  std::vector<std::string> drawn;
  for (const Discretisation& on : grids_with_times(scores)) {
    std::string data, plots;
    LogRange times, errors;
    int block = 0;
    for (const std::string& method : scores.methods()) {
      std::string points;
      for (const Cell& cell : cells_of(scores, on, method)) {
        const auto error = cell.quartiles("nrmse");
        const auto times_taken = cell.seconds();
        if (!error || !times_taken || is_baseline(cell.access)) continue;
        const double seconds = times_taken->median;
        figure.numbers.add({on.label(), style_of(method).label, cell.budget ? std::to_string(*cell.budget) : "none",
                            std::to_string(error->count), digits(seconds), digits(error->median)});
        if (seconds <= 0 || error->median <= 0) continue;
        times.include(seconds);
        errors.include(error->median);
        points += fmt::format("{} {}\n", digits(seconds), digits(error->median));
      }
      if (points.empty()) continue;
      data += fmt::format("$m{} << EOD\n{}EOD\n", block, points);
      plots += fmt::format("{}$m{} using 1:2 {}", plots.empty() ? "" : ", ", block, line_style(styles.of(method)));
      if (std::find(drawn.begin(), drawn.end(), method) == drawn.end()) drawn.push_back(method);
      ++block;
    }
    if (block == 0) continue;
    const std::string finding = fastest_in_words(scores, on);
    words += finding.empty() ? "" : (words.empty() ? "" : "; ") + finding;
    figure.panels.push_back({.id = "runtime-error-" + on.id(),
                             .title = "n = " + on.label(),
                             .description = finding.empty() ? "Each point is a method at one budget." : finding + ".",
                             .script = data + log_axis('x', times, TickLabels::seconds) + log_axis('y', errors) +
                                       "set xlabel 'wall time of one attribution'\nset ylabel 'median NRMSE'\nplot " +
                                       plots + "\n"});
  }
  for (const std::string& method : drawn) figure.legend.push_back(legend_of(styles.of(method)));
  if (figure.panels.empty()) return missing(figure.title, "no attribution has both a wall time and an error above 0");
  figure.finding = fmt::format(
      "Median wall time of one attribution, the game's evaluations included, against its median NRMSE; connected "
      "points are budgets. {}.",
      words.empty() ? "No trained explainer was run" : words);
  return figure;
}

}  // namespace opshap::reporting::figures
