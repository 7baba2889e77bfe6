#include "reporting/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/registry.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::tables {

namespace {

std::string budget_of(const Cell& cell) { return cell.budget ? show_count(static_cast<double>(*cell.budget)) : "none"; }

std::string count_in_words(std::optional<double> median) { return median ? show_count(*median) : "refused"; }

/// Quartiles, and how many inputs have none and why.
std::string scores_of(const Cell& cell, std::string_view metric) {
  const auto quartiles = cell.quartiles(metric);
  const std::string undefined = cell.undefined(metric);
  if (!quartiles) return undefined;
  return show(*quartiles) + (undefined.empty() ? "" : " (" + undefined + ")");
}

std::string largest_gap(const Cell& cell) {
  double largest = 0;
  bool any = false;
  for (const AttributionRow* row : cell.rows) {
    if (!row->efficiency_gap.value) continue;
    largest = std::max(largest, *row->efficiency_gap.value);
    any = true;
  }
  return any ? show(largest) : cell.undefined("efficiency_gap");
}

}  // namespace

Table paper_comparison(const std::vector<Comparison>& comparisons) {
  Table table{
      .name = "paper_comparison",
      .caption =
          "Median [quartiles] of the paper's table and of this run. match: medians closer than the metric's tolerance; "
          "overlap: interquartile ranges meet.",
      .columns =
          {{"n", true}, {"metric"}, {"method"}, {"paper", true}, {"this run", true}, {"difference", true}, {"verdict"}},
      .rows = {}};
  for (const Comparison& cell : comparisons) {
    const bool both = cell.paper && cell.ours;
    table.add({std::to_string(cell.players), std::string(metrics::find(cell.metric).symbol),
               style_of(cell.method).label, show(cell.paper, "no row"), show(cell.ours, "not run"),
               both ? show(cell.ours->median - cell.paper->median) : "none", cell.verdict});
  }
  return table;
}

Table methods(const Scoreboard& scores) {
  Table table{.name = "methods",
              .caption =
                  "Median [quartiles] over the test inputs at the budget max(2n, 1024). Methods that see different "
                  "things (coalition values, gradients, a trained network) are not "
                  "rivals on equal terms.",
              .columns = {{"n", true},
                          {"method"},
                          {"sees"},
                          {"budget", true},
                          {"inputs", true},
                          {"NRMSE", true},
                          {"Pearson", true},
                          {"R²", true},
                          {"largest gap", true}},
              .rows = {}};
  for (const int players : scores.resolutions()) {
    for (const std::string& method : scores.methods()) {
      const Cell* cell = scores.cell(players, method);
      if (cell == nullptr) continue;
      table.add({std::to_string(players), style_of(method).label, access_label(cell->access), budget_of(*cell),
                 std::to_string(cell->rows.size()), scores_of(*cell, "nrmse"), scores_of(*cell, "pearson"),
                 scores_of(*cell, "r2"), largest_gap(*cell)});
    }
  }
  return table;
}

Table quality(const Scoreboard& scores) {
  Table table{.name = "quality",
              .caption = "Quartiles over the test inputs where the metric is defined.",
              .columns = {{"players", true},
                          {"method"},
                          {"access"},
                          {"budget", true},
                          {"metric"},
                          {"inputs", true},
                          {"undefined", true},
                          {"median", true},
                          {"q25", true},
                          {"q75", true}},
              .rows = {}};
  for (const Cell& cell : scores.cells()) {
    for (const metrics::Metric& metric : metrics::all()) {
      const auto quartiles = cell.quartiles(metric.name);
      if (!quartiles) continue;
      table.add({std::to_string(cell.players), cell.method, cell.access,
                 cell.budget ? std::to_string(*cell.budget) : "none", std::string(metric.name),
                 std::to_string(quartiles->count), std::to_string(cell.rows.size() - quartiles->count),
                 fmt::format("{:.7g}", quartiles->median), fmt::format("{:.7g}", quartiles->q25),
                 fmt::format("{:.7g}", quartiles->q75)});
    }
  }
  return table;
}

Table backbone(const Scoreboard& scores) {
  Table table{.name = "backbone",
              .caption =
                  "Relative 2-norm error of the backbone's prediction on the test inputs: attributions explain this "
                  "operator, not the PDE.",
              .columns = {{"n", true}, {"inputs", true}, {"median [quartiles]", true}, {"largest", true}},
              .rows = {}};
  for (const OperatorRow& row : scores.run().results.operators) {
    if (row.pde != scores.run().pde || row.relative_errors.empty()) continue;
    table.add({std::to_string(row.points), std::to_string(row.relative_errors.size()),
               show(statistics::quartiles(row.relative_errors)),
               show(*std::max_element(row.relative_errors.begin(), row.relative_errors.end()))});
  }
  return table;
}

Table reference(const Scoreboard& scores) {
  Table table{.name = "reference",
              .caption =
                  "What attributions are compared with, and its own error |standard errors|/|values|. An NRMSE "
                  "difference below it means nothing.",
              .columns = {{"n", true},
                          {"reference"},
                          {"evaluations an input", true},
                          {"its error, median", true},
                          {"its error, largest", true},
                          {"OperatorSHAP's NRMSE", true}},
              .rows = {}};
  for (const int players : scores.resolutions()) {
    const auto& rows = scores.run().results.attributions;
    const auto any = std::find_if(rows.begin(), rows.end(), [&](const AttributionRow& row) {
      return row.players == players && row.pde == scores.run().pde;
    });
    const bool exact = any->reference == "exact";
    const Cell* explainer = scores.cell(players, "operator_shap");
    table.add({std::to_string(players), exact ? "exact Shapley values" : style_of(any->reference).label,
               show_count(static_cast<double>(any->reference_evaluations)),
               exact ? "0 (exact)" : show(scores.reference_error(players).median),
               exact ? "0 (exact)" : show(scores.largest_reference_error(players)),
               explainer == nullptr ? "not run" : scores_of(*explainer, "nrmse")});
  }
  return table;
}

Table cost(const Scoreboard& scores) {
  Table table{
      .name = "cost",
      .caption =
          "One attribution, medians over the test inputs that the method did not refuse. Distinct coalitions are "
          "what a budget limits. Wall time on this machine, evaluations of the game included.",
      .columns = {{"n", true},
                  {"method"},
                  {"budget", true},
                  {"distinct coalitions", true},
                  {"evaluations", true},
                  {"reverse passes", true},
                  {"wall time", true}},
      .rows = {}};
  for (const int players : scores.resolutions()) {
    for (const std::string& method : scores.methods()) {
      const Cell* cell = scores.cell(players, method);
      if (cell == nullptr || method == "uniform") continue;
      const auto seconds = cell->seconds();
      table.add({std::to_string(players), style_of(method).label, budget_of(*cell), count_in_words(cell->distinct()),
                 count_in_words(cell->evaluations()), count_in_words(cell->gradients()),
                 seconds ? show_seconds(seconds->median) : "refused"});
    }
  }
  return table;
}

Table training(const Scoreboard& scores) {
  Table table{.name = "training",
              .caption = "What was trained. Evaluations are forward passes of the backbone spent on coalition values.",
              .columns = {{"stage"},
                          {"epochs", true},
                          {"best epoch", true},
                          {"best validation loss", true},
                          {"backbone evaluations", true},
                          {"wall time", true}},
              .rows = {}};
  for (const TrainingRow& row : scores.run().results.training) {
    if (row.pde != scores.run().pde) continue;
    table.add({row.stage, std::to_string(row.epochs), std::to_string(row.best_epoch), show(row.best_validation),
               show_count(static_cast<double>(row.operator_evaluations)), show_seconds(row.seconds)});
  }
  return table;
}

}  // namespace opshap::reporting::tables
