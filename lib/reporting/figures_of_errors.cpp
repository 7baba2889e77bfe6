// Figures of errors: against the number of players, the budget and the wall time.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

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
    const auto first =
        std::ranges::find_if(curve, [explainer](auto& cell) { return cell.quartiles("nrmse")->median < explainer; });
    const bool below = first != curve.end();
    ++wins.methods;
    wins.below += below;
    if (below) wins.least_budget = std::min(wins.least_budget.value_or(*first->budget), *first->budget);
    wins.in_words += fmt::format("{}{} {} {}", wins.in_words.empty() ? "" : ", ", style_of(method).label,
                                 below ? "from" : "not up to", below ? *first->budget : *curve.back().budget);
  }
  return wins;
}

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

/// "n = 16: A 1.3 ms, the fastest other one B 41 ms, 32 times as long", where A is a trained explainer.
std::string fastest_in_words(const Scoreboard& scores, const Discretisation& on) {
  struct Fastest {
    std::string label;
    double seconds = 0;
  } explainer, other;
  for (const std::string& method : scores.methods()) {
    for (const Cell& cell : cells_of(scores, on, method)) {
      const auto seconds = cell.seconds();
      if (!seconds || is_baseline(cell.access)) continue;
      Fastest& fastest = cell.access == "amortised" ? explainer : other;
      if (fastest.label.empty() || seconds->median < fastest.seconds)
        fastest = {style_of(method).label, seconds->median};
    }
  }
  if (explainer.seconds <= 0 || other.label.empty()) return "";
  return fmt::format("n = {}: {} {}, the fastest other one {} {}, {:.2g} times as long", on.label(), explainer.label,
                     show_seconds(explainer.seconds), other.label, show_seconds(other.seconds),
                     other.seconds / explainer.seconds);
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
    figure.legend.push_back(styles.of(method));
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
    std::string description = "No explainer was run on these inputs.";
    for (const std::string& explainer : explainers) {
      const Cell* cell = scores.cell(on, explainer);
      const auto error = cell == nullptr ? std::nullopt : cell->restricted_to(*inputs).quartiles("nrmse");
      if (!error) continue;
      const MethodStyle style = styles.of(explainer);
      figure.numbers.add({on.label(), style.label, "none", std::to_string(error->count), digits(error->q25),
                          digits(error->median), digits(error->q75)});
      if (explainer == explainers.front()) {
        const Wins wins = who_wins(scores, on, error->median);
        description = fmt::format("Budgets at which methods fall below the explainer's error: {}.", wins.in_words);
        figure.finding +=
            fmt::format(" At n = {}, {} of {} sampling methods fall below {}{}.", on.label(), wins.below, wins.methods,
                        style_of(explainer).label,
                        wins.least_budget ? fmt::format(", the first at a budget of {}", *wins.least_budget) : "");
      }
      curves.add_level(error->median, fmt::format("lw 2.4 {} lc rgb '{}'", dash_style(style.dash), style.color));
    }
    figure.panels.push_back({.id = "budget-error-" + on.id(),
                             .title = "n = " + on.label(),
                             .description = std::move(description),
                             .script = curves.script()});
  }
  for (const std::string& method : drawn) figure.legend.push_back(styles.of(method));
  for (const std::string& explainer : explainers) figure.legend.push_back(line_legend_of(styles.of(explainer)));
  if (figure.panels.empty()) return missing(title, "all errors of the budget curves are 0");
  return figure;
}

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
  for (const std::string& method : drawn) figure.legend.push_back(styles.of(method));
  if (figure.panels.empty()) return missing(figure.title, "no attribution has both a wall time and an error above 0");
  figure.finding = fmt::format(
      "Median wall time of one attribution, the game's evaluations included, against its median NRMSE; connected "
      "points are budgets. {}.",
      words.empty() ? "No trained explainer was run" : words);
  return figure;
}

}  // namespace opshap::reporting::figures
