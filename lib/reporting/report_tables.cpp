#include "reporting/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "metrics/registry.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::tables {

namespace {

std::string budget_of(const Cell& cell) { return cell.budget ? show_count(static_cast<double>(*cell.budget)) : "none"; }

std::string count_in_words(std::optional<double> median) { return median ? show_count(*median) : "refused"; }

/// The method asked the game for nothing on these inputs: it said why it cannot answer.
bool refused(const runs::AttributionRow& row) {
  return row.evaluations == 0 && row.gradients == 0 && !row.scores["nrmse"].value &&
         !row.scores["efficiency_gap"].value;
}

std::size_t refusals(const Cell& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.rows.begin(), cell.rows.end(), [](const runs::AttributionRow* row) { return refused(*row); }));
}

std::string inputs_of(const Cell& cell) {
  const std::size_t without = refusals(cell);
  if (without == 0) return std::to_string(cell.rows.size());
  return fmt::format("{} of {}", cell.rows.size() - without, cell.rows.size());
}

/// Quartiles, or one word; the reason is a note below the table.
std::string score_in_words(const Cell& cell, std::string_view metric) {
  return show(cell.quartiles(metric), refusals(cell) == cell.rows.size() ? "refused" : "undefined");
}

/// "KernelSHAP (paired) at n = 512: 24 of 30 inputs refused: rank=509 ..." once, and what else has no value, by reason.
void add_notes(std::vector<std::string>& notes, const Cell& cell, const std::string& where) {
  const std::string who = fmt::format("{} at n = {}", style_of(cell.method).label, where);
  const auto first =
      std::find_if(cell.rows.begin(), cell.rows.end(), [](const runs::AttributionRow* row) { return refused(*row); });
  if (first != cell.rows.end())
    notes.push_back(fmt::format("{}: refused {} of {} inputs: {}", who, refusals(cell), cell.rows.size(),
                                (*first)->scores["nrmse"].why));
  std::map<std::string, std::map<std::string, std::size_t>> metrics_of_reason;
  for (const metrics::Metric& metric : metrics::all()) {
    for (const runs::AttributionRow* row : cell.rows) {
      const Measured& value = row->scores[metric.name];
      if (!value.value && !refused(*row)) ++metrics_of_reason[value.why][std::string(metric.symbol)];
    }
  }
  for (const auto& [why, counts] : metrics_of_reason) {
    std::string words;
    for (const auto& [symbol, inputs] : counts)
      words += fmt::format("{}{} on {} of {} inputs", words.empty() ? "" : ", ", symbol, inputs, cell.rows.size());
    notes.push_back(fmt::format("{}: undefined: {} ({})", who, words, why));
  }
}

/// Notes that differ in n alone are one: "… at n = 16, 32: …".
std::vector<std::string> joined(const std::vector<std::string>& notes) {
  static constexpr std::string_view at = " at n = ";
  std::vector<std::string> all;
  std::vector<std::pair<std::string, std::string>> parts;  // of each joined note: what is before and after the n
  for (const std::string& note : notes) {
    const std::size_t begin = note.find(at), end = note.find(": ", begin);
    if (begin == std::string::npos || end == std::string::npos) {
      all.push_back(note);
      parts.emplace_back();
      continue;
    }
    const std::pair<std::string, std::string> part{note.substr(0, begin), note.substr(end)};
    const auto same = std::find(parts.begin(), parts.end(), part);
    const std::string where = note.substr(begin + at.size(), end - begin - at.size());
    if (same == parts.end()) {
      all.push_back(note);
      parts.push_back(part);
    } else {
      std::string& earlier = all[static_cast<std::size_t>(same - parts.begin())];
      earlier.insert(earlier.size() - part.second.size(), ", " + where);
    }
  }
  return all;
}

std::string largest_in_words(const Cell& cell, std::string_view metric) {
  double largest = 0;
  bool any = false;
  for (const runs::AttributionRow* row : cell.rows) {
    if (!row->scores[metric].value) continue;
    largest = std::max(largest, *row->scores[metric].value);
    any = true;
  }
  return any ? show(largest) : refusals(cell) == cell.rows.size() ? "refused" : "undefined";
}

/// "NRMSE"; of an efficiency gap, of which the largest is shown, "largest gap".
std::string heading(const metrics::Metric& metric) {
  const std::string symbol(metric.symbol);
  if (metric.shown == metrics::Shown::median) return symbol;
  return "largest " + symbol.substr(symbol.rfind(' ') + 1);
}

}  // namespace

Table paper_comparison(const std::vector<Comparison>& comparisons) {
  Table table{
      .name = "paper_comparison",
      .caption =
          "Median [quartiles] of the paper's table and of this run. match: medians closer than the metric's tolerance; "
          "within errors: closer than 1.96 standard errors of the difference; else ours is better or worse.",
      .columns = {
          {"n", true}, {"metric"}, {"method"}, {"paper", true}, {"this run", true}, {"difference", true}, {"verdict"}}};
  for (const Comparison& cell : comparisons) {
    const bool both = cell.paper && cell.ours;
    table.add({cell.on.label(), std::string(metrics::find(cell.metric).symbol), style_of(cell.method).label,
               show(cell.paper, "no row"), show(cell.ours, "not run"),
               both ? show(cell.ours->median - cell.paper->median) : "none", cell.verdict});
  }
  return table;
}

Table methods(const Scoreboard& scores) {
  Table table{
      .name = "methods",
      .caption =
          "Median [quartiles] over the test inputs, at the same budget for all methods that have one. Methods that see "
          "different things (coalition values, gradients, a trained network) are not rivals on equal terms. The last "
          "column is the largest efficiency gap |Σφ − (v(N) − v(∅))| / max(|v(N) − v(∅)|, Σ|φ|) of an input: how far "
          "its values are from adding up. Rounding leaves about 1e-15.",
      .columns = {{"n", true}, {"method"}, {"sees"}, {"budget", true}, {"inputs", true}}};
  for (const metrics::Metric& metric : metrics::in_tables()) table.columns.push_back({heading(metric), true});
  std::vector<std::string> notes;
  bool marked = false;
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string& method : scores.methods()) {
      const Cell* cell = scores.cell(on, method);
      if (cell == nullptr) continue;
      const auto net = cell->net_nrmse();
      const bool below = net && !net->told;
      marked = marked || below;
      std::vector<std::string> row = {on.label(), style_of(method).label, access_label(cell->access), budget_of(*cell),
                                      inputs_of(*cell)};
      for (const metrics::Metric& metric : metrics::in_tables()) {
        const bool mark = below && metric.name == "nrmse";
        row.push_back(metric.shown == metrics::Shown::largest
                          ? largest_in_words(*cell, metric.name)
                          : score_in_words(*cell, metric.name) + (mark ? " *" : ""));
      }
      table.add(std::move(row));
      add_notes(notes, *cell, on.label());
    }
  }
  if (marked) {
    table.notes.push_back(
        "* This median is not above twice the reference's own error. The method may be better than what the reference "
        "can tell.");
  }
  for (std::string& note : joined(notes)) table.notes.push_back(std::move(note));
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
                          {"q75", true}}};
  for (const Cell& cell : scores.cells()) {
    for (const metrics::Metric& metric : metrics::all()) {
      const auto quartiles = cell.quartiles(metric.name);
      if (!quartiles) continue;
      table.add({cell.on.label(), cell.method, cell.access, cell.budget ? std::to_string(*cell.budget) : "none",
                 std::string(metric.name), std::to_string(quartiles->count),
                 std::to_string(cell.rows.size() - quartiles->count), fmt::format("{:.7g}", quartiles->median),
                 fmt::format("{:.7g}", quartiles->q25), fmt::format("{:.7g}", quartiles->q75)});
    }
  }
  return table;
}

Table backbone(const Scoreboard& scores) {
  Table table{.name = "backbone",
              .caption =
                  "Relative 2-norm error of the backbone's prediction on the test inputs: attributions explain this "
                  "operator, not the PDE.",
              .columns = {{"points", true}, {"inputs", true}, {"median [quartiles]", true}, {"largest", true}}};
  for (const runs::OperatorRow& row : scores.run().results.operators) {
    const std::vector<double> errors = row.defined_errors();
    if (row.pde != scores.run().pde || errors.empty()) continue;
    const std::size_t all = row.relative_errors.size();
    table.add({runs::shape_in_words(row.shape),
               errors.size() == all ? std::to_string(all)
                                    : fmt::format("{} of {} (the solution of the others is 0)", errors.size(), all),
               show(statistics::quartiles(errors)), show(*std::max_element(errors.begin(), errors.end()))});
  }
  return table;
}

Table net_of_the_reference(const Scoreboard& scores) {
  Table table{.name = "net_of_the_reference",
              .caption =
                  "An NRMSE contains the reference's own error. Net is the root of the median of NRMSE² − (error of "
                  "the reference)² over the inputs, with its 95 % interval over inputs and the reference's error. "
                  "The floor is the median error of the reference: what is smaller cannot be told. Rows with an "
                  "exact reference are left out.",
              .columns = {{"n", true},
                          {"method"},
                          {"NRMSE, median", true},
                          {"net", true},
                          {"95 % interval", true},
                          {"floor", true},
                          {"above twice the floor"}}};
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string& method : scores.methods()) {
      const Cell* cell = scores.cell(on, method);
      const auto net = cell == nullptr ? std::nullopt : cell->net_nrmse();
      if (!net || net->floor == 0) continue;
      table.add({on.label(), style_of(method).label, show(cell->quartiles("nrmse")->median), show(net->value),
                 show(net->interval.low) + " to " + show(net->interval.high), show(net->floor),
                 net->told ? "yes" : "no: it says more about the reference"});
    }
  }
  return table;
}

namespace {

/// The estimates that the references on a grid are made of.
struct Parts {
  std::map<std::string, std::vector<double>> errors;  ///< by method, over the inputs
  std::optional<double> least_p;

  std::string words() const {
    std::string text;
    for (const auto& [method, found] : errors)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", style_of(method).label,
                          show(statistics::quantile(found, 0.5)));
    return text.empty() ? "none" : text;
  }
};

Parts parts_of(const Scoreboard& scores, const Discretisation& on) {
  Parts parts;
  for (const runs::AttributionRow* row : scores.references(on)) {
    for (std::size_t i = 0; i < row->reference_parts.size(); ++i)
      parts.errors[row->reference_parts[i]].push_back(row->reference_part_errors[i]);
    if (row->reference_check) parts.least_p = std::min(parts.least_p.value_or(1), *row->reference_check);
  }
  return parts;
}

}  // namespace

Table games(const Scoreboard& scores) {
  Table table{
      .name = "games",
      .caption =
          "What the games are about: how many players change anything at all, and how far what hides a player is "
          "from the data, in standard deviations of all test inputs. Above 3, hidden cells show the operator "
          "what it has never seen.",
      .columns = {{"n", true}, {"players that change anything, median", true}, {"baseline's distance", true}}};
  for (const runs::GamesRow& row : scores.run().results.games) {
    if (row.pde != scores.run().pde || row.active.empty()) continue;
    std::string distances;
    for (std::size_t i = 0; i < row.channels.size(); ++i)
      distances +=
          fmt::format("{}{} {}", distances.empty() ? "" : ", ", row.channels[i], show(row.baseline_distances[i]));
    const std::vector<double> active(row.active.begin(), row.active.end());
    table.add({Discretisation{.players = row.players, .shape = row.shape}.label(),
               fmt::format("{} of {}", show_count(statistics::quantile(active, 0.5)), row.players),
               distances.empty() ? "none" : distances});
  }
  return table;
}

Table reference(const Scoreboard& scores) {
  Table table{.name = "reference",
              .caption =
                  "What attributions are compared with. Its own error is |standard errors|/|values|, 0 where it is "
                  "exact. A difference in NRMSE below it means nothing.",
              .columns = {{"n", true},
                          {"reference"},
                          {"evaluations, median", true},
                          {"its error, median", true},
                          {"its error, largest", true},
                          {"missed the target", true}}};
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  const std::vector<Discretisation> grids = scores.discretisations();
  const bool shares =
      std::ranges::any_of(grids, [&](const Discretisation& on) { return scores.reference(on).own_share.has_value(); });
  if (shares) {
    table.columns.push_back({"share of the own cell", true});
    table.notes.push_back(
        "The share of the own cell is |value of the query's own cell|/|values|: the NRMSE of an answer that is right "
        "but for a 0 there.");
  }
  const bool parts =
      std::ranges::any_of(grids, [&](const Discretisation& on) { return !parts_of(scores, on).errors.empty(); });
  if (parts) {
    table.columns.push_back({"errors of its parts, median", true});
    table.columns.push_back({"their comparison, least p", true});
  }
  for (const std::string& explainer : explainers)
    table.columns.push_back({style_of(explainer).label + ", NRMSE", true});
  bool certified = false;
  std::size_t undefined = 0;
  std::optional<double> target;
  for (const Discretisation& on : grids) {
    const ReferenceQuality quality = scores.reference(on);
    std::string kinds;
    std::size_t inputs = 0;
    for (const auto& [kind, count] : quality.kinds) {
      kinds += (kinds.empty() ? "" : ", ") + reference_label(kind);
      if (quality.kinds.size() > 1) kinds += fmt::format(" ({})", count);
      inputs += count;
    }
    certified = certified || quality.kinds.contains("certified");
    target = quality.target;
    std::vector<std::string> cells = {
        on.label(),
        kinds,
        show_count(quality.evaluations.median),
        quality.undefined == inputs ? "undefined" : show(quality.error.median),
        quality.undefined == inputs ? "undefined" : show(quality.largest_error),
        quality.target ? fmt::format("{} of {}", quality.missed, inputs) : "no target stored"};
    if (shares) cells.push_back(quality.own_share ? show(*quality.own_share) : "not stored");
    if (parts) {
      const Parts found = parts_of(scores, on);
      cells.push_back(found.words());
      cells.push_back(found.least_p ? show(*found.least_p) : "none");
    }
    for (const std::string& explainer : explainers) {
      const Cell* cell = scores.cell(on, explainer);
      cells.push_back(cell == nullptr ? "not run" : score_in_words(*cell, "nrmse"));
    }
    table.add(std::move(cells));
    undefined += quality.undefined;
  }
  if (undefined > 0)
    table.notes.push_back(fmt::format(
        "The values of {} inputs are all 0. No error is relative to them, so medians leave them out.", undefined));
  if (certified) {
    table.notes.push_back(
        "Certified: two independent estimates that agree within their standard errors, by antithetic pairs of "
        "orderings "
        "and by the two-level estimator, or by paired KernelSHAP where a game has no slopes. The reference is their "
        "weighted mean. Evaluations count reverse passes by what they cost.");
  }
  if (target) {
    table.notes.push_back(fmt::format(
        "Sampling goes on until the error is at most {}, or until the budget of the reference is spent. The column "
        "\"missed the target\" counts the inputs where the budget ended first.",
        show(*target)));
  }
  return table;
}

Table drift(const Scoreboard& scores) {
  Table table{.name = "drift",
              .caption =
                  "How far an explainer's answer depends on the grid: the relative distance of its densities of one "
                  "input on a grid and on the finest one, at the points of the former but the query's own, up to a "
                  "constant. Over the test inputs. A part of it may be the truth's own.",
              .columns = {{"n", true}, {"against", true}, {"explainer"}, {"drift", true}},
              .rows = {}};
  for (const runs::DriftRow& row : scores.run().results.drifts) {
    if (row.pde != scores.run().pde) continue;
    const std::string method = row.explainer ? row.method + ":" + *row.explainer : row.method;
    table.add({runs::shape_in_words(row.shape), runs::shape_in_words(row.finest), style_of(method).label,
               show(statistics::quartiles(row.drifts))});
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
                  {"wall time", true}}};
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string& method : scores.methods()) {
      const Cell* cell = scores.cell(on, method);
      if (cell == nullptr || is_baseline(cell->access)) continue;
      const auto seconds = cell->seconds();
      table.add({on.label(), style_of(method).label, budget_of(*cell), count_in_words(cell->distinct()),
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
                          {"wall time", true}}};
  for (const runs::TrainingRow& row : scores.run().results.training) {
    if (row.pde != scores.run().pde) continue;
    table.add({row.explainer ? fmt::format("{} {}", row.stage, *row.explainer) : row.stage, std::to_string(row.epochs),
               std::to_string(row.best_epoch), show(row.best_validation),
               show_count(static_cast<double>(row.operator_evaluations)), show_seconds(row.seconds)});
  }
  return table;
}

}  // namespace opshap::reporting::tables
