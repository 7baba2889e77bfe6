// The paper's budget curves: how many evaluations a sampling method needs to beat the explainer.

#include <fmt/format.h>

#include <algorithm>

#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::figures {

namespace {

/// "KernelSHAP from 256 coalitions on" for each method, in words.
std::string who_wins(const Scoreboard& scores, int players, double explainer) {
  std::string text;
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = scores.curve(players, method);
    if (curve.empty()) continue;
    const auto first = std::find_if(curve.begin(), curve.end(), [explainer](const Cell& cell) {
      return cell.quartiles("nrmse")->median < explainer;
    });
    text += (text.empty() ? "" : "; ") + style_of(method).label;
    text += first == curve.end() ? fmt::format(" not up to {}", *curve.back().budget)
                                 : fmt::format(" from {}", *first->budget);
  }
  return text;
}

}  // namespace

Figure budget_error(const Scoreboard& scores) {
  const std::string title = "Error against budget";
  if (scores.curve_resolutions().empty()) return missing(title, "no method was run at three budgets or more");
  Figure figure{.title = title, .finding = {}, .panels = {}, .numbers = {}, .missing = {}};
  figure.numbers = {
      .name = "budget_error",
      .caption = "NRMSE over the inputs of the budget curves; the explainer on the same inputs.",
      .columns =
          {{"n", true}, {"method"}, {"budget", true}, {"inputs", true}, {"q25", true}, {"median", true}, {"q75", true}},
      .rows = {}};
  figure.finding =
      "Median NRMSE with its quartiles (bands) against the number of distinct coalitions allowed; the horizontal line "
      "is OperatorSHAP, which needs none. Below it";
  for (const int players : scores.curve_resolutions()) {
    std::string data, bands, lines;
    int block = 0;
    std::optional<Quartiles> explainer;
    for (const std::string& method : scores.sampling_methods()) {
      const std::vector<Cell> curve = scores.curve(players, method);
      if (curve.empty()) continue;
      const Cell* amortised = scores.cell(players, "operator_shap");
      if (!explainer && amortised != nullptr)
        explainer = amortised->restricted_to(curve.front().samples()).quartiles("nrmse");
      std::string points;
      for (const Cell& cell : curve) {
        const Quartiles error = *cell.quartiles("nrmse");
        figure.numbers.add({std::to_string(players), style_of(method).label, std::to_string(*cell.budget),
                            std::to_string(error.count), digits(error.q25), digits(error.median), digits(error.q75)});
        // An error of exactly 0 (a budget of all coalitions) has no place on a logarithmic axis; it is in the table.
        if (error.q25 > 0)
          points +=
              fmt::format("{} {} {} {}\n", *cell.budget, digits(error.q25), digits(error.median), digits(error.q75));
      }
      if (points.empty()) continue;
      data += fmt::format("$m{} << EOD\n{}EOD\n", block, points);
      bands += fmt::format("{}$m{} using 1:2:4 with filledcurves lc rgb '{}' notitle", bands.empty() ? "" : ", ", block,
                           style_of(method).color);
      lines += fmt::format(", $m{} using 1:3 {} title {}", block, line_style(method),
                           quote_for_gnuplot(style_of(method).label));
      ++block;
    }
    if (block == 0) continue;
    std::string wins = "OperatorSHAP was not run on these inputs";
    if (explainer) {
      figure.numbers.add({std::to_string(players), "OperatorSHAP", "none", std::to_string(explainer->count),
                          digits(explainer->q25), digits(explainer->median), digits(explainer->q75)});
      if (explainer->median > 0)
        lines += fmt::format(", {} with lines lw 2.2 lc rgb '#D55E00' title 'OperatorSHAP'", digits(explainer->median));
      wins = who_wins(scores, players, explainer->median);
    }
    figure.finding += fmt::format("{} at n = {}: {}", figure.panels.empty() ? "" : ".", players, wins);
    figure.panels.push_back(
        {.id = fmt::format("budget-error-{}", players),
         .title = fmt::format("NRMSE against budget, n = {}", players),
         .description = fmt::format("Budgets at which methods fall below OperatorSHAP's error: {}.", wins),
         .script = data + fmt::format("set title 'n = {}'\nset logscale xy\nset xlabel 'budget (distinct "
                                      "coalitions)'\nset ylabel 'NRMSE'\nset format x '%.0f'\n"
                                      "plot {}{}\n",
                                      players, bands, lines)});
  }
  figure.finding += ".";
  if (figure.panels.empty()) return missing(title, "all errors of the budget curves are 0");
  return figure;
}

}  // namespace opshap::figures
