#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reporting/method_comparison.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/table.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::reporting {

/// A comparison that takes part in a leaderboard.
struct LeaderboardGame {
  std::string name;   ///< "burgers1d_fno_n64"
  std::string group;  ///< "closed forms", "operators"
  const MethodComparison* comparison;
};

/// The place of a method among those that see the same.
struct Standing {
  std::string method;
  statistics::Rank overall;
  std::optional<double>
      error_ratio;  ///< over the least error of each condition, geometric mean; none where it is exact
  std::map<std::string, statistics::Rank> in_group;
  std::map<std::string, double> in_game;               ///< mean rank over the budgets, by the game's name
  std::size_t exact = 0, refused = 0, unfinished = 0;  ///< conditions at which it was exact, refused, or did not finish
};

/// Methods that see the same of a game: ranks compare like with like.
struct AccessClass {
  std::string access;  ///< as rows have it: "values", "gradient", "amortised"
  std::size_t conditions = 0;
  std::vector<Standing> standings;      ///< best first
  std::vector<std::string> not_ranked;  ///< they answer no condition but by spending what they want, or none at all
};

/// "Methods that see gradients": what stands above the ranks of a class.
std::string heading(const AccessClass& of);

/// Methods on many games: who is ahead of whom among those that see the same.
///
/// A condition is a game at a budget. At each the methods of a class are ranked by their median NRMSE, and every
/// condition counts alike. A method that is exact shares the first rank with others that are: below rounding no error
/// is better than another one. A run that did not finish is behind all that answered. A method that refuses a budget,
/// or a game, has no rank there: a rank would say where the grid of budgets begins. Conditions at which fewer than two
/// take part, or everybody is exact, say nothing and are left out. A method without a budget stands at each budget of
/// its class with its one result; where it sees values it is not ranked, since it would be measured by coalitions that
/// the others may not have.
class Leaderboard {
 public:
  /// `seed` is that of the bootstrap. The comparisons must outlive the leaderboard. Throws InvalidArgument for no
  /// games.
  Leaderboard(std::vector<LeaderboardGame> games, std::uint64_t seed);

  const std::vector<LeaderboardGame>& games() const { return games_; }
  /// Those in which somebody is ranked: values, then gradients, then the others.
  const std::vector<AccessClass>& classes() const { return classes_; }
  /// Of the games, in the order of their first one.
  std::vector<std::string> groups() const;

  /// Ranks with intervals over all games and by group.
  Table ranking(const AccessClass& of) const;
  /// Mean ranks over the budgets, game by game.
  Table ranking_by_game(const AccessClass& of) const;
  /// Wall time in the method and in the game: over all runs, and of one run at each game's largest budget.
  Table cost() const;
  /// Runs that did not finish, with how they ended.
  Table unfinished() const;
  /// Budgets and games that a method refuses, with its first reason.
  Table refused() const;

 private:
  std::optional<AccessClass> class_of(const std::string& access, std::uint64_t seed) const;

  std::vector<LeaderboardGame> games_;
  std::vector<AccessClass> classes_;
};

/// All that the page of a leaderboard shows, ready to be set.
struct LeaderboardContents {
  std::string suite, summary;
  const Leaderboard& board;
  std::vector<DrawnFigure> curves;                      ///< error against budget, a figure for each game
  Pairs facts;                                          ///< of the first screen: commit, repeats, machine
  Pairs origin;                                         ///< command, settings and environment
  Table peers;                                          ///< programs with their versions; may have no rows
  std::optional<MethodChanges> changes = std::nullopt;  ///< since a baseline
};

/// report.html of a suite: ranks by what methods see, changes since a baseline, error against budget game by game,
/// costs, runs without an answer, versions. One page that needs nothing else.
std::string leaderboard_page(const LeaderboardContents& contents);

}  // namespace opshap::reporting
