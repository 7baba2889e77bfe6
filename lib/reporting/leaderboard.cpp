#include "reporting/leaderboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "reporting/methods.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

namespace {

/// A run that did not finish is behind every other one.
constexpr double no_answer = std::numeric_limits<double>::max();
constexpr double unknown_error = std::numeric_limits<double>::infinity();

double ranked_error(const runs::MethodRow& row) {
  if (!row.exact.empty()) return 0;
  return row.scores["nrmse"].value.value_or(no_answer);
}

/// Of the runs that were not refused; none where the method was not asked.
statistics::Repeats ranked_errors(const MethodCell* cell) {
  statistics::Repeats errors;
  if (cell == nullptr) return errors;
  for (const runs::MethodRow* row : cell->rows) {
    if (row->scores["nrmse"].value || !row->exact.empty() || row->failure) errors.push_back(ranked_error(*row));
  }
  return errors;
}

bool answers(const MethodCell& cell) {
  return std::ranges::any_of(cell.rows,
                             [](const runs::MethodRow* row) { return row->scores["nrmse"].value.has_value(); });
}

/// The method's cell at the budget; of a method without budgets its only one.
const MethodCell* find_cell(const MethodComparison& comparison, const std::string& method,
                            std::optional<std::int64_t> budget) {
  for (const MethodCell& cell : comparison.cells()) {
    if (cell.method == method && (!cell.budget || cell.budget == budget)) return &cell;
  }
  return nullptr;
}

/// A game at a budget, and a cell for each competitor; null where the method was not asked.
struct Condition {
  std::size_t game = 0;
  std::vector<const MethodCell*> cells;

  /// Two take part or more, unless there is one method alone, and not all of them are exact.
  bool tells() const {
    std::size_t taking_part = 0, exact = 0, answered = 0;
    for (const MethodCell* cell : cells) {
      if (ranked_errors(cell).empty()) continue;
      ++taking_part;
      exact += !cell->exact.empty();
      answered += answers(*cell);
    }
    return (taking_part > 1 || cells.size() == 1) && answered > 0 && exact < taking_part;
  }
  std::vector<statistics::Repeats> errors() const {
    std::vector<statistics::Repeats> errors;
    for (const MethodCell* cell : cells) errors.push_back(ranked_errors(cell));
    return errors;
  }
  /// The median error of a competitor; unknown_error where it takes no part, is exact, or did not finish.
  double error(std::size_t competitor) const {
    const statistics::Repeats errors = ranked_errors(cells[competitor]);
    const double median = errors.empty() ? 0 : statistics::quantile(errors, 0.5);
    return median > 0 && median < no_answer ? median : unknown_error;
  }
  /// The least of these errors.
  double least_error() const {
    double least = unknown_error;
    for (std::size_t i = 0; i < cells.size(); ++i) least = std::min(least, error(i));
    return least;
  }
};

/// The cells of all games, each with its game.
std::vector<std::pair<const LeaderboardGame*, const MethodCell*>> all_cells(const std::vector<LeaderboardGame>& games) {
  std::vector<std::pair<const LeaderboardGame*, const MethodCell*>> cells;
  for (const LeaderboardGame& game : games) {
    for (const MethodCell& cell : game.comparison->cells()) cells.emplace_back(&game, &cell);
  }
  return cells;
}

/// The methods of an access class in the order of their rows.
std::vector<std::string> methods_of(const std::vector<LeaderboardGame>& games, const std::string& access) {
  std::vector<std::string> methods;
  for (const auto& [game, cell] : all_cells(games)) {
    if (cell->access == access && std::ranges::find(methods, cell->method) == methods.end())
      methods.push_back(cell->method);
  }
  return methods;
}

std::vector<Condition> conditions_of(const std::vector<LeaderboardGame>& games,
                                     const std::vector<std::string>& methods) {
  std::vector<Condition> conditions;
  for (std::size_t game = 0; game < games.size(); ++game) {
    const MethodComparison& comparison = *games[game].comparison;
    std::set<std::optional<std::int64_t>> budgets;
    for (const MethodCell& cell : comparison.cells()) {
      if (std::ranges::find(methods, cell.method) != methods.end()) budgets.insert(cell.budget);
    }
    if (budgets.size() > 1) budgets.erase(std::nullopt);
    for (const auto& budget : budgets) {
      Condition condition{.game = game};
      for (const std::string& method : methods) condition.cells.push_back(find_cell(comparison, method, budget));
      if (condition.tells()) conditions.push_back(std::move(condition));
    }
  }
  return conditions;
}

/// Median wall times in the method and in the game of one run; empty where none has an answer.
std::string show_cost(const MethodCell& cell) {
  std::vector<double> method, game;
  for (const runs::MethodRow* row : cell.rows) {
    if (!row->scores["nrmse"].value) continue;
    method.push_back(row->estimator_seconds);
    game.push_back(row->game_seconds);
  }
  if (method.empty()) return "";
  return fmt::format("{} / {}", show_seconds(statistics::quantile(std::move(method), 0.5)),
                     show_seconds(statistics::quantile(std::move(game), 0.5)));
}

Html leaders(const AccessClass& of) {
  const Standing& first = of.standings.front();
  std::vector<std::string> close;
  for (const Standing& other : of.standings) {
    if (&other != &first && other.overall.low <= first.overall.high) close.push_back(other.method);
  }
  return element("li", heading(of), ": ", element("strong", first.method),
                 fmt::format(" leads with a mean rank of {} among {}", show(first.overall), of.standings.size()),
                 close.empty() ? "" : fmt::format("; the interval of {} meets its own", fmt::join(close, ", ")), ".");
}

Html header(const LeaderboardContents& contents) {
  Links links = {{"#ranks", "Ranks"}};
  if (contents.changes) links.emplace_back("#changes", "Since the baseline");
  links.insert(links.end(), {{"#curves", "Error against budget"},
                             {"#cost", "Cost"},
                             {"#lost", "Runs without an answer"},
                             {"#versions", "Versions"}});
  return element("p.overline", "OperatorSHAP, leaderboard") + element("h1", "Suite ", contents.suite) +
         element("p.lead", contents.summary) + element("ol.sentences", each(contents.board.classes(), leaders)) +
         fact_list(contents.facts) + navigation(links);
}

/// Where a method misses what its declaration says.
Html declarations(const Leaderboard& board) {
  const Html missed = each(board.games(), [](const LeaderboardGame& game) {
    return each(game.comparison->less_exact_than_declared(),
                [&](const std::string& method) { return element("li", game.name, ": ", method); });
  });
  if (missed.empty()) return missed;
  return element("h3", "Less exact than declared") +
         element("p",
                 "The declaration of a program is in its plugin.toml, which need not be by the author of the method.") +
         element("ul.plain", missed);
}

Html ranks_section(const Leaderboard& board) {
  static const std::vector<const char*> rules = {
      "A budget is the number of distinct coalitions, the empty and the grand one among them. The game counts them, "
      "not the method.",
      "Methods are ranked among those that see the same. Every game at every budget counts alike.",
      "Methods that are exact share the first rank. A run that did not finish is behind all others. A refusal has no "
      "rank and stands in a table of its own.",
      "An interval says how sure a rank is on these games at these budgets. It says nothing about other games."};
  Html html = element("ul.plain", each(rules, [](const char* rule) { return element("li", rule); }));
  if (board.classes().empty()) html += element("p", "Nobody is ranked: every method is exact wherever it answers.");
  html += each(board.classes(), [&board](const AccessClass& of) {
    return element("h3", heading(of)) + board.ranking(of).html_with_caption() +
           element("details", element("summary", "Game by game"), board.ranking_by_game(of).html_with_caption());
  });
  return section("ranks", "Ranks", html);
}

Html changes_section(const LeaderboardContents& contents) {
  if (!contents.changes) return {};
  return section("changes", "Since the baseline",
                 element("p",
                         "Runs of the same game, budget and repeat are pairs. The ratio is that of today's error to "
                         "the baseline's, as a geometric mean over the pairs with a 95 % interval of the bootstrap.") +
                     element("ul.plain", each(contents.changes->lines(),
                                              [](const std::string& line) { return element("li", line); })));
}

}  // namespace

std::string heading(const AccessClass& of) {
  if (of.access == "values") return "Methods that see values of coalitions";
  if (of.access == "gradient") return "Methods that see gradients";
  if (of.access == "amortised") return "Trained explainers, which see the input alone";
  return "Methods that see " + access_label(of.access);
}

Leaderboard::Leaderboard(std::vector<LeaderboardGame> games, std::uint64_t seed) : games_(std::move(games)) {
  require(!games_.empty(), "leaderboard: games=0 (nobody to rank). Give a comparison.");
  std::vector<std::string> accesses = {"values", "gradient"};
  for (const auto& [game, cell] : all_cells(games_)) {
    if (std::ranges::find(accesses, cell->access) == accesses.end()) accesses.push_back(cell->access);
  }
  for (const std::string& access : accesses) {
    if (auto found = class_of(access, seed)) classes_.push_back(std::move(*found));
  }
}

std::optional<AccessClass> Leaderboard::class_of(const std::string& access, std::uint64_t seed) const {
  AccessClass found{.access = access};
  std::vector<std::string> methods;
  for (const std::string& method : methods_of(games_, access)) {
    bool answered = false, unlimited = false;
    for (const auto& [game, cell] : all_cells(games_)) {
      if (cell->method != method) continue;
      answered = answered || answers(*cell);
      unlimited = unlimited || (access == "values" && !cell->budget);
    }
    (answered && !unlimited ? methods : found.not_ranked).push_back(method);
  }
  const std::vector<Condition> conditions = conditions_of(games_, methods);
  if (conditions.empty()) return std::nullopt;
  found.conditions = conditions.size();
  for (const std::string& method : methods) found.standings.push_back({.method = method});

  // Adds the ranks over those of the conditions that `counts` accepts to the standings of those that have one.
  const auto add_ranks = [&](int resamples, const auto& counts, const auto& add) {
    std::vector<std::vector<statistics::Repeats>> errors;
    for (const Condition& condition : conditions) {
      if (counts(condition)) errors.push_back(condition.errors());
    }
    if (errors.empty()) return;
    constexpr double confidence = 0.95;
    const std::vector<statistics::Rank> ranks = statistics::bootstrap_ranks(errors, seed, confidence, resamples);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i].conditions > 0) add(found.standings[i], ranks[i]);
    }
  };
  constexpr int resamples = 2000, none = 1;
  add_ranks(
      resamples, [](const Condition&) { return true; },
      [](Standing& standing, const statistics::Rank& rank) { standing.overall = rank; });
  for (const std::string& group : groups()) {
    add_ranks(
        resamples, [&](const Condition& condition) { return games_[condition.game].group == group; },
        [&](Standing& standing, const statistics::Rank& rank) { standing.in_group.emplace(group, rank); });
  }
  for (std::size_t game = 0; game < games_.size(); ++game) {
    add_ranks(
        none, [&](const Condition& condition) { return condition.game == game; },
        [&](Standing& standing, const auto& rank) { standing.in_game.emplace(games_[game].name, rank.rank); });
  }
  for (std::size_t i = 0; i < methods.size(); ++i) {
    Standing& standing = found.standings[i];
    double log_ratio = 0;
    int ratios = 0;
    for (const Condition& condition : conditions) {
      const MethodCell* cell = condition.cells[i];
      if (const double error = condition.error(i); error < unknown_error) {
        log_ratio += std::log(error / condition.least_error());
        ++ratios;
      }
      if (cell == nullptr) continue;
      standing.exact += !cell->exact.empty();
      standing.refused += !cell->undefined.empty();
      standing.unfinished += !cell->failure.empty();
    }
    if (ratios > 0) standing.error_ratio = std::exp(log_ratio / ratios);
    if (standing.overall.conditions == 0) found.not_ranked.push_back(standing.method);
  }
  std::erase_if(found.standings, [](const Standing& standing) { return standing.overall.conditions == 0; });
  std::ranges::stable_sort(found.standings, {}, [](const Standing& standing) { return standing.overall.rank; });
  return found;
}

std::vector<std::string> Leaderboard::groups() const {
  std::vector<std::string> groups;
  for (const LeaderboardGame& game : games_) {
    if (std::ranges::find(groups, game.group) == groups.end()) groups.push_back(game.group);
  }
  return groups;
}

Table Leaderboard::ranking(const AccessClass& of) const {
  std::vector<ColumnOf<Standing>> columns = {
      {"method", [](auto& standing) { return standing.method; }},
      {"all games", [](auto& standing) { return show(standing.overall); }, true},
      {"conditions", [](auto& standing) { return std::to_string(standing.overall.conditions); }, true},
      {"error", [](auto& standing) { return standing.error_ratio ? show(*standing.error_ratio) : "exact"; }, true}};
  const std::vector<std::string> groups = this->groups();
  if (groups.size() > 1) {
    for (const std::string& group : groups) {
      const auto rank = [&group](const Standing& standing) {
        return standing.in_group.contains(group) ? show(standing.in_group.at(group)) : "no condition";
      };
      columns.push_back({group, rank, true});
    }
  }
  for (const auto& [heading, count] : {std::pair("exact", &Standing::exact), std::pair("refused", &Standing::refused),
                                       std::pair("DNF", &Standing::unfinished)}) {
    columns.push_back({heading, [count](auto& standing) { return std::to_string(standing.*count); }, true});
  }
  Table table =
      table_of("ranking_" + of.access,
               fmt::format("Mean ranks by median NRMSE among those that answer, 1 the best, with 95 % intervals of the "
                           "bootstrap over repeats. The error is that over the least error of the same condition, a "
                           "geometric mean over the conditions where neither is exact. Conditions (a game at a "
                           "budget): {}. A method is ranked at those where it answers or did not finish (DNF). Where "
                           "it refuses it has no rank, so compare ranks of methods with the same number of conditions.",
                           of.conditions),
               of.standings, columns);
  const bool repeated =
      std::ranges::any_of(all_cells(games_), [](const auto& of) { return of.second->rows.size() > 1; });
  if (!repeated) table.notes.push_back("Every run was made once, so there are no intervals.");
  if (!of.not_ranked.empty())
    table.notes.push_back(fmt::format(
        "Not ranked: {}. {}", fmt::join(of.not_ranked, ", "),
        of.access == "values" ? "They refused every game, or take no budget." : "They refused every game."));
  return table;
}

Table Leaderboard::ranking_by_game(const AccessClass& of) const {
  std::vector<ColumnOf<Standing>> columns = {{"method", [](auto& standing) { return standing.method; }}};
  for (const LeaderboardGame& game : games_) {
    const auto ranked = [&game](const Standing& standing) { return standing.in_game.contains(game.name); };
    if (std::ranges::none_of(of.standings, ranked)) continue;
    const auto rank = [&game, ranked](const Standing& standing) {
      return ranked(standing) ? fmt::format("{:.1f}", standing.in_game.at(game.name)) : "refused";
    };
    columns.push_back({game.name, rank, true});
  }
  return table_of("ranking_by_game_" + of.access, "Mean rank over the budgets of each game, 1 the best.", of.standings,
                  columns);
}

Table Leaderboard::cost() const {
  std::vector<std::string> methods;
  std::map<std::string, std::pair<double, double>> sums;
  for (const auto& [game, cell] : all_cells(games_)) {
    if (!sums.contains(cell->method)) methods.push_back(cell->method);
    auto& [method, time] = sums[cell->method];
    for (const runs::MethodRow* row : cell->rows) {
      method += row->estimator_seconds;
      time += row->game_seconds;
    }
  }
  std::vector<ColumnOf<std::string>> columns = {
      {"method", [](auto& method) { return method; }},
      {"all runs: method", [&sums](auto& method) { return show_seconds(sums.at(method).first); }, true},
      {"all runs: game", [&sums](auto& method) { return show_seconds(sums.at(method).second); }, true}};
  for (const LeaderboardGame& game : games_) {
    const auto at_the_largest_budget = [&game](const std::string& method) {
      const MethodCell* largest = nullptr;
      for (const MethodCell& cell : game.comparison->cells()) {
        if (cell.method == method && (largest == nullptr || cell.budget > largest->budget)) largest = &cell;
      }
      const std::string cost = largest == nullptr ? "" : show_cost(*largest);
      return cost.empty() ? "none" : cost;
    };
    columns.push_back({game.name, at_the_largest_budget, true});
  }
  return table_of("cost",
                  "Wall time in the method (sampling and solving, or the program behind it) and in the game: the sum "
                  "over all runs, and the medians of one run at each game's largest budget as method / game.",
                  methods, columns);
}

Table Leaderboard::unfinished() const {
  struct Lost {
    std::string game;
    const MethodCell* cell;
    std::vector<std::string> endings;
    std::string reason;
    std::size_t runs = 0;
  };
  std::vector<Lost> found;
  for (const auto& [game, cell] : all_cells(games_)) {
    Lost lost{.game = game->name, .cell = cell};
    for (const runs::MethodRow* row : cell->rows) {
      if (!row->failure) continue;
      ++lost.runs;
      if (lost.reason.empty()) lost.reason = row->scores["nrmse"].why;
      if (std::ranges::find(lost.endings, *row->failure) == lost.endings.end()) lost.endings.push_back(*row->failure);
    }
    if (lost.runs > 0) found.push_back(std::move(lost));
  }
  return table_of(
      "unfinished", "Runs that did not finish (DNF). Each counts as worse than any run that did.", found,
      {{"game", [](auto& lost) { return lost.game; }},
       {"method", [](auto& lost) { return lost.cell->method; }},
       {"budget", [](auto& lost) { return show_budget(lost.cell->budget); }, true},
       {"runs", [](auto& lost) { return fmt::format("{} of {}", lost.runs, lost.cell->rows.size()); }, true},
       {"how they ended", [](auto& lost) { return fmt::format("DNF ({})", fmt::join(lost.endings, ", ")); }},
       {"first reason", [](auto& lost) { return lost.reason.empty() ? "not stored" : lost.reason; }}});
}

Table Leaderboard::refused() const {
  struct Refused {
    std::string method;
    std::set<std::string> games;
    std::string reason;
  };
  std::vector<Refused> found;
  for (const auto& [game, cell] : all_cells(games_)) {
    if (cell->undefined.empty()) continue;
    auto place = std::ranges::find(found, cell->method, &Refused::method);
    if (place == found.end())
      place = found.insert(found.end(), {.method = cell->method, .games = {}, .reason = cell->undefined});
    place->games.insert(game->name);
  }
  return table_of(
      "refused",
      "What methods refuse: budgets that are too small for them, games that have not what they ask for. A refusal has "
      "no rank.",
      found,
      {{"method", [](auto& refused) { return refused.method; }},
       {"where", [this](auto& of) { return fmt::format("{} of {} games", of.games.size(), games_.size()); }, true},
       {"first reason", [](auto& refused) { return refused.reason; }}});
}

std::string leaderboard_page(const LeaderboardContents& contents) {
  const Leaderboard& board = contents.board;
  const Html curves = element("p", "Each game has a folder of its own with these numbers, all rows and the drawing.") +
                      each(contents.curves, figure_html);
  const Html lost = element("h3", "Did not finish") + board.unfinished().html_with_caption() +
                    element("h3", "Refused") + board.refused().html_with_caption() + declarations(board);
  const Html peers = contents.peers.rows.empty() ? Html() : contents.peers.html_with_caption();
  return document("OperatorSHAP leaderboard, suite " + contents.suite, header(contents),
                  ranks_section(board) + changes_section(contents) + section("curves", "Error against budget", curves) +
                      section("cost", "Cost", board.cost().html_with_caption()) +
                      section("lost", "Runs without an answer", lost) +
                      section("versions", "Versions and settings", peers + key_value_table(contents.origin)),
                  "Written by " + element("code", "opshap compare --suite") + " from the rows of its games alone.")
      .markup();
}

}  // namespace opshap::reporting
