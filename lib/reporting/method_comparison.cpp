#include "reporting/method_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "metrics/registry.hpp"
#include "reporting/error_curves.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

namespace {

/// An exact method whose error is larger has lost half of a double's digits: more than any condition number of a sample
/// that is solved at all.
const double not_exact = std::sqrt(std::numeric_limits<double>::epsilon()) * 64;

bool finished(const runs::MethodRow& row) { return !row.failure; }

/// Of the runs that finished.
template <typename Value>
statistics::Quartiles quartiles_of(const MethodCell& cell, const Value& value) {
  std::vector<double> values;
  for (const runs::MethodRow* row : cell.rows) {
    if (finished(*row)) values.push_back(value(*row));
  }
  return statistics::quartiles(std::move(values));
}

/// Of the runs that have a score.
std::optional<statistics::Quartiles> scores_of(const MethodCell& cell, std::string_view metric) {
  std::vector<double> values;
  for (const runs::MethodRow* row : cell.rows) {
    if (const Measured& score = row->scores[metric]; score.value) values.push_back(*score.value);
  }
  if (values.empty()) return std::nullopt;
  return statistics::quartiles(std::move(values));
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
    const std::string method = row.explainer ? message(row.method, ":", *row.explainer) : row.method;
    auto place = std::find_if(cells_.begin(), cells_.end(), [&](const MethodCell& cell) {
      return cell.method == method && cell.budget == row.budget;
    });
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
    const bool exact =
        std::none_of(cell.rows.begin(), cell.rows.end(), [](const runs::MethodRow* row) { return row->exact.empty(); });
    if (exact) cell.exact = cell.rows.front()->exact;
  }
  rank(seed);
}

const MethodCell* MethodComparison::cell(const std::string& method, std::optional<std::int64_t> budget) const {
  const auto place = std::find_if(cells_.begin(), cells_.end(), [&](const MethodCell& candidate) {
    return candidate.method == method && candidate.budget == budget;
  });
  return place == cells_.end() ? nullptr : &*place;
}

void MethodComparison::rank(std::uint64_t seed) {
  for (const MethodCell& candidate : cells_) {
    const bool known = std::any_of(ranks_.begin(), ranks_.end(),
                                   [&](const MethodRank& rank) { return rank.method == candidate.method; });
    if (ranked(&candidate) && !known) ranks_.push_back({.method = candidate.method});
  }
  std::vector<std::vector<statistics::Repeats>> common;
  for (const std::int64_t budget : budgets_) {
    std::vector<MethodRank*> here;
    std::vector<statistics::Repeats> errors;
    bool answered = false;  // else there is nobody to be behind
    for (MethodRank& method : ranks_) {
      const MethodCell* found = cell(method.method, budget);
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
  std::stable_sort(ranks_.begin(), ranks_.end(),
                   [](const MethodRank& a, const MethodRank& b) { return a.overall->rank < b.overall->rank; });
}

std::vector<std::pair<std::string, std::string>> MethodComparison::not_ranked() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const MethodCell& candidate : cells_) {
    const auto same = [&candidate](const auto& other) { return other.first == candidate.method; };
    if (std::ranges::any_of(ranks_, [&](const MethodRank& rank) { return rank.method == candidate.method; }) ||
        std::ranges::any_of(found, same))
      continue;
    found.emplace_back(candidate.method, !candidate.budget          ? "takes no budget, so it is not at equal budgets"
                                         : !candidate.exact.empty() ? "exact (" + candidate.exact + ")"
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

namespace {

/// What is said of a method that spends much less than it may: coalitions that its draws share are evaluated once.
std::string of_its_budget(const MethodCell& cell) {
  if (!cell.budget) return "";
  const double spent =
      quartiles_of(cell, [](const runs::MethodRow& row) { return static_cast<double>(row.distinct); }).median /
      static_cast<double>(*cell.budget);
  constexpr double nearly_all = 0.9;
  return spent < nearly_all ? fmt::format(", on {:.0f} % of the budget", 100 * spent) : "";
}

}  // namespace

Table MethodComparison::errors() const {
  Table table{
      .name = "errors",
      .caption =
          "Errors against the truth over the repeats: median [quartiles]. \"Exact\" methods cannot but be right "
          "here and are not ranked; their rows are checks. Where the draws of a method share coalitions, it spends "
          "less "
          "than its budget: the remark says how much of it.",
      .columns = {{"method"}, {"sees"}, {"budget", true}, {"runs", true}}};
  for (const metrics::Metric& metric : metrics::in_tables())
    if (!metric.needs_coalitions) table.columns.push_back({std::string(metric.symbol), true});
  table.columns.push_back({"remark"});
  for (const MethodCell& found : cells_) {
    const auto lost =
        std::count_if(found.rows.begin(), found.rows.end(), [](const runs::MethodRow* row) { return !finished(*row); });
    const std::string remark = !found.undefined.empty() ? "undefined: " + first_sentence(found.undefined)
                               : !found.failure.empty()
                                   ? fmt::format("DNF ({}) {} of {}", found.failure, lost, found.rows.size())
                               : !found.exact.empty() ? "exact: " + found.exact
                                                      : "ranked" + of_its_budget(found);
    std::vector<std::string> row = {found.method, access_label(found.access), show_budget(found.budget),
                                    std::to_string(found.rows.size())};
    for (const metrics::Metric& metric : metrics::in_tables()) {
      if (metric.needs_coalitions) continue;
      const std::string otherwise = !found.undefined.empty() ? "undefined"
                                    : !found.failure.empty() ? "DNF"
                                                             : found.rows.front()->scores[metric.name].why;
      row.push_back(show(scores_of(found, metric.name), otherwise));
    }
    row.push_back(remark.starts_with("ranked") && found.access != "values" ? "not ranked: " + access_label(found.access)
                                                                           : remark);
    table.add(std::move(row));
  }
  return table;
}

Table MethodComparison::runtime() const {
  Table table{.name = "runtime",
              .caption =
                  "What one run costs, medians over the repeats: wall time in the method (sampling and solving) and in "
                  "the game, one run at a time.",
              .columns = {{"method"},
                          {"budget", true},
                          {"distinct coalitions", true},
                          {"evaluations", true},
                          {"gradients", true},
                          {"sampling and solving", true},
                          {"game", true},
                          {"µs of the method a coalition", true}}};
  for (const MethodCell& found : cells_) {
    if (!found.undefined.empty() ||
        std::none_of(found.rows.begin(), found.rows.end(), [](const runs::MethodRow* row) { return finished(*row); }))
      continue;
    const auto median = [&found](const auto& value) { return quartiles_of(found, value).median; };
    const double distinct = median([](const runs::MethodRow& row) { return static_cast<double>(row.distinct); });
    const double seconds = median([](const runs::MethodRow& row) { return row.estimator_seconds; });
    table.add({found.method, show_budget(found.budget), show_count(distinct),
               show_count(median([](const runs::MethodRow& row) { return static_cast<double>(row.evaluations); })),
               show_count(median([](const runs::MethodRow& row) { return static_cast<double>(row.gradients); })),
               show_seconds(seconds), show_seconds(median([](const runs::MethodRow& row) { return row.game_seconds; })),
               distinct > 0 ? show(1e6 * seconds / distinct) : "none"});
  }
  return table;
}

Table MethodComparison::ranking() const {
  Table table{
      .name = "ranking",
      .caption =
          "Ranks by median NRMSE, 1 the best, with 95 % intervals of the bootstrap over repeats; \"all\" is the "
          "mean over the budgets at which everybody is ranked.",
      .columns = {{"method"}, {"all", true}}};
  for (const std::int64_t budget : budgets_) table.columns.push_back({show_budget(budget), true});
  for (const MethodRank& method : ranks_) {
    std::vector<std::string> line = {method.method, method.overall ? show(*method.overall) : "no common budget"};
    for (const std::int64_t budget : budgets_) {
      const auto at = method.at.find(budget);
      const MethodCell* found = cell(method.method, budget);
      line.push_back(at != method.at.end()                           ? show(at->second)
                     : found != nullptr && !found->undefined.empty() ? "undefined"
                     : found != nullptr && !found->failure.empty()   ? "DNF"
                                                                     : "exact");
    }
    table.add(std::move(line));
  }
  return table;
}

std::string MethodComparison::headline() const {
  const runs::MethodRow& first = rows_.front();
  std::string text = fmt::format("{}, {} players. ", first.game, first.players);
  text += first.truth_error == 0
              ? fmt::format("The truth is {}.", first.truth == "exact" ? "the exact Shapley value" : "a closed form")
              : fmt::format(
                    "The truth is a {} reference with a relative standard error of {}: differences in NRMSE below it "
                    "mean nothing.",
                    first.truth, show(first.truth_error));
  return text;
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
    if (std::find(methods.begin(), methods.end(), found.method) == methods.end()) methods.push_back(found.method);
  }
  sort_for_display(methods);
  const MethodStyles styles(methods);
  for (const std::string& method : methods) {
    std::vector<ErrorPoint> points;
    std::size_t drawn = 0, left_out = 0;
    for (const MethodCell& found : cells_) {
      const auto error = found.method == method ? scores_of(found, "nrmse") : std::nullopt;
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
      figure.legend.push_back(legend_of(styles.of(method)));
    } else if (drawn == 0 && left_out > 0) {
      exact += (exact.empty() ? "" : ", ") + style_of(method).label;
    }
  }
  if (curves.empty()) return figures::missing(figure.title, "every method is exact on this game, or undefined");
  if (rows_.front().truth_error > 0) {
    curves.add_level(rows_.front().truth_error, "lw 1.2 lc rgb '#808080' dt (2,3)");
    figure.legend.push_back({.label = "error of the truth", .color = "#808080", .dash = "2,3"});
  }
  figure.finding = headline() + " Lines are medians over the repeats, bands their quartiles.";
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
  std::string text = "# Methods on " + headline() + "\n";
  if (!ranks_.empty()) text += "\n## Ranking\n\n" + ranking().markdown();
  text += "\n## Errors\n\n" + errors().markdown() + "\n## Cost\n\n" + runtime().markdown();
  const std::vector<std::string> broken = less_exact_than_declared();
  if (!broken.empty())
    text += "\n## Less exact than declared\n\nMethods that are declared to be exact here and are not:\n\n";
  for (const std::string& method : broken) text += "- " + method + "\n";
  return text;
}

}  // namespace opshap::reporting
