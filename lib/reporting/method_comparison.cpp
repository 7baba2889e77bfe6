#include "reporting/method_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "metrics/registry.hpp"
#include "reporting/axes.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

namespace {

/// An exact method whose error is larger has lost half of a double's digits: more than any condition number of a sample
/// that is solved at all.
const double not_exact = std::sqrt(std::numeric_limits<double>::epsilon()) * 64;

bool finished(const runs::MethodRow& row) { return !row.failure; }

/// The median of a number of the rows, over the runs that finished.
template <typename Number>
double median_of(const MethodCell& cell, Number number) {
  std::vector<double> values;
  for (const runs::MethodRow* row : cell.rows) {
    if (finished(*row)) values.push_back(static_cast<double>(row->*number));
  }
  return statistics::quartiles(std::move(values)).median;
}

/// Half of its runs cannot but be right, or are right to rounding: their median is no error that a figure can show.
bool mostly_exact(const MethodCell& cell) {
  return 2 * std::ranges::count_if(cell.rows, [](const runs::MethodRow* row) { return !row->exact.empty(); }) >=
         static_cast<std::ptrdiff_t>(cell.rows.size());
}

std::string first_sentence(const std::string& why) {
  const std::size_t end = why.find("). ");
  return end == std::string::npos ? why : why.substr(0, end + 1);
}

bool ranked(const MethodCell* cell) {
  return cell != nullptr && cell->access == "values" && cell->exact.empty() && cell->undefined.empty();
}

statistics::Repeats errors_of(const MethodCell& cell) {
  statistics::Repeats errors;
  for (const runs::MethodRow* row : cell.rows)
    errors.push_back(finished(*row) ? *row->scores["nrmse"].value : std::numeric_limits<double>::max());
  return errors;
}

/// nullptr when the method was not asked at this budget.
const MethodCell* cell_at(const std::vector<MethodCell>& cells, const std::string& method, std::int64_t budget) {
  const auto place = std::ranges::find_if(
      cells, [&](const MethodCell& candidate) { return candidate.method == method && candidate.budget == budget; });
  return place == cells.end() ? nullptr : &*place;
}

/// The game and its truth, by a row of the comparison.
std::string headline(const runs::MethodRow& row) {
  const std::string text = fmt::format("{}, {} players. ", row.game, row.players);
  if (row.truth_error == 0)
    return text + fmt::format("The truth is {}.", row.truth == "exact" ? "the exact Shapley value" : "a closed form");
  return text + fmt::format(
                    "The truth is a {} reference with a relative standard error of {}: differences in NRMSE "
                    "below it mean nothing.",
                    row.truth, show(row.truth_error));
}

/// What is said of a method that spends much less than it may: coalitions that its draws share are evaluated once.
std::string of_its_budget(const MethodCell& cell) {
  if (!cell.budget) return "";
  const double spent = median_of(cell, &runs::MethodRow::distinct) / static_cast<double>(*cell.budget);
  constexpr double nearly_all = 0.9;
  return spent < nearly_all ? fmt::format(", on {:.0f} % of the budget", 100 * spent) : "";
}

constexpr double seen = 1.001;
constexpr std::size_t fewest_pairs = 5;

using Key = std::tuple<std::string, int, std::string, std::optional<std::int64_t>, std::int64_t>;

std::string name_of(const runs::MethodRow& row) {
  return row.explainer ? message(row.method, ":", *row.explainer) : row.method;
}

Key run_key(const runs::MethodRow& row) { return {row.game, row.players, name_of(row), row.budget, row.repeat}; }

/// The error of a run that has one.
std::optional<double> error_of(const runs::MethodRow& row) {
  if (!row.scores["nrmse"].value) return std::nullopt;
  const double rounding = std::numeric_limits<double>::epsilon();
  return row.exact.empty() ? std::max(*row.scores["nrmse"].value, rounding) : rounding;
}

/// The pairs of one method.
struct PairedRuns {
  std::vector<double> log_ratios;
  std::size_t common = 0, lost = 0, gained = 0;
  bool chance = false;  ///< some of its runs are one draw of many
};

Change judge_change(const MethodChange& found, bool chance) {
  if (found.lost > 0) return Change::worse;
  const bool worse = found.interval.low > seen, better = found.interval.high < 1 / seen;
  if (!worse && !better) return Change::none_seen;
  if (chance && found.pairs < fewest_pairs) return Change::too_few;
  return worse ? Change::worse : Change::better;
}

MethodChange change_of(const std::string& method, const PairedRuns& pairs, std::uint64_t seed) {
  MethodChange found{.method = method, .pairs = pairs.log_ratios.size(), .lost = pairs.lost, .gained = pairs.gained};
  if (!pairs.log_ratios.empty()) {
    const auto& logs = pairs.log_ratios;
    double sum = 0;
    for (const double log : logs) sum += log;
    found.ratio = std::exp(sum / static_cast<double>(logs.size()));
    const auto mean_ratio = [&logs](statistics::Draw& draw) {
      double drawn = 0;
      for (const std::size_t pair : draw.inputs) drawn += logs[pair];
      return std::exp(drawn / static_cast<double>(logs.size()));
    };
    found.interval = statistics::bootstrap(logs.size(), mean_ratio, seed).interval();
  }
  found.change = judge_change(found, pairs.chance);
  return found;
}

std::string change_in_words(const MethodChange& found) {
  std::string line = fmt::format("{}: {}", found.method, to_string(found.change));
  if (found.pairs > 0)
    line += fmt::format(", errors {} [{}, {}] times those of the baseline over {} runs", show(found.ratio),
                        show(found.interval.low), show(found.interval.high), found.pairs);
  if (found.lost > 0) line += fmt::format(", no score any more in {} runs", found.lost);
  if (found.gained > 0) line += fmt::format(", a score now in {} runs that had none", found.gained);
  return line;
}

}  // namespace

std::string show_budget(std::optional<std::int64_t> budget) {
  return budget ? show_count(static_cast<double>(*budget)) : "none";
}

std::string show(const statistics::Rank& rank) {
  if (rank.low == rank.high) return fmt::format("{:.1f}", rank.rank);
  return fmt::format("{:.1f} [{:.1f}, {:.1f}]", rank.rank, rank.low, rank.high);
}

MethodComparison::MethodComparison(std::vector<runs::MethodRow> rows, std::uint64_t seed) : rows_(std::move(rows)) {
  require(!rows_.empty(), "compare: rows=0 (nothing to compare). Give a method and a budget.");
  std::set<std::int64_t> budgets;
  for (const runs::MethodRow& row : rows_) {
    if (row.budget) budgets.insert(*row.budget);
    const std::string method = name_of(row);
    auto place = std::ranges::find_if(
        cells_, [&](const MethodCell& cell) { return cell.method == method && cell.budget == row.budget; });
    if (place == cells_.end()) {
      cells_.push_back({.method = method, .access = row.access, .budget = row.budget});
      place = cells_.end() - 1;
    }
    place->rows.push_back(&row);
    std::string& why = finished(row) ? place->undefined : place->failure;
    if (why.empty()) why = row.failure.value_or(row.scores["nrmse"].why);
  }
  budgets_.assign(budgets.begin(), budgets.end());
  for (MethodCell& cell : cells_) {
    const bool exact = std::ranges::none_of(cell.rows, [](const auto* row) { return row->exact.empty(); });
    if (exact) cell.exact = cell.rows.front()->exact;
  }
  rank(seed);
}

void MethodComparison::rank(std::uint64_t seed) {
  for (const MethodCell& candidate : cells_) {
    const bool known = std::ranges::find(ranks_, candidate.method, &MethodRank::method) != ranks_.end();
    if (ranked(&candidate) && !known) ranks_.push_back({.method = candidate.method});
  }
  std::vector<std::vector<statistics::Repeats>> common;
  for (const std::int64_t budget : budgets_) {
    std::vector<MethodRank*> here;
    std::vector<statistics::Repeats> errors;
    bool answered = false;  // else there is nobody to be behind
    for (MethodRank& method : ranks_) {
      const MethodCell* found = cell_at(cells_, method.method, budget);
      if (!ranked(found)) continue;
      here.push_back(&method);
      errors.push_back(errors_of(*found));
      answered = answered || std::ranges::any_of(found->rows, [](const auto* row) { return finished(*row); });
    }
    if (!answered) continue;
    const std::vector<statistics::Rank> found = statistics::bootstrap_ranks({errors}, seed);
    for (std::size_t i = 0; i < here.size(); ++i) here[i]->at.emplace(budget, found[i]);
    if (here.size() < ranks_.size()) continue;
    common_budgets_.push_back(budget);
    common.push_back(std::move(errors));
  }
  if (common.empty()) return;
  const std::vector<statistics::Rank> found = statistics::bootstrap_ranks(common, seed);
  for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i].overall = found[i];
  std::ranges::stable_sort(ranks_, {}, [](const MethodRank& rank) { return rank.overall->rank; });
}

std::vector<std::pair<std::string, std::string>> MethodComparison::not_ranked() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const MethodCell& candidate : cells_) {
    const std::string& method = candidate.method;
    if (std::ranges::find(ranks_, method, &MethodRank::method) != ranks_.end()) continue;
    if (std::ranges::any_of(found, [&method](const auto& other) { return other.first == method; })) continue;
    found.emplace_back(method, !candidate.budget              ? "takes no budget, so it is not at equal budgets"
                               : !candidate.exact.empty()     ? "exact (" + candidate.exact + ")"
                               : !candidate.undefined.empty() ? "refuses: " + candidate.undefined
                                                              : "has no answer");
  }
  return found;
}

std::vector<std::string> MethodComparison::less_exact_than_declared() const {
  std::vector<std::string> broken;
  for (const MethodCell& found : cells_) {
    if (found.exact != "guarantee" && found.exact != "all coalitions") continue;
    double largest = 0;
    for (const runs::MethodRow* row : found.rows) {
      if (row->truth_error == 0 && row->scores["nrmse"].value) largest = std::max(largest, *row->scores["nrmse"].value);
    }
    if (largest > not_exact)
      broken.push_back(
          fmt::format("{} at budget {}: NRMSE {}", found.method, show_budget(found.budget), show(largest)));
  }
  return broken;
}

Table MethodComparison::errors() const {
  const auto remark = [](const MethodCell& cell) {
    const auto lost = std::ranges::count_if(cell.rows, [](const auto* row) { return !finished(*row); });
    if (!cell.undefined.empty()) return "undefined: " + first_sentence(cell.undefined);
    if (!cell.failure.empty()) return fmt::format("DNF ({}) {} of {}", cell.failure, lost, cell.rows.size());
    if (!cell.exact.empty()) return "exact: " + cell.exact;
    return cell.access == "values" ? "ranked" + of_its_budget(cell) : "not ranked: " + access_label(cell.access);
  };
  std::vector<ColumnOf<MethodCell>> columns = {
      {"method", [](auto& cell) { return cell.method; }},
      {"sees", [](auto& cell) { return access_label(cell.access); }},
      {"budget", [](auto& cell) { return show_budget(cell.budget); }, true},
      {"runs", [](auto& cell) { return std::to_string(cell.rows.size()); }, true}};
  for (const metrics::Metric& metric : metrics::in_tables()) {
    if (metric.needs_coalitions) continue;
    const auto score = [metric](const MethodCell& cell) {
      const std::string otherwise = !cell.undefined.empty() ? "undefined"
                                    : !cell.failure.empty() ? "DNF"
                                                            : cell.rows.front()->scores[metric.name].why;
      return show(quartiles_of(cell.rows, metric.name), otherwise);
    };
    columns.push_back({std::string(metric.symbol), score, true});
  }
  columns.push_back({"remark", remark});
  return table_of(
      "errors",
      "Errors against the truth over the repeats: median [quartiles]. \"Exact\" methods cannot but be right "
      "here and are not ranked; their rows are checks. Where the draws of a method share coalitions, it "
      "spends less than its budget: the remark says how much of it.",
      cells_, columns);
}

Table MethodComparison::runtime() const {
  using Cell = MethodCell;
  std::vector<Cell> cells = cells_;
  std::erase_if(cells, [](const Cell& cell) {
    return !cell.undefined.empty() || std::ranges::none_of(cell.rows, [](const auto* row) { return finished(*row); });
  });
  const auto count = [](auto number) { return [=](auto& cell) { return show_count(median_of(cell, number)); }; };
  const auto seconds = [](auto number) { return [=](auto& cell) { return show_seconds(median_of(cell, number)); }; };
  const auto of_a_coalition = [](const Cell& cell) {
    const double distinct = median_of(cell, &runs::MethodRow::distinct);
    return distinct > 0 ? show(1e6 * median_of(cell, &runs::MethodRow::estimator_seconds) / distinct) : "none";
  };
  std::vector<ColumnOf<Cell>> columns = {{"method", [](auto& cell) { return cell.method; }},
                                         {"budget", [](auto& cell) { return show_budget(cell.budget); }, true},
                                         {"distinct coalitions", count(&runs::MethodRow::distinct), true},
                                         {"evaluations", count(&runs::MethodRow::evaluations), true},
                                         {"gradients", count(&runs::MethodRow::gradients), true}};
  const bool said = std::ranges::any_of(cells, [](const Cell& cell) {
    return std::ranges::any_of(cell.rows, [](const auto* row) { return row->forward_equivalents > 0; });
  });
  if (said)  // rows of before do not say it
    columns.push_back({"forward equivalents",
                       [](auto& cell) {
                         const double passes = median_of(cell, &runs::MethodRow::forward_equivalents);
                         return show_count(passes > 0 ? passes : median_of(cell, &runs::MethodRow::distinct));
                       },
                       true});
  columns.insert(columns.end(), {{"sampling and solving", seconds(&runs::MethodRow::estimator_seconds), true},
                                 {"game", seconds(&runs::MethodRow::game_seconds), true},
                                 {"µs of the method a coalition", of_a_coalition, true}});
  return table_of("runtime",
                  "What one run costs, medians over the repeats: wall time in the method (sampling and solving) and in "
                  "the game, one run at a time.",
                  cells, columns);
}

Table MethodComparison::ranking() const {
  std::vector<ColumnOf<MethodRank>> columns = {
      {"method", [](auto& method) { return method.method; }},
      {"all", [](auto& method) { return method.overall ? show(*method.overall) : "no common budget"; }, true}};
  for (const std::int64_t budget : budgets_) {
    const auto rank = [this, budget](const MethodRank& method) -> std::string {
      const auto at = method.at.find(budget);
      const MethodCell* found = cell_at(cells_, method.method, budget);
      return at != method.at.end()                           ? show(at->second)
             : found != nullptr && !found->undefined.empty() ? "undefined"
             : found != nullptr && !found->failure.empty()   ? "DNF"
                                                             : "exact";
    };
    columns.push_back({show_budget(budget), rank, true});
  }
  return table_of("ranking",
                  "Ranks by median NRMSE, 1 the best, with 95 % intervals of the bootstrap over repeats; \"all\" is "
                  "the mean over the budgets at which everybody is ranked.",
                  ranks_, columns);
}

Figure MethodComparison::budget_error() const {
  Figure figure{.title = "Error against budget"};
  figure.numbers = {
      .name = "budget_error",
      .caption = "NRMSE over the repeats.",
      .columns = {{"method"}, {"budget", true}, {"runs", true}, {"q25", true}, {"median", true}, {"q75", true}}};
  ErrorCurves curves;
  std::vector<std::string> methods;
  std::string exact;
  for (const MethodCell& found : cells_) {
    if (std::ranges::find(methods, found.method) == methods.end()) methods.push_back(found.method);
  }
  sort_for_display(methods);
  const MethodStyles styles(methods);
  for (const std::string& method : methods) {
    std::vector<ErrorPoint> points;
    std::size_t drawn = 0, left_out = 0;
    for (const MethodCell& found : cells_) {
      const auto error = found.method == method ? quartiles_of(found.rows, "nrmse") : std::nullopt;
      if (!error) continue;
      figure.numbers.add({method, show_budget(found.budget), std::to_string(error->count), figures::digits(error->q25),
                          figures::digits(error->median), figures::digits(error->q75)});
      ++(mostly_exact(found) ? left_out : drawn);
      if (mostly_exact(found)) continue;
      if (found.budget) {
        points.push_back({static_cast<double>(*found.budget), *error});
      } else {
        const MethodStyle style = styles.of(method);
        curves.add_level(error->median,
                         fmt::format("lw 1.8 lc rgb '{}' {}", style.color, figures::dash_style(style.dash)));
        figure.legend.push_back({.label = style.label, .color = style.color, .dash = style.dash});
      }
    }
    if (!points.empty()) {
      curves.add(styles.of(method), points);
      figure.legend.push_back(styles.of(method));
    } else if (drawn == 0 && left_out > 0) {
      exact += (exact.empty() ? "" : ", ") + style_of(method).label;
    }
  }
  if (curves.empty()) return figures::missing(figure.title, "every method is exact on this game, or undefined");
  if (rows_.front().truth_error > 0) {
    curves.add_level(rows_.front().truth_error, "lw 1.2 lc rgb '#808080' dt (2,3)");
    figure.legend.push_back({.label = "error of the truth", .color = "#808080", .dash = "2,3"});
  }
  figure.finding = headline(rows_.front()) + " Lines are medians over the repeats, bands their quartiles.";
  if (!exact.empty())
    figure.finding +=
        " Exact on this game by declaration or to rounding, in half of the runs at least, so not drawn: " + exact + ".";
  figure.panels.push_back({.id = "budget-error",
                           .title = fmt::format("{}, n = {}", rows_.front().game, rows_.front().players),
                           .description = figure.finding,
                           .script = curves.script()});
  return figure;
}

std::string MethodComparison::markdown() const {
  std::string text = "# Methods on " + headline(rows_.front()) + "\n";
  if (!ranks_.empty()) text += "\n## Ranking\n\n" + ranking().markdown();
  text += "\n## Errors\n\n" + errors().markdown() + "\n## Cost\n\n" + runtime().markdown();
  const std::vector<std::string> broken = less_exact_than_declared();
  if (!broken.empty())
    text += "\n## Less exact than declared\n\nMethods that are declared to be exact here and are not:\n\n";
  for (const std::string& method : broken) text += "- " + method + "\n";
  return text;
}

std::string_view to_string(Change change) {
  static constexpr std::array<std::string_view, 4> words = {"better", "worse", "no change seen", "too few runs"};
  return words.at(static_cast<std::size_t>(change));
}

bool MethodChanges::any_worse() const {
  return std::ranges::any_of(methods, [](const MethodChange& found) { return found.change == Change::worse; });
}

std::vector<std::string> MethodChanges::lines() const {
  std::vector<std::string> lines;
  for (const MethodChange& found : methods) lines.push_back(change_in_words(found));
  for (const std::string& method : only_now) lines.push_back(method + ": no run of it in the baseline, not judged");
  for (const std::string& method : only_before) lines.push_back(method + ": only in the baseline, not judged");
  return lines;
}

MethodChanges method_changes(const std::vector<runs::MethodRow>& now, const std::vector<runs::MethodRow>& baseline,
                             std::uint64_t seed) {
  std::map<Key, const runs::MethodRow*> before;
  for (const runs::MethodRow& row : baseline) before.emplace(run_key(row), &row);
  std::vector<std::string> order;
  std::map<std::string, PairedRuns> methods;
  for (const runs::MethodRow& row : now) {
    const std::string method = name_of(row);
    if (!methods.contains(method)) order.push_back(method);
    PairedRuns& pairs = methods[method];
    const auto found = before.find(run_key(row));
    if (found == before.end()) continue;
    ++pairs.common;
    pairs.chance = pairs.chance || row.budget.has_value();
    const std::optional<double> error = error_of(row), old = error_of(*found->second);
    if (error && old) {
      pairs.log_ratios.push_back(std::log(*error / *old));
    } else {
      pairs.lost += old.has_value();
      pairs.gained += error.has_value();
    }
  }
  MethodChanges changes;
  for (const std::string& method : order) {
    const PairedRuns& pairs = methods.at(method);
    if (pairs.common == 0) {
      changes.only_now.push_back(method);
    } else {
      changes.methods.push_back(change_of(method, pairs, seed));
    }
  }
  require(!changes.methods.empty(), "against: runs=0 (the baseline has no run of the same game, players, method, ",
          "budget and repeat). Give the rows of a comparison of the same game.");
  std::set<std::string> known(order.begin(), order.end());
  for (const runs::MethodRow& row : baseline) {
    if (known.insert(name_of(row)).second) changes.only_before.push_back(name_of(row));
  }
  return changes;
}

}  // namespace opshap::reporting
