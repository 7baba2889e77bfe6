#include "reporting/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/measured.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::tables {

namespace {

std::string count_in_words(std::optional<double> median) { return median ? show_count(*median) : "refused"; }

/// The method asked the game for nothing on these inputs: it said why it cannot answer.
bool refused(const runs::AttributionRow* row) {
  return row->evaluations == 0 && row->gradients == 0 && !row->scores["nrmse"].value &&
         !row->scores["efficiency_gap"].value;
}

std::size_t refusals(const Cell& cell) { return static_cast<std::size_t>(std::ranges::count_if(cell.rows, refused)); }

std::string inputs_of(const Cell* cell) {
  const std::size_t without = refusals(*cell);
  if (without == 0) return std::to_string(cell->rows.size());
  return fmt::format("{} of {}", cell->rows.size() - without, cell->rows.size());
}

/// One word for what has no value; the reason is a note below the table.
std::string without_value(const Cell& cell) { return refusals(cell) == cell.rows.size() ? "refused" : "undefined"; }

std::string score_in_words(const Cell& cell, std::string_view metric) {
  return show(cell.quartiles(metric), without_value(cell));
}

/// What is said below a table of a method on some grids.
struct Note {
  std::string method, grids, words;
};

/// Notes that differ in n alone are one: "… at n = 16, 32: …".
void add_note(std::vector<Note>& notes, const Cell& cell, const std::string& words) {
  const std::string method = style_of(cell.method).label;
  const auto same = std::ranges::find_if(notes, [&](auto& one) { return one.method == method && one.words == words; });
  if (same == notes.end()) {
    notes.push_back({method, cell.on.label(), words});
  } else {
    same->grids += ", " + cell.on.label();
  }
}

/// "KernelSHAP (paired) at n = 512: 24 of 30 inputs refused: rank=509 ..." once, and what else has no value, by reason.
void add_notes(std::vector<Note>& notes, const Cell& cell) {
  const auto first = std::ranges::find_if(cell.rows, refused);
  if (first != cell.rows.end()) {
    add_note(
        notes, cell,
        fmt::format("refused {} of {} inputs: {}", refusals(cell), cell.rows.size(), (*first)->scores["nrmse"].why));
  }
  std::map<std::string, std::map<std::string, std::size_t>> metrics_of_reason;
  for (const metrics::Metric& metric : metrics::all()) {
    for (const runs::AttributionRow* row : cell.rows) {
      const Measured& value = row->scores[metric.name];
      if (!value.value && !refused(row)) ++metrics_of_reason[value.why][std::string(metric.symbol)];
    }
  }
  for (const auto& [why, counts] : metrics_of_reason) {
    const std::string words = listing(counts, [&cell](const auto& count) {
      return fmt::format("{} on {} of {} inputs", count.first, count.second, cell.rows.size());
    });
    add_note(notes, cell, fmt::format("undefined: {} ({})", words, why));
  }
}

std::string largest_in_words(const Cell& cell, std::string_view metric) {
  std::optional<double> largest;
  for (const runs::AttributionRow* row : cell.rows) {
    if (const auto& value = row->scores[metric].value) largest = std::max(largest.value_or(0), *value);
  }
  return largest ? show(*largest) : without_value(cell);
}

/// "NRMSE"; of an efficiency gap, of which the largest is shown, "largest gap".
std::string heading(const metrics::Metric& metric) {
  const std::string symbol(metric.symbol);
  if (metric.shown == metrics::Shown::median) return symbol;
  return "largest " + symbol.substr(symbol.rfind(' ') + 1);
}

/// The rows of the run's problem.
template <typename Row>
std::vector<Row> of_the_problem(const Scoreboard& scores, const std::vector<Row>& rows) {
  std::vector<Row> found = rows;
  std::erase_if(found, [&scores](const Row& row) { return row.pde != scores.run().pde; });
  return found;
}

/// The cells of the tables, by grid and method.
std::vector<const Cell*> cells_of_tables(const Scoreboard& scores) {
  std::vector<const Cell*> cells;
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string& method : scores.methods()) {
      if (const Cell* cell = scores.cell(on, method)) cells.push_back(cell);
    }
  }
  return cells;
}

std::string shown_budget(const Cell* cell) {
  return cell->budget ? show_count(static_cast<double>(*cell->budget)) : "none";
}

const ColumnOf<const Cell*> n_column = {"n", [](auto* cell) { return cell->on.label(); }, true};
const ColumnOf<const Cell*> method_column = {"method", [](auto* cell) { return style_of(cell->method).label; }};
const ColumnOf<const Cell*> budget_column = {"budget", shown_budget, true};

/// The reference on a grid, and the estimates that it is made of.
struct ReferenceRow {
  Discretisation on;
  ReferenceQuality quality;
  std::size_t inputs = 0;
  std::map<std::string, std::vector<double>> part_errors = {};  ///< by method, over the inputs
  std::optional<double> least_p = std::nullopt;
};

ReferenceRow reference_row(const Scoreboard& scores, const Discretisation& on) {
  ReferenceRow found{.on = on, .quality = scores.reference(on), .inputs = scores.references(on).size()};
  for (const runs::AttributionRow* row : scores.references(on)) {
    for (std::size_t i = 0; i < row->reference_parts.size(); ++i)
      found.part_errors[row->reference_parts[i]].push_back(row->reference_part_errors[i]);
    if (row->reference_check) found.least_p = std::min(found.least_p.value_or(1), *row->reference_check);
  }
  return found;
}

std::string parts_in_words(const ReferenceRow& row) {
  const std::string text = listing(row.part_errors, [](const auto& of) {
    return fmt::format("{} {}", style_of(of.first).label, show(statistics::quantile(of.second, 0.5)));
  });
  return text.empty() ? "none" : text;
}

/// Adds what is not there yet, in the order of its first appearance.
void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// A grid of one of several problems.
struct PlaceOfProblem {
  const Scoreboard* scores;
  Discretisation on;
};

/// The grids on which some sampling method was run.
std::vector<PlaceOfProblem> sampled_grids(const Problems& problems) {
  std::vector<PlaceOfProblem> places;
  for (const Scoreboard* scores : problems) {
    const std::vector<std::string> sampling = scores->sampling_methods();
    for (const Discretisation& on : scores->discretisations()) {
      if (std::ranges::any_of(sampling, [&](const auto& method) { return scores->cell(on, method) != nullptr; }))
        places.push_back({scores, on});
    }
  }
  return places;
}

}  // namespace

Table paper_comparison(const std::vector<Comparison>& comparisons) {
  return table_of(
      "paper_comparison",
      "Median [quartiles] of the paper's table and of this run. match: medians closer than the metric's tolerance; "
      "within errors: closer than 1.96 standard errors of the difference; else ours is better or worse.",
      comparisons,
      {{"n", [](auto& row) { return row.on.label(); }, true},
       {"metric", [](auto& row) { return std::string(metrics::find(row.metric).symbol); }},
       {"method", [](auto& row) { return style_of(row.method).label; }},
       {"paper", [](auto& row) { return show(row.paper, "no row"); }, true},
       {"this run", [](auto& row) { return show(row.ours, "not run"); }, true},
       {"difference",
        [](auto& row) { return row.paper && row.ours ? show(row.ours->median - row.paper->median) : "none"; }, true},
       {"verdict", [](auto& row) { return row.verdict; }}});
}

Table methods(const Scoreboard& scores) {
  const std::vector<const Cell*> cells = cells_of_tables(scores);
  const auto below = [](auto* cell) {
    const auto net = cell->net_nrmse();
    return net && !net->told;
  };
  const auto sees = [](auto* cell) { return access_label(cell->access); };
  std::vector<ColumnOf<const Cell*>> columns = {
      n_column, method_column, {"sees", sees}, budget_column, {"inputs", inputs_of, true}};
  for (const metrics::Metric& metric : metrics::in_tables()) {
    const auto score = [below, metric](auto* cell) {
      if (metric.shown == metrics::Shown::largest) return largest_in_words(*cell, metric.name);
      const bool mark = metric.name == "nrmse" && below(cell);
      return score_in_words(*cell, metric.name) + (mark ? " *" : "");
    };
    columns.push_back({heading(metric), score, true});
  }
  Table table =
      table_of("methods",
               "Median [quartiles] over the test inputs, at the same budget for all methods that have one. Methods "
               "that see different things (coalition values, gradients, a trained network) are not rivals on equal "
               "terms. The last column is the largest efficiency gap |Σφ − (v(N) − v(∅))| / max(|v(N) − v(∅)|, Σ|φ|) "
               "of an input: how far its values are from adding up. Rounding leaves about 1e-15.",
               cells, columns);
  if (std::ranges::any_of(cells, below)) {
    table.notes.push_back(
        "* This median is not above twice the reference's own error. The method may be better than what the reference "
        "can tell.");
  }
  std::vector<Note> notes;
  for (const Cell* cell : cells) add_notes(notes, *cell);
  for (const auto& [method, grids, words] : notes)
    table.notes.push_back(fmt::format("{} at n = {}: {}", method, grids, words));
  return table;
}

Table quality(const Scoreboard& scores) {
  struct Row {
    const Cell* cell;
    std::string_view metric;
    statistics::Quartiles quartiles;
  };
  std::vector<Row> rows;
  for (const Cell& cell : scores.cells()) {
    for (const metrics::Metric& metric : metrics::all()) {
      if (const auto found = cell.quartiles(metric.name)) rows.push_back({&cell, metric.name, *found});
    }
  }
  const auto digits = [](double value) { return fmt::format("{:.7g}", value); };
  return table_of(
      "quality", "Quartiles over the test inputs where the metric is defined.", rows,
      {{"players", [](auto& row) { return row.cell->on.label(); }, true},
       {"method", [](auto& row) { return row.cell->method; }},
       {"access", [](auto& row) { return row.cell->access; }},
       {"budget", [](auto& row) { return row.cell->budget ? std::to_string(*row.cell->budget) : "none"; }, true},
       {"metric", [](auto& row) { return std::string(row.metric); }},
       {"inputs", [](auto& row) { return std::to_string(row.quartiles.count); }, true},
       {"undefined", [](auto& row) { return std::to_string(row.cell->rows.size() - row.quartiles.count); }, true},
       {"median", [=](auto& row) { return digits(row.quartiles.median); }, true},
       {"q25", [=](auto& row) { return digits(row.quartiles.q25); }, true},
       {"q75", [=](auto& row) { return digits(row.quartiles.q75); }, true}});
}

Table backbone(const Scoreboard& scores) {
  auto rows = of_the_problem(scores, scores.run().results.operators);
  std::erase_if(rows, [](const runs::OperatorRow& row) { return row.defined_errors().empty(); });
  const auto inputs = [](auto& row) {
    const std::size_t defined = row.defined_errors().size(), all = row.relative_errors.size();
    return defined == all ? std::to_string(all)
                          : fmt::format("{} of {} (the solution of the others is 0)", defined, all);
  };
  std::vector<ColumnOf<runs::OperatorRow>> columns = {
      {"points", [](auto& row) { return runs::shape_in_words(row.shape); }, true},
      {"inputs", inputs, true},
      {"median [quartiles]", [](auto& row) { return show(statistics::quartiles(row.defined_errors())); }, true},
      {"largest", [](auto& row) { return show(std::ranges::max(row.defined_errors())); }, true}};
  std::string caption =
      "Relative 2-norm error of the backbone's prediction on the test inputs: attributions explain this operator, not "
      "the PDE.";
  const auto of_flows = [](const runs::OperatorRow& row) { return !row.query_errors.empty(); };
  if (!rows.empty() && std::ranges::all_of(rows, of_flows)) {
    caption +=
        " At the query: the error there, and that of who says that nothing changes until the target's time, each the "
        "root of its mean square over the inputs, and the median behind it. An operator with more than half of the "
        "latter's root is not good enough to be explained. Medians may be of flows that are steady there, of which "
        "nothing is nearer than no change.";
    const auto in_words = [](const std::vector<double>& errors) {
      return fmt::format("{} ({})", show(root_mean_square(errors)), show(statistics::quartiles(errors).median));
    };
    columns.push_back({"at the query", [in_words](auto& row) { return in_words(row.query_errors); }, true});
    columns.push_back({"no change", [in_words](auto& row) { return in_words(row.query_changes); }, true});
  }
  return table_of("backbone", caption, rows, columns);
}

Table net_of_the_reference(const Scoreboard& scores) {
  struct Row {
    const Cell* cell;
    NetError net;
  };
  std::vector<Row> rows;
  for (const Cell* cell : cells_of_tables(scores)) {
    if (const auto net = cell->net_nrmse(); net && net->floor != 0) rows.push_back({cell, *net});
  }
  return table_of(
      "net_of_the_reference",
      "An NRMSE contains the reference's own error. Net is the root of the median of NRMSE² − (error of the "
      "reference)² over the inputs, with its 95 % interval over inputs and the reference's error. The floor is the "
      "median error of the reference: what is smaller cannot be told. Rows with an exact reference are left out.",
      rows,
      {{"n", [](auto& row) { return row.cell->on.label(); }, true},
       {"method", [](auto& row) { return style_of(row.cell->method).label; }},
       {"NRMSE, median", [](auto& row) { return show(row.cell->quartiles("nrmse")->median); }, true},
       {"net", [](auto& row) { return show(row.net.value); }, true},
       {"95 % interval", [](auto& row) { return show(row.net.interval.low) + " to " + show(row.net.interval.high); },
        true},
       {"floor", [](auto& row) { return show(row.net.floor); }, true},
       {"above twice the floor",
        [](auto& row) { return row.net.told ? "yes" : "no: it says more about the reference"; }}});
}

Table games(const Scoreboard& scores) {
  auto rows = of_the_problem(scores, scores.run().results.games);
  std::erase_if(rows, [](const runs::GamesRow& row) { return row.active.empty(); });
  const auto active = [](auto& row) {
    const std::vector<double> found(row.active.begin(), row.active.end());
    return fmt::format("{} of {}", show_count(statistics::quantile(found, 0.5)), row.players);
  };
  const auto distances = [](auto& row) {
    std::string words;
    for (std::size_t i = 0; i < row.channels.size(); ++i)
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", row.channels[i], show(row.baseline_distances[i]));
    return words.empty() ? "none" : words;
  };
  return table_of(
      "games",
      "What the games are about: how many players change anything at all, and how far what hides a player is from the "
      "data, in standard deviations of all test inputs. Above 3, hidden cells show the operator what it has never "
      "seen.",
      rows,
      {{"n", [](auto& row) { return Discretisation{.players = row.players, .shape = row.shape}.label(); }, true},
       {"players that change anything, median", active, true},
       {"baseline's distance", distances, true}});
}

Table reference(const Scoreboard& scores) {
  std::vector<ReferenceRow> rows;
  for (const Discretisation& on : scores.discretisations()) rows.push_back(reference_row(scores, on));
  const auto kinds = [](auto& row) {
    return listing(row.quality.kinds, [&row](const auto& kind) {
      return reference_label(kind.first) + (row.quality.kinds.size() > 1 ? fmt::format(" ({})", kind.second) : "");
    });
  };
  const auto error = [](const ReferenceRow& row, double value) {
    return row.quality.undefined == row.inputs ? "undefined" : show(value);
  };
  const auto missed = [](auto& row) {
    return row.quality.target ? fmt::format("{} of {}", row.quality.missed, row.inputs) : "no target stored";
  };
  std::vector<ColumnOf<ReferenceRow>> columns = {
      {"n", [](auto& row) { return row.on.label(); }, true},
      {"reference", kinds},
      {"evaluations, median", [](auto& row) { return show_count(row.quality.evaluations.median); }, true},
      {"its error, median", [&](auto& row) { return error(row, row.quality.error.median); }, true},
      {"its error, largest", [&](auto& row) { return error(row, row.quality.largest_error); }, true},
      {"missed the target", missed, true}};
  std::vector<std::string> notes;
  if (std::ranges::any_of(rows, [](auto& row) { return row.quality.own_share.has_value(); })) {
    columns.push_back(
        {"share of the own cell", [](auto& row) { return show(row.quality.own_share, "not stored"); }, true});
    notes.push_back(
        "The share of the own cell is |value of the query's own cell|/|values|: the NRMSE of an answer that is right "
        "but for a 0 there.");
  }
  if (std::ranges::any_of(rows, [](auto& row) { return !row.part_errors.empty(); })) {
    columns.push_back({"errors of its parts, median", parts_in_words, true});
    columns.push_back(
        {"their comparison, least p", [](auto& row) { return row.least_p ? show(*row.least_p) : "none"; }, true});
  }
  for (const std::string& explainer : scores.methods_with_access("amortised")) {
    const auto score = [&scores, explainer](auto& row) {
      const Cell* cell = scores.cell(row.on, explainer);
      return cell == nullptr ? "not run" : score_in_words(*cell, "nrmse");
    };
    columns.push_back({style_of(explainer).label + ", NRMSE", score, true});
  }
  Table table = table_of("reference",
                         "What attributions are compared with. Its own error is |standard errors|/|values|, 0 where it "
                         "is exact. A difference in NRMSE below it means nothing.",
                         rows, columns);
  table.notes = std::move(notes);
  std::size_t undefined = 0;
  for (const ReferenceRow& row : rows) undefined += row.quality.undefined;
  if (undefined > 0)
    table.notes.push_back(fmt::format(
        "The values of {} inputs are all 0. No error is relative to them, so medians leave them out.", undefined));
  if (std::ranges::any_of(rows, [](auto& row) { return row.quality.kinds.contains("certified"); })) {
    table.notes.push_back(
        "Certified: two independent estimates that agree within their standard errors, by antithetic pairs of "
        "orderings and by the two-level estimator, or by paired KernelSHAP where a game has no slopes. The reference "
        "is their weighted mean. Evaluations count reverse passes by what they cost.");
    if (std::ranges::any_of(rows, [](auto& row) { return row.part_errors.contains("paired_regression"); }))
      table.notes.push_back("Paired regression is paired KernelSHAP without its bias.");
  }
  if (const auto target = rows.empty() ? std::nullopt : rows.back().quality.target) {
    table.notes.push_back(
        fmt::format("Sampling goes on until the error is at most {}, or until the budget of the reference is spent. "
                    "The column \"missed the target\" counts the inputs where the budget ended first.",
                    show(*target)));
  }
  return table;
}

Table drift(const Scoreboard& scores) {
  const auto explainer = [](auto& row) {
    return style_of(row.explainer ? row.method + ":" + *row.explainer : row.method).label;
  };
  return table_of("drift",
                  "How far an explainer's answer depends on the grid: the relative distance of its densities of one "
                  "input on a grid and on the finest one, at the points of the former but the query's own, up to a "
                  "constant. Over the test inputs. A part of it may be the truth's own.",
                  of_the_problem(scores, scores.run().results.drifts),
                  {{"n", [](auto& row) { return runs::shape_in_words(row.shape); }, true},
                   {"against", [](auto& row) { return runs::shape_in_words(row.finest); }, true},
                   {"explainer", explainer},
                   {"drift", [](auto& row) { return show(statistics::quartiles(row.drifts)); }, true}});
}

Table cost(const Scoreboard& scores) {
  std::vector<const Cell*> cells = cells_of_tables(scores);
  std::erase_if(cells, [](auto* cell) { return is_baseline(cell->access); });
  const auto seconds = [](auto* cell) {
    const auto found = cell->seconds();
    return found ? show_seconds(found->median) : "refused";
  };
  std::vector<ColumnOf<const Cell*>> columns = {
      n_column,
      method_column,
      budget_column,
      {"distinct coalitions", [](auto* cell) { return count_in_words(cell->distinct()); }, true},
      {"evaluations", [](auto* cell) { return count_in_words(cell->evaluations()); }, true},
      {"reverse passes", [](auto* cell) { return count_in_words(cell->gradients()); }, true}};
  const bool said = std::ranges::any_of(cells, [](const Cell* cell) {
    return std::ranges::any_of(cell->rows, [](const auto* row) { return row->forward_equivalents > 0; });
  });
  if (said)  // rows of before do not say it
    columns.push_back(
        {"forward equivalents", [](auto* cell) { return count_in_words(cell->forward_equivalents()); }, true});
  columns.push_back({"wall time", seconds, true});
  return table_of("cost",
                  "One attribution, medians over the test inputs that the method did not refuse. Distinct coalitions "
                  "are what a budget limits. Wall time on this machine, evaluations of the game included.",
                  cells, columns);
}

Table training(const Scoreboard& scores) {
  const auto stage = [](auto& row) {
    return row.explainer ? fmt::format("{} {}", row.stage, *row.explainer) : row.stage;
  };
  const auto evaluations = [](auto& row) { return show_count(static_cast<double>(row.operator_evaluations)); };
  return table_of("training",
                  "What was trained. Evaluations are forward passes of the backbone spent on coalition values.",
                  of_the_problem(scores, scores.run().results.training),
                  {{"stage", stage},
                   {"epochs", [](auto& row) { return std::to_string(row.epochs); }, true},
                   {"best epoch", [](auto& row) { return std::to_string(row.best_epoch); }, true},
                   {"best validation loss", [](auto& row) { return show(row.best_validation); }, true},
                   {"backbone evaluations", evaluations, true},
                   {"wall time", [](auto& row) { return show_seconds(row.seconds); }, true}});
}

Table medians(const Problems& problems, const metrics::Metric& metric) {
  std::vector<std::string> methods;
  for (const Scoreboard* scores : problems) {
    for (const std::string& method : scores->methods()) add_new(methods, method);
  }
  sort_for_display(methods);
  bool marked = false;
  std::vector<ColumnOf<PlaceOfProblem>> columns = {
      {"problem", [](auto& place) { return pde_label(place.scores->run().pde); }},
      {"n", [](auto& place) { return place.on.label(); }, true}};
  for (const std::string& method : methods) {
    const auto median = [&, method](const PlaceOfProblem& place) {
      const Cell* cell = place.scores->cell(place.on, method);
      const auto quartiles = cell == nullptr ? std::nullopt : cell->quartiles(metric.name);
      if (!quartiles) return std::string(cell == nullptr ? "not run" : "no value");
      std::string text = show(quartiles->median);
      const std::size_t inputs = place.scores->references(place.on).size();
      if (quartiles->count < inputs) text += fmt::format(" ({} of {} inputs)", quartiles->count, inputs);
      if (metric.name != "nrmse" || cell->net_nrmse()->told) return text;
      marked = true;
      return text + " *";
    };
    columns.push_back({style_of(method).label, median, true});
  }
  Table table = table_of(fmt::format("medians_{}", metric.name),
                         fmt::format("{} of every method, the median over the test inputs ({} is better). Methods that "
                                     "sample coalitions have the budget of the paper's table, max(2n, 1024).",
                                     metric.symbol, metric.better == metrics::Better::lower ? "lower" : "higher"),
                         sampled_grids(problems), columns);
  if (marked)
    table.notes.push_back(
        "* Not above twice the reference's own error. The method may be better than what the reference can tell.");
  return table;
}

Table stages(const Problems& problems) {
  std::vector<std::string> stages;
  for (const Scoreboard* scores : problems) {
    for (const auto& [stage, seconds] : scores->run().seconds) add_new(stages, stage);
  }
  std::vector<ColumnOf<const Scoreboard*>> columns = {
      {"problem", [](auto* scores) { return pde_label(scores->run().pde); }}};
  for (const std::string& stage : stages) {
    const auto seconds = [stage](const Scoreboard* scores) {
      const auto& all = scores->run().seconds;
      const auto found = std::ranges::find(all, stage, [](const auto& one) { return one.first; });
      return found == all.end() ? "none" : show_seconds(found->second);
    };
    columns.push_back({stage, seconds, true});
  }
  columns.push_back({"all", [](auto* scores) { return show_seconds(scores->run().total_seconds()); }, true});
  return table_of("stages", "Wall time of each stage, whatever else the machine did meanwhile.", problems, columns);
}

}  // namespace opshap::reporting::tables
