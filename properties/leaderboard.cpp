// Ranks over many games: comparisons whose order is known.

#include "reporting/leaderboard.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace opshap {
namespace {

using reporting::AccessClass;
using reporting::Leaderboard;
using reporting::MethodComparison;
using reporting::Standing;
using Rows = std::vector<runs::MethodRow>;
using Budget = std::optional<std::int64_t>;

runs::MethodRow row(const std::string& method, Budget budget, Measured error, const std::string& access = "values") {
  runs::MethodRow row;
  row.game = "sum";
  row.players = 8;
  row.truth = "closed form";
  row.method = method;
  row.access = access;
  row.budget = budget;
  row.scores["nrmse"] = std::move(error);
  return row;
}

runs::MethodRow row(const std::string& method, Budget budget, double error, const std::string& access = "values") {
  return row(method, budget, Measured::of(error), access);
}

runs::MethodRow exact(const std::string& method, Budget budget, double rounding = 1e-17) {
  runs::MethodRow found = row(method, budget, rounding);
  found.exact = "guarantee";
  return found;
}

runs::MethodRow refused(const std::string& method, Budget budget) {
  return row(method, budget, Measured::undefined("mine: budget=2 (too small). Raise it."));
}

runs::MethodRow crashed(const std::string& method, Budget budget) {
  runs::MethodRow found = row(method, budget, Measured::undefined("mine: crash (exit code 3). Look at its log."));
  found.failure = "crash";
  return found;
}

/// Games "a", "b", ... of these rows; the first is a closed form, the others are operators.
class Games {
 public:
  explicit Games(const std::vector<Rows>& games) {
    for (const Rows& rows : games) comparisons_.push_back(std::make_unique<MethodComparison>(rows, 1));
  }
  Leaderboard board() const {
    std::vector<reporting::LeaderboardGame> games;
    for (const auto& comparison : comparisons_)
      games.push_back({std::string(1, static_cast<char>('a' + games.size())),
                       games.empty() ? "closed forms" : "operators", comparison.get()});
    return Leaderboard(games, 1);
  }

 private:
  std::vector<std::unique_ptr<MethodComparison>> comparisons_;
};

const AccessClass& of(const Leaderboard& board, const std::string& access) {
  for (const AccessClass& found : board.classes()) {
    if (found.access == access) return found;
  }
  throw InvalidArgument("no class " + access);
}

std::map<std::string, double> ranks(const AccessClass& found) {
  std::map<std::string, double> ranks;
  for (const Standing& standing : found.standings) ranks[standing.method] = standing.overall.rank;
  return ranks;
}

using Ranks = std::map<std::string, double>;

TEST(Leaderboard, RanksOverGamesAndBudgets) {
  const Games games({{row("x", 16, .1), row("y", 16, .2), row("x", 32, .1), row("y", 32, .2)},
                     {row("x", 16, .3), row("y", 16, .2), row("x", 32, .1), row("y", 32, .2)}});
  const Leaderboard board = games.board();
  ASSERT_EQ(1u, board.classes().size());
  const AccessClass& found = of(board, "values");
  EXPECT_EQ(4u, found.conditions);
  EXPECT_EQ((Ranks{{"x", 1.25}, {"y", 1.75}}), ranks(found));
  const Standing& first = found.standings.front();
  EXPECT_EQ("x", first.method);
  EXPECT_EQ(1.25, first.overall.low);  // one repeat, so nothing to draw
  EXPECT_EQ(1, first.in_group.at("closed forms").rank);
  EXPECT_EQ(1.5, first.in_group.at("operators").rank);
  EXPECT_EQ(1, first.in_game.at("a"));
  EXPECT_EQ(1.5, first.in_game.at("b"));
}

TEST(Leaderboard, ExactMethodsShareTheFirstRankCrashesHaveTheLastAndRefusalsNone) {
  const Games games({{exact("x", 16), exact("y", 16, 3e-17), row("z", 16, .1), refused("r", 16), crashed("c", 16)}});
  const Leaderboard lone = games.board();
  const AccessClass& found = of(lone, "values");
  // r and c answer nowhere, so they have no rank at all.
  EXPECT_EQ((Ranks{{"x", 1.5}, {"y", 1.5}, {"z", 3}}), ranks(found));
  EXPECT_EQ((std::vector<std::string>{"r", "c"}), found.not_ranked);

  const Games more({{exact("x", 16), exact("y", 16, 3e-17), row("z", 16, .1), refused("r", 16), crashed("c", 16)},
                    {row("x", 16, .1), row("y", 16, .2), row("z", 16, .3), row("r", 16, .4), row("c", 16, .5)}});
  const Leaderboard board = more.board();
  // r is fourth in the one game where it answers; c is fifth there, and fourth of the four that take part in the other.
  EXPECT_EQ((Ranks{{"x", 1.25}, {"y", 1.75}, {"z", 3}, {"r", 4}, {"c", 4.5}}), ranks(of(board, "values")));
  std::map<std::string, std::pair<std::size_t, double>> conditions;
  for (const Standing& standing : of(board, "values").standings)
    conditions[standing.method] = {standing.overall.conditions, standing.error_ratio.value_or(0)};
  EXPECT_EQ(1u, conditions["r"].first);
  EXPECT_EQ(2u, conditions["z"].first);
  EXPECT_NEAR(4, conditions["r"].second, 1e-12);               // .4 over .1
  EXPECT_NEAR(std::sqrt(3.0), conditions["z"].second, 1e-12);  // 3 in one game, 1 in the other, where it is the least
  const Standing& last = of(board, "values").standings.back();
  EXPECT_EQ("c", last.method);
  EXPECT_EQ(1u, last.unfinished);
  EXPECT_EQ(0u, last.refused);
  ASSERT_EQ(1u, board.unfinished().rows.size());
  EXPECT_EQ("DNF (crash)", board.unfinished().rows.front()[4]);
  ASSERT_EQ(1u, board.refused().rows.size());
  EXPECT_EQ("1 of 2 games", board.refused().rows.front()[1]);
}

TEST(Leaderboard, LeavesOutWhatSaysNothing) {
  const Games games(
      {{exact("x", 16), exact("y", 16), row("x", 32, .1), row("y", 32, .2)}, {refused("x", 16), refused("y", 16)}});
  const Leaderboard lone = games.board();
  const AccessClass& found = of(lone, "values");
  EXPECT_EQ(1u, found.conditions);
  EXPECT_EQ(1u, found.standings.front().in_game.size());
}

TEST(Leaderboard, ComparesLikeWithLike) {
  const Games games({{row("x", 16, .2), row("y", 16, .3), row("x", 32, .1), row("y", 32, .2), exact("all", {}),
                      row("g", {}, .01, "gradient"), row("h", {}, .02, "gradient"), row("t", 64, .015, "gradient"),
                      row("e", {}, .001, "amortised")}});
  const Leaderboard board = games.board();
  ASSERT_EQ(3u, board.classes().size());
  EXPECT_EQ((Ranks{{"x", 1}, {"y", 2}}), ranks(of(board, "values")));
  EXPECT_EQ(std::vector<std::string>{"all"}, of(board, "values").not_ranked);
  EXPECT_EQ((Ranks{{"g", 1}, {"t", 2}, {"h", 3}}), ranks(of(board, "gradient")));
  EXPECT_EQ((Ranks{{"e", 1}}), ranks(of(board, "amortised")));
}

TEST(Leaderboard, HasAnIntervalWhereRepeatsDisagree) {
  Rows rows;
  for (int repeat = 0; repeat < 5; ++repeat) {
    rows.push_back(row("x", 16, repeat < 3 ? .1 : .5));
    rows.push_back(row("y", 16, .3));
    rows[rows.size() - 2].repeat = rows.back().repeat = repeat;
  }
  const Games games({rows});
  const Leaderboard board = games.board();
  const Standing& first = of(board, "values").standings.front();
  EXPECT_EQ("x", first.method);
  EXPECT_EQ(1, first.overall.low);
  EXPECT_EQ(2, first.overall.high);
}

TEST(Leaderboard, RefusesNoGames) { EXPECT_THROW(Leaderboard({}, 1), InvalidArgument); }

TEST(LeaderboardPage, NamesWhatIsNotAsExactAsDeclaredBehindTheRanks) {
  runs::MethodRow liar = row("liar", 16, .1);
  liar.exact = "guarantee";
  const Games games({{liar, row("y", 16, .2)}});
  const Leaderboard board = games.board();
  const std::string page =
      reporting::leaderboard_page({.suite = "mine", .summary = "one game", .board = board, .peers = {}});
  const std::size_t place = page.find("liar at budget 16");
  ASSERT_NE(std::string::npos, place);
  EXPECT_GT(place, page.find("leads with a mean rank"));
  EXPECT_GT(place, page.find("Runs without an answer"));
}

TEST(LeaderboardPage, StandsAloneAndEscapesWhatIsNotOurs) {
  const Games games({{row("<b>x</b>", 16, .1), crashed("y", 16), row("y", 32, .1), row("<b>x</b>", 32, .2)}});
  const Leaderboard board = games.board();
  const std::string page = reporting::leaderboard_page({.suite = "mine & yours",
                                                        .summary = "<script>",
                                                        .board = board,
                                                        .facts = {{"Repeats", "1"}},
                                                        .origin = {{"command", "opshap"}},
                                                        .peers = {}});
  EXPECT_EQ(std::string::npos, page.find("<b>"));
  EXPECT_EQ(std::string::npos, page.find("<script"));
  EXPECT_EQ(std::string::npos, page.find("http"));
  EXPECT_NE(std::string::npos, page.find("mine &amp; yours"));
  EXPECT_NE(std::string::npos, page.find("DNF (crash)"));
}

}  // namespace
}  // namespace opshap
