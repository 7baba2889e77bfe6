#include "reporting/page_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reporting/methods.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

std::string quartile_cell(const std::optional<statistics::Quartiles>& quartiles, std::string_view otherwise,
                          const std::string& label) {
  const std::string data = fmt::format("data-label=\"{}\"", escape_markup(label));
  if (!quartiles) return fmt::format("<td class=\"quiet\" {}>{}</td>", data, escape_markup(otherwise));
  return fmt::format("<td {}>{} <span class=\"range\">[{}, {}]</span></td>", data, show(quartiles->median),
                     show(quartiles->q25), show(quartiles->q75));
}

/// The verdicts of one n side by side, equal neighbours as one cell.
std::string verdict_cells(const std::vector<const Comparison*>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i + 1;
    while (end < cells.size() && cells[end]->verdict == cells[i]->verdict) ++end;
    text += fmt::format("<td class=\"judged\" colspan=\"{}\">{}</td>", end - i, escape_markup(cells[i]->verdict));
    i = end;
  }
  return text;
}

/// The rows of one problem; empty when it has no cell of this metric.
std::string metric_rows(const ComparedProblem& problem, const metrics::Metric& metric) {
  std::map<Discretisation, std::map<std::string, const Comparison*>> by_grid;
  for (const Comparison& cell : problem.comparisons) {
    if (cell.metric == metric.name) by_grid[cell.on][cell.method] = &cell;
  }
  if (by_grid.empty()) return "";
  std::string text;
  if (!problem.heading.empty()) {
    text += fmt::format("<tbody><tr><th scope=\"rowgroup\" colspan=\"{}\" class=\"problem\">{}</th></tr></tbody>\n",
                        paper_methods().size() + 2, escape_markup(problem.heading));
  }
  for (const auto& [on, cells] : by_grid) {
    const bool run = std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.second->ours; });
    text += fmt::format("<tbody>\n<tr><th scope=\"rowgroup\" rowspan=\"{}\">{}</th><td class=\"who\">paper</td>",
                        run && problem.with_verdicts ? 3 : 2, on.label());
    std::string papers, ours;
    std::vector<const Comparison*> verdicts;
    for (const std::string& method : paper_methods()) {
      const Comparison* cell = cells.contains(method) ? cells.at(method) : nullptr;
      const std::string label = style_of(method).label;
      papers += quartile_cell(cell == nullptr ? std::nullopt : cell->paper, "no row in the paper", label);
      ours += quartile_cell(cell == nullptr ? std::nullopt : cell->ours, "not run", label);
      if (cell != nullptr) verdicts.push_back(cell);
    }
    text += papers;
    text += "</tr>\n<tr class=\"inner ours\"><td class=\"who\">this run</td>";
    text += run ? ours : verdict_cells(verdicts);  // "not run", in one cell
    if (run && problem.with_verdicts)
      text += "</tr>\n<tr class=\"inner\"><td class=\"who\">verdict</td>" + verdict_cells(verdicts);
    text += "</tr>\n</tbody>\n";
  }
  return text;
}

}  // namespace

std::string comparison_table(const std::vector<ComparedProblem>& problems, const metrics::Metric& metric) {
  std::string text = fmt::format(
      "<h3>{} <span class=\"quiet\">({} is better)</span></h3>\n<div class=\"wide against\" tabindex=\"0\" "
      "role=\"region\" aria-label=\"{} of the paper and of this run\"><table>\n",
      escape_markup(metric.symbol), metric.better == metrics::Better::lower ? "lower" : "higher",
      escape_markup(metric.symbol));
  text += "<thead><tr><th scope=\"col\" class=\"number\">n</th><th scope=\"col\">median [quartiles]</th>";
  for (const std::string& method : paper_methods())
    text += fmt::format("<th scope=\"col\">{}</th>", escape_markup(style_of(method).label));
  text += "</tr></thead>\n";
  for (const ComparedProblem& problem : problems) text += metric_rows(problem, metric);
  return text + "</table></div>\n";
}

std::vector<metrics::Metric> compared_metrics(const std::vector<Comparison>& comparisons) {
  std::vector<metrics::Metric> found;
  for (const Comparison& cell : comparisons) {
    if (std::none_of(found.begin(), found.end(),
                     [&](const metrics::Metric& metric) { return metric.name == cell.metric; }))
      found.push_back(metrics::find(cell.metric));
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const metrics::Metric& metric) { return metric.better == metrics::Better::lower; });
  return found;
}

}  // namespace opshap::reporting
