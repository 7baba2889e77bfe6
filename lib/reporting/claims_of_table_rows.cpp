// The claims of the rows of the paper's result table: who is best in each, by each of its metrics.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::claims {

namespace {

/// The methods of the paper's table with the best median in a row, by one metric; several where it prints the same.
struct Winners {
  std::vector<std::string> best, others;
  double median = 0;
};

std::optional<Winners> winners(std::string_view pde, int players, const metrics::Metric& metric) {
  Winners found;
  for (const std::string& method : paper_methods()) {
    const PaperCell* cell = find(paper_quality(), pde, players, method, metric.name);
    if (cell == nullptr) return std::nullopt;
    const double gain = (cell->quartiles.median - found.median) * (metric.better == metrics::Better::lower ? -1 : 1);
    if (found.best.empty() || gain > 0) {
      found.others.insert(found.others.end(), found.best.begin(), found.best.end());
      found.best.clear();
      found.median = cell->quartiles.median;
    }
    (found.best.empty() || gain == 0 ? found.best : found.others).push_back(method);
  }
  return found;
}

/// Our median of the paper's best method less the best of the others, signed so that more is better.
std::optional<Measurement> lead(const Scoreboard& scores, const Discretisation& on, const Winners& winners,
                                const metrics::Metric& metric) {
  std::vector<std::string_view> methods(winners.best.begin(), winners.best.end());
  methods.insert(methods.end(), winners.others.begin(), winners.others.end());
  const double sign = metric.better == metrics::Better::lower ? -1 : 1;
  const std::size_t first = winners.best.size();
  auto found = measure_at(
      scores, on, methods, metric.name,
      [sign, first](std::span<const double> medians) {
        std::vector<double> signed_medians;
        for (const double median : medians) signed_medians.push_back(sign * median);
        const auto others = signed_medians.begin() + static_cast<std::ptrdiff_t>(first);
        return *std::max_element(signed_medians.begin(), others) - *std::max_element(others, signed_medians.end());
      },
      0, Side::at_least);
  if (!found) return std::nullopt;
  found->at = metric.symbol;
  std::vector<std::string> figures;
  for (const std::string& method : paper_methods()) {
    const auto at = std::find(methods.begin(), methods.end(), method) - methods.begin();
    figures.push_back(found->figures[static_cast<std::size_t>(at)]);
  }
  found->figures = std::move(figures);
  return found;
}

Judgement row_of_table(const Scoreboard& scores, int players) {
  const std::string& pde = scores.run().pde;
  Measurements found;
  for (const Discretisation& on : scores.discretisations()) {
    if (on.players != players || !on.every_point_plays()) continue;
    for (const std::string& name : paper_metrics()) {
      const metrics::Metric& metric = metrics::find(name);
      const auto best = winners(pde, players, metric);
      if (!best || best->others.empty()) continue;
      if (const auto here = lead(scores, on, *best, metric)) found.push_back(*here);
    }
  }
  if (found.empty()) return not_testable(fmt::format("The three methods were not all run at n = {}.", players));
  Wording wording{
      .quantity = "Our median of the paper's best method less the best of the other two", .at = "metric", .equal = 0};
  for (const std::string& method : paper_methods()) wording.figures.push_back(style_of(method).label);
  return all_of(found, wording);
}

/// The words of the claims of one problem's rows. Claims keep views of them.
struct TableRow {
  int players = 0;
  std::string id, statement, where, title;
};

std::map<std::string, std::vector<TableRow>, std::less<>> make_table_rows() {
  std::map<std::string, std::vector<TableRow>, std::less<>> rows;
  std::set<std::pair<std::string, int>> seen;
  for (const PaperCell& cell : paper_quality()) {
    if (!seen.emplace(cell.pde, cell.players).second) continue;
    std::string best;
    for (const std::string& name : paper_metrics()) {
      const metrics::Metric& metric = metrics::find(name);
      const auto found = winners(cell.pde, cell.players, metric);
      if (!found || found->others.empty()) continue;
      std::string methods;
      for (const std::string& method : found->best)
        methods += (methods.empty() ? "" : " and ") + std::string(style_of(method).label);
      best += fmt::format("{}{} {} ({:.3f})", best.empty() ? "" : ", ", metric.symbol, methods, found->median);
    }
    rows[cell.pde].push_back({.players = cell.players,
                              .id = fmt::format("table_row_{}_{}", cell.pde, cell.players),
                              .statement = fmt::format("Best median on {} at n = {}: {} (read from the table, not a "
                                                       "quote).",
                                                       pde_label(cell.pde), cell.players, best),
                              .where = fmt::format("Table of all PDEs, {}, row n = {} (LaTeX line {})",
                                                   pde_label(cell.pde), cell.players, cell.tex_line),
                              .title = fmt::format("the winners of the table's row n = {}", cell.players)});
  }
  return rows;
}

}  // namespace

std::vector<Claim> of_table_rows(std::string_view pde) {
  static const std::map<std::string, std::vector<TableRow>, std::less<>> rows = make_table_rows();
  std::vector<Claim> claims;
  const auto found = rows.find(pde);
  if (found == rows.end()) return claims;
  for (const TableRow& row : found->second) {
    claims.push_back(
        {.id = row.id,
         .title = row.title,
         .statement = row.statement,
         .where = row.where,
         .rule = "for each metric of the table the paper's best method has a median that is not worse than "
                 "those of the other two, in this run",
         .judge = [players = row.players](const Scoreboard& scores) { return row_of_table(scores, players); },
         .table_row = true});
  }
  return claims;
}

}  // namespace opshap::reporting::claims
