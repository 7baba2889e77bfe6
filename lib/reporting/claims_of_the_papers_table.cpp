// What the cells of the paper's result table say, beside ours and against each other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/comparison.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::claims {

namespace {

/// Standard error of a median, relative to it, from its quartiles: of a normal sample it is 1.2533 standard deviations
/// over √count, and the quartiles are 1.349 standard deviations apart.
double relative_error_of_median(const statistics::Quartiles& quartiles) {
  return 1.2533 / 1.349 * (quartiles.q75 - quartiles.q25) / std::sqrt(static_cast<double>(quartiles.count)) /
         quartiles.median;
}

/// An interval of a logarithm, wider by an independent error.
statistics::Interval widened(double value, const statistics::Interval& interval, double error) {
  const double by = 1.96 * error;
  return {.low = value - std::hypot(value - interval.low, by), .high = value + std::hypot(interval.high - value, by)};
}

/// The factor, at least 1, by which a ratio with this logarithm differs from 1.
Measurement factor_of(double log_ratio, const statistics::Interval& interval, double threshold) {
  const bool around_zero = interval.low <= 0 && interval.high >= 0;
  return {.at = "",
          .value = std::exp(std::abs(log_ratio)),
          .interval = {.low = around_zero ? 1 : std::exp(std::min(std::abs(interval.low), std::abs(interval.high))),
                       .high = std::exp(std::max(std::abs(interval.low), std::abs(interval.high)))},
          .threshold = threshold,
          .side = Side::at_most};
}

/// A method's median NRMSE over the paper's, the geometric mean over all n that both have.
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
    paper_error += relative_error_of_median(*cell.paper);
    const std::string verdict = compare(*cell.paper, *cell.ours, metrics::find("nrmse").tolerance);
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
  const statistics::Interval interval =
      widened(ours, errors.interval(log_ratio), paper_error / static_cast<double>(cells.size()));
  Judgement judgement = all_of(
      {factor_of(ours, interval, 1.5)},
      {.quantity = fmt::format("The factor between the column of {} and the paper's, the geometric mean over {} n",
                               style_of(method).label, cells.size())},
      fmt::format("Our medians are {} times the paper's, and {} of {} cells match.", show(std::exp(ours)), matches,
                  cells.size()));
  judgement.tables.push_back(std::move(table));
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

Claim papers_integrated_gradients_are_not_efficient() {
  return {
      .id = "papers_integrated_gradients_are_not_efficient",
      .source = "opshap",
      .statement =
          "In the paper's table R² and NRMSE of integrated gradients contradict each other for a method whose "
          "values add up to v(N) - v(∅).",
      .where =
          "For values that add up, the error over coalitions is that of the Shapley values plus "
          "|φ - ψ|²/(2·H(n-1)), so a lower NRMSE means a higher R²; from reference_data/paper_quality.csv alone",
      .rule =
          "there is a row of the table where integrated gradients have a lower median NRMSE than RegressionMSR or "
          "OperatorSHAP, by more than the metric's tolerance, and also a lower median R², by more than its tolerance",
      .judge = [](const Scoreboard&) {
        Table table{.name = "contradictions",
                    .caption =
                        "Rows of the paper's table where integrated gradients are nearer to the "
                        "reference and explain less. Medians, integrated gradients / the other.",
                    .columns = {{"PDE"}, {"n", true}, {"other"}, {"NRMSE", true}, {"R²", true}, {"LaTeX line", true}}};
        int pairs = 0;
        for (const std::string_view other : {regression_msr, explainer}) {
          const Contradictions found = contradictions(paper_quality(), integrated_gradients, other);
          pairs += found.pairs;
          for (const Contradictions::Row& row : found.cells) {
            table.add({pde_label(row.pde), std::to_string(row.players), style_of(other).label,
                       fmt::format("{} / {}", show(row.nrmse.first), show(row.nrmse.second)),
                       fmt::format("{} / {}", show(row.r2.first), show(row.r2.second)), std::to_string(row.tex_line)});
          }
        }
        Judgement judgement =
            all_of({exactly("", static_cast<double>(table.rows.size()), 1, Side::at_least)},
                   {.quantity = fmt::format("The number of such pairs, of {},", pairs)},
                   "The other two add up by construction, so it is integrated gradients that do not.");
        if (!table.rows.empty()) judgement.tables.push_back(std::move(table));
        return judgement;
      }};
}

}  // namespace opshap::reporting::claims
