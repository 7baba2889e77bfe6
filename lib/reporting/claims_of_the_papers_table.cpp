// What the cells of the paper's result table say, beside ours and against each other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/comparison.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"
#include "statistics/tail_probability.hpp"

namespace opshap::reporting::claims {

namespace {

/// The intervals of a logarithm, wider by an independent error.
Measurement::IntervalAt widened(double value, Measurement::IntervalAt interval_at, double error) {
  return [value, interval_at = std::move(interval_at), error](double tail) {
    const statistics::Interval interval = interval_at(tail);
    const double by = statistics::student_quantile(1 - tail, std::numeric_limits<double>::infinity()) * error;
    return statistics::Interval{.low = value - std::hypot(value - interval.low, by),
                                .high = value + std::hypot(interval.high - value, by)};
  };
}

/// The factor, at least 1, by which a ratio with this logarithm differs from 1.
Measurement factor_of(double log_ratio, const Measurement::IntervalAt& log_interval, double threshold) {
  return {.at = "",
          .value = std::exp(std::abs(log_ratio)),
          .interval_at =
              [log_interval](double tail) {
                const statistics::Interval of_log = log_interval(tail);
                const bool around_zero = of_log.low <= 0 && of_log.high >= 0;
                const double least = std::min(std::abs(of_log.low), std::abs(of_log.high)),
                             most = std::max(std::abs(of_log.low), std::abs(of_log.high));
                return statistics::Interval{.low = around_zero ? 1 : std::exp(least), .high = std::exp(most)};
              },
          .threshold = threshold,
          .side = Side::at_most};
}

/// A method's median NRMSE over the paper's, the geometric mean over all n that both have. Its direction says whether
/// ours is the better or the worse one.
Judgement column(const Scoreboard& scores, std::string_view method) {
  const runs::Run& run = scores.run();
  std::vector<const Cell*> cells;
  std::vector<double> paper;
  double paper_error = 0;
  int matches = 0;
  Table table{.name = "column",
              .caption = "Median NRMSE [quartiles] of the paper and of this run.",
              .columns = {{"n"}, {"paper", true}, {"this run", true}, {"ratio", true}, {"cell"}}};
  for (const Comparison& cell : compare_with_paper(scores)) {
    if (cell.method != method || cell.metric != "nrmse" || !cell.paper || !cell.ours || cell.ours->median <= 0)
      continue;
    cells.push_back(scores.cell(cell.on, method));
    paper.push_back(cell.paper->median);
    paper_error += error_of_median(*cell.paper) / cell.paper->median;
    const std::string verdict = compare(*cell.paper, *cell.ours, metrics::find("nrmse"));
    matches += verdict == "match";
    table.add(
        {place(cell.on), show(*cell.paper), show(*cell.ours), show(cell.ours->median / cell.paper->median), verdict});
  }
  if (cells.empty()) return not_run(method);
  if (!run.comparable_with_paper) {
    Judgement judgement =
        not_testable(fmt::format("The run is not the paper's: {}.",
                                 run.departures.empty() ? "it says so without a reason" : run.departures.front()));
    judgement.verdict = Verdict::not_comparable;
    judgement.tables.push_back(std::move(table));
    return judgement;
  }
  const auto log_ratio = [&paper](std::span<const double> medians) {
    double sum = 0;
    for (std::size_t i = 0; i < medians.size(); ++i) sum += std::log(medians[i] / paper[i]);
    return sum / static_cast<double>(medians.size());
  };
  const PairedScores errors = PairedScores::of(cells, "nrmse");
  if (errors.inputs() < least_inputs) return not_testable(fmt::format("{} has too few inputs.", method));
  const double ours = log_ratio(errors.medians());
  const Measurement::IntervalAt interval =
      widened(ours, at_tails(errors.resamples(log_ratio)), paper_error / static_cast<double>(cells.size()));
  Judgement judgement = all_of(
      {factor_of(ours, interval, 1.5)},
      {.quantity = fmt::format("The factor between the column of {} and the paper's, the geometric mean over {} n",
                               style_of(method).label, cells.size())},
      fmt::format("Our medians are {} times the paper's, and {} of {} cells match.", show(std::exp(ours)), matches,
                  cells.size()));
  judgement.tables.push_back(std::move(table));
  if (interval(Measurement::one_sided).high < 0) judgement.direction = Direction::better;
  if (interval(Measurement::one_sided).low > 0) judgement.direction = Direction::worse;
  return judgement;
}

constexpr std::string_view column_rule =
    "the geometric mean over all n of our median NRMSE over the paper's is between 1/1.5 and 1.5; the interval holds "
    "our inputs, our reference's error and the sampling error of the paper's medians, from their quartiles";

}  // namespace

Claim regression_msr_column() {
  return of_the_paper(
      "regression_msr_column", column_rule, [](const Scoreboard& scores) { return column(scores, regression_msr); },
      unless_in_the_papers_table);
}

Claim operator_shap_column() {
  return of_the_paper(
      "operator_shap_column", column_rule, [](const Scoreboard& scores) { return column(scores, explainer); },
      unless_in_the_papers_table);
}

Claim integrated_gradients_column() {
  return of_the_paper(
      "integrated_gradients_column", column_rule,
      [](const Scoreboard& scores) { return column(scores, integrated_gradients); }, unless_in_the_papers_table);
}

Claim integrated_gradients_negative_r2() {
  return of_the_paper(
      "integrated_gradients_negative_r2",
      "the median R² of integrated gradients is at most 0 at every n >= 32 of the run",
      [](const Scoreboard& scores) {
        const Measurements found = measure_from(32, scores, {integrated_gradients}, "r2", first_of, 0, Side::at_most);
        if (found.empty()) return not_testable("integrated_gradients was not run at n >= 32.");
        return all_of(found, {.quantity = "The median R² of integrated gradients"});
      },
      unless_burgers);
}

Claim regression_msr_wins_at_32_players() {
  return of_the_paper(
      "regression_msr_wins_at_32_players", "the median NRMSE of RegressionMSR is not above OperatorSHAP's at n = 32",
      [](const Scoreboard& scores) {
        const auto wins = measure_at(scores, Discretisation::line(32), {regression_msr, explainer}, "nrmse",
                                     ratio_of_two, 1, Side::at_most);
        if (!wins) return not_run(regression_msr);
        return all_of({*wins}, {.quantity = "RegressionMSR's median NRMSE over OperatorSHAP's",
                                .figures = {"RegressionMSR", "OperatorSHAP"}});
      },
      unless_burgers);
}

Claim regression_msr_loses_from_64_players() {
  return of_the_paper(
      "regression_msr_loses_from_64_players",
      "the median NRMSE of OperatorSHAP is not above RegressionMSR's at every n >= 64 of the run",
      [](const Scoreboard& scores) {
        const Measurements found =
            measure_from(64, scores, {explainer, regression_msr}, "nrmse", ratio_of_two, 1, Side::at_most);
        if (found.empty()) return not_run(regression_msr);
        return all_of(found, {.quantity = "OperatorSHAP's median NRMSE over RegressionMSR's",
                              .figures = {"OperatorSHAP", "RegressionMSR"}});
      },
      unless_burgers);
}

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
         .source = "paper",
         .statement = row.statement,
         .where = row.where,
         .rule = "for each metric of the table the paper's best method has a median that is not worse than "
                 "those of the other two, in this run",
         .judge = [players = row.players](const Scoreboard& scores) { return row_of_table(scores, players); },
         .table_row = true,
         .title = row.title});
  }
  return claims;
}

}  // namespace opshap::reporting::claims
