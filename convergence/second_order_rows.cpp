#include "second_order_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/csv.hpp"
#include "core/file.hpp"
#include "reporting/error_bars.hpp"
#include "runs/row_files.hpp"
#include "second_order_candidates.hpp"
#include "statistics/quantiles.hpp"

namespace opshap {

namespace {

using Row = SecondOrderRow;
using Rows = std::vector<Row>;

/// The share of errors that a fitted rule is to cover.
constexpr double wanted_coverage = 0.8;

const std::vector<std::string> columns = {"family",
                                          "network",
                                          "players",
                                          "input",
                                          "base",
                                          "candidate",
                                          "nodes",
                                          "directions",
                                          "gradients",
                                          "reference_error",
                                          "first_order_error",
                                          "error",
                                          "first_order_bar",
                                          "apart",
                                          "share"};

Rows some(const Rows& rows, const std::function<bool(const Row&)>& wanted) {
  Rows found;
  std::ranges::copy_if(rows, std::back_inserter(found), wanted);
  return found;
}

/// What all rows have of something, in the order of the rows.
template <typename Key>
auto kinds(const Rows& rows, const Key& key) {
  std::vector<decltype(key(rows.front()))> found;
  for (const Row& row : rows)
    if (std::ranges::find(found, key(row)) == found.end()) found.push_back(key(row));
  return found;
}

template <typename Number>
std::vector<double> numbers(const Rows& rows, const Number& number) {
  std::vector<double> found;
  for (const Row& row : rows) found.push_back(number(row));
  return found;
}

/// The games that rows are of, in words; all solved games are one group.
std::string group(const Row& row) { return row.of_network ? row.family : "solved games"; }

using Game = std::tuple<std::string, int, int, std::string>;
Game game(const Row& row) { return {row.family, row.players, row.input, row.base}; }

/// log(error of the row / error of half combs on the same game) for the rows of a candidate.
std::vector<double> log_ratios(const Rows& rows, std::string_view candidate) {
  std::map<Game, double> of_half_combs;
  for (const Row& row : rows)
    if (row.candidate == half_combs) of_half_combs[game(row)] = row.true_error();
  std::vector<double> found;
  for (const Row& row : rows) {
    const auto beside = of_half_combs.find(game(row));
    if (row.candidate == candidate && beside != of_half_combs.end() && row.true_error() > 0 && beside->second > 0)
      found.push_back(std::log(row.true_error() / beside->second));
  }
  return found;
}

double mean(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

double bar_of_values(const Row& row) {
  const double r = row.first_order_bar;
  return std::hypot(row.apart, 3 * r * r, r / 4);
}

void append(std::vector<std::string>& row, const std::vector<std::string>& cells) {
  row.insert(row.end(), cells.begin(), cells.end());
}

/// A rule for the bar of the corrected value, up to a factor.
struct BarRule {
  std::string name;
  std::function<double(const Row&)> bar;
};

/// √(δ² + (s·r²)²).
BarRule of_squares(double s) {
  return {fmt::format("√(δ² + ({:g} r²)²)", s),
          [s](const Row& row) { return std::hypot(row.apart, s * row.first_order_bar * row.first_order_bar); }};
}

/// The scatter of log(error / bar) about its mean.
double scatter(const Rows& rows, const BarRule& rule) {
  std::vector<double> logs;
  for (const Row& row : rows)
    if (row.true_error() > 0 && rule.bar(row) > 0) logs.push_back(std::log(row.true_error() / rule.bar(row)));
  const double middle = mean(logs);
  double squares = 0;
  for (const double log : logs) squares += (log - middle) * (log - middle);
  return std::sqrt(squares / static_cast<double>(logs.size()));
}

/// The one of these whose bars are nearest to proportional to the errors.
BarRule least_scattered(const Rows& rows, const std::vector<BarRule>& rules) {
  return *std::ranges::min_element(rules, {}, [&](const BarRule& rule) { return scatter(rows, rule); });
}

}  // namespace

std::string to_csv(const Rows& rows) {
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : ",") + column;
  text += "\n";
  for (const Row& row : rows)
    text += fmt::format("\"{}\",{},{},{},{},\"{}\",{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", row.family,
                        row.of_network ? 1 : 0, row.players, row.input, row.base, row.candidate, row.nodes,
                        row.directions, row.gradients, row.reference_error, row.first_order_error, row.error,
                        row.first_order_bar, row.apart, row.share);
  return text;
}

Rows read_second_order_rows(const std::filesystem::path& file) {
  Rows rows;
  const std::string text = runs::gunzip(read_file(file), "second order: file=" + file.string());
  for (const CsvRow& cells : parse_csv(text, file.string(), columns)) {
    rows.push_back({.family = cells.text("family"),
                    .of_network = cells.whole("network") != 0,
                    .players = static_cast<int>(cells.whole("players")),
                    .input = static_cast<int>(cells.whole("input")),
                    .base = cells.text("base"),
                    .candidate = cells.text("candidate"),
                    .nodes = static_cast<int>(cells.whole("nodes")),
                    .directions = static_cast<int>(cells.whole("directions")),
                    .gradients = cells.whole("gradients"),
                    .reference_error = cells.number("reference_error"),
                    .first_order_error = cells.number("first_order_error"),
                    .error = cells.number("error"),
                    .first_order_bar = cells.number("first_order_bar"),
                    .apart = cells.number("apart"),
                    .share = cells.number("share")});
  }
  return rows;
}

reporting::Table table_of_candidates(const Rows& rows) {
  reporting::Table table{.name = "errors",
                         .caption = "Relative errors of the values, medians with quartiles over the inputs.",
                         .columns = {{"games"}, {"base"}, {"n", true}, {"M", true}, {"first order", true}},
                         .rows = {}};
  const auto names = kinds(rows, [](const Row& row) { return row.candidate; });
  for (const std::string& name : names) table.columns.push_back({name, true});
  const auto cell = [](const Rows& of, const auto& error) {
    return of.empty() ? std::string("no room") : reporting::show(statistics::quartiles(numbers(of, error)));
  };
  for (const auto& [family, base, players] :
       kinds(rows, [](const Row& row) { return std::tuple(row.family, row.base, row.players); })) {
    const Rows here = some(rows, [&, family = family, base = base, players = players](const Row& row) {
      return row.family == family && row.base == base && row.players == players;
    });
    const auto of = [&](const std::string& name) {
      return some(here, [&](const Row& row) { return row.candidate == name; });
    };
    std::vector<std::string> cells = {family, base, std::to_string(players), std::to_string(here.front().directions),
                                      cell(of(product), [](const Row& row) { return row.true_first_order_error(); })};
    for (const std::string& name : names)
      cells.push_back(cell(of(name), [](const Row& row) { return row.true_error(); }));
    table.add(std::move(cells));
  }
  return table;
}

reporting::Table table_of_ratios(const Rows& rows) {
  reporting::Table table{
      .name = "ratios",
      .caption = fmt::format("Errors over those of \"{}\" on the same inputs of all sizes: geometric "
                             "mean, [quartiles], and the share of inputs on which they are smaller.",
                             half_combs),
      .columns = {{"games"}, {"base"}},
      .rows = {}};
  const auto names = kinds(rows, [](const Row& row) { return row.candidate; });
  for (const std::string& name : names)
    if (name != half_combs) table.columns.push_back({name, true});
  for (const auto& [games, base] : kinds(rows, [](const Row& row) { return std::pair(group(row), row.base); })) {
    const Rows here =
        some(rows, [&, games = games, base = base](const Row& row) { return group(row) == games && row.base == base; });
    std::vector<std::string> cells = {games, base};
    for (const std::string& name : names) {
      if (name == half_combs) continue;
      const std::vector<double> logs = log_ratios(here, name);
      if (logs.empty()) {
        cells.emplace_back("no room");
        continue;
      }
      const auto spread = statistics::quartiles(logs);
      const auto better = std::ranges::count_if(logs, [](double log) { return log < 0; });
      cells.push_back(fmt::format("{:.2f} [{:.2f}, {:.2f}], {}", std::exp(mean(logs)), std::exp(spread.q25),
                                  std::exp(spread.q75),
                                  percent(static_cast<double>(better) / static_cast<double>(logs.size()))));
    }
    table.add(std::move(cells));
  }
  return table;
}

reporting::Table table_of_bars(const Rows& rows, const std::vector<std::string>& of_candidates) {
  reporting::Table table{
      .name = "bars",
      .caption = fmt::format(
          "The bar of the first order is r, that of the corrected value √(δ² + (3r²)² + (r/4)²). A "
          "failure is an error above {}, a warning a bar above {}; other warnings are those for errors up to {}.",
          percent(reporting::failed_from), percent(reporting::warns_above), percent(reporting::failed_from)),
      .columns = {{"games"}, {"base"}, {"combs"}, {"bar of"}},
      .rows = {}};
  table.columns.insert(table.columns.end(), reporting::columns_of_bars().begin(), reporting::columns_of_bars().end());
  for (const auto& [games, base] : kinds(rows, [](const Row& row) { return std::pair(group(row), row.base); })) {
    for (const std::string& name : of_candidates) {
      const Rows here = some(rows, [&, games = games, base = base](const Row& row) {
        return group(row) == games && row.base == base && row.candidate == name;
      });
      std::vector<std::string> first = {games, base, name, "first order"}, second = {games, base, name, "corrected"};
      append(first, reporting::bars_judged(numbers(here, [](const Row& row) { return row.true_first_order_error(); }),
                                           numbers(here, [](const Row& row) { return row.first_order_bar; })));
      append(second, reporting::bars_judged(numbers(here, [](const Row& row) { return row.true_error(); }),
                                            numbers(here, bar_of_values)));
      table.add(std::move(first));
      table.add(std::move(second));
    }
  }
  return table;
}

reporting::Table table_of_rules(const Rows& rows, const std::string& of_candidate) {
  reporting::Table table{
      .name = "rules",
      .caption = fmt::format("Bars of the corrected value of \"{}\" on networks, judged on the inputs of odd number. "
                             "Rules with c are fitted on those of even number: other constants for the least scatter "
                             "of log(error/bar), and c so that {} of the errors are covered.",
                             of_candidate, percent(wanted_coverage)),
      .columns = {{"base"}, {"rule"}},
      .rows = {}};
  table.columns.insert(table.columns.end(), reporting::columns_of_bars().begin(), reporting::columns_of_bars().end());
  for (const std::string& base : kinds(rows, [](const Row& row) { return row.base; })) {
    const auto half = [&](int parity) {
      return some(rows, [&](const Row& row) {
        return row.of_network && row.base == base && row.candidate == of_candidate && row.input % 2 == parity;
      });
    };
    const Rows fitted_on = half(0), judged_on = half(1);
    if (fitted_on.empty() || judged_on.empty()) continue;
    std::vector<BarRule> squares, powers;
    for (const double s : {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0}) squares.push_back(of_squares(s));
    for (const double power : {0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0})
      powers.push_back(
          {fmt::format("c·r^{:g}", power), [power](const Row& row) { return std::pow(row.first_order_bar, power); }});
    const auto add = [&](const BarRule& rule, bool fits) {
      double factor = 1;
      if (fits) {
        std::vector<double> ratios;
        for (const Row& row : fitted_on)
          if (rule.bar(row) > 0) ratios.push_back(row.true_error() / rule.bar(row));
        factor = statistics::quantile(ratios, wanted_coverage);
      }
      std::vector<std::string> cells = {base, fits ? fmt::format("{}, c = {:.2f}", rule.name, factor) : rule.name};
      append(cells, reporting::bars_judged(numbers(judged_on, [](const Row& row) { return row.true_error(); }),
                                           numbers(judged_on, [&](const Row& row) { return factor * rule.bar(row); })));
      table.add(std::move(cells));
    };
    const auto times = [](BarRule rule) {
      rule.name = "c·" + rule.name;
      return rule;
    };
    add({"√(δ² + (3 r²)² + (r/4)²)", bar_of_values}, false);
    add(of_squares(3), false);
    add(times(of_squares(3)), true);
    add(times(least_scattered(fitted_on, squares)), true);
    add(times(of_squares(0)), true);
    add(least_scattered(fitted_on, powers), true);
  }
  return table;
}

double mean_ratio(const Rows& rows, std::string_view candidate, bool of_networks) {
  return std::exp(
      mean(log_ratios(some(rows, [&](const Row& row) { return row.of_network == of_networks; }), candidate)));
}

}  // namespace opshap
