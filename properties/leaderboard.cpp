// Ranks over many games: comparisons whose order is known. What became of a method's errors since a baseline: pairs of
// runs with ratios that are known. The report over several problems says what their own reports say, summed.

#include "reporting/leaderboard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "metrics/registry.hpp"
#include "reporting/claims.hpp"
#include "reporting/method_comparison.hpp"
#include "reporting/paper.hpp"
#include "reporting/report.hpp"
#include "reporting/report_tables.hpp"
#include "runs/run.hpp"
#include "support/drawn_report.hpp"
#include "support/expressions.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using reporting::AccessClass;
using reporting::Leaderboard;
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

/// Games "a", "b", ... of these rows, and who leads on them; the first is a closed form, the others are operators.
class Games {
 public:
  explicit Games(const std::vector<Rows>& games) {
    std::vector<reporting::LeaderboardGame> named;
    for (const Rows& rows : games) {
      comparisons_.push_back(std::make_unique<reporting::MethodComparison>(rows, 1));
      named.push_back({std::string(1, static_cast<char>('a' + named.size())),
                       named.empty() ? "closed forms" : "operators", comparisons_.back().get()});
    }
    board_.emplace(named, 1);
  }
  const Leaderboard& board() const { return *board_; }
  const AccessClass& of(const std::string& access) const {
    const auto found = std::ranges::find(board_->classes(), access, &AccessClass::access);
    require(found != board_->classes().end(), "no class ", access);
    return *found;
  }

 private:
  std::vector<std::unique_ptr<reporting::MethodComparison>> comparisons_;
  std::optional<Leaderboard> board_;
};

using Ranks = std::map<std::string, double>;

Ranks ranks(const AccessClass& found) {
  Ranks ranks;
  for (const Standing& standing : found.standings) ranks[standing.method] = standing.overall.rank;
  return ranks;
}

TEST(Leaderboard, RanksOverGamesAndBudgets) {
  const Games games({{row("x", 16, .1), row("y", 16, .2), row("x", 32, .1), row("y", 32, .2)},
                     {row("x", 16, .3), row("y", 16, .2), row("x", 32, .1), row("y", 32, .2)}});
  ASSERT_EQ(1u, games.board().classes().size());
  const AccessClass& found = games.of("values");
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
  const AccessClass& found = games.of("values");
  // r and c answer nowhere, so they have no rank at all.
  EXPECT_EQ((Ranks{{"x", 1.5}, {"y", 1.5}, {"z", 3}}), ranks(found));
  EXPECT_EQ((std::vector<std::string>{"r", "c"}), found.not_ranked);

  const Games more({{exact("x", 16), exact("y", 16, 3e-17), row("z", 16, .1), refused("r", 16), crashed("c", 16)},
                    {row("x", 16, .1), row("y", 16, .2), row("z", 16, .3), row("r", 16, .4), row("c", 16, .5)}});
  // r is fourth in the one game where it answers; c is fifth there, and fourth of the four that take part in the other.
  EXPECT_EQ((Ranks{{"x", 1.25}, {"y", 1.75}, {"z", 3}, {"r", 4}, {"c", 4.5}}), ranks(more.of("values")));
  std::map<std::string, std::pair<std::size_t, double>> conditions;
  for (const Standing& standing : more.of("values").standings)
    conditions[standing.method] = {standing.overall.conditions, standing.error_ratio.value_or(0)};
  EXPECT_EQ(1u, conditions["r"].first);
  EXPECT_EQ(2u, conditions["z"].first);
  EXPECT_NEAR(4, conditions["r"].second, 1e-12);               // .4 over .1
  EXPECT_NEAR(std::sqrt(3.0), conditions["z"].second, 1e-12);  // 3 in one game, 1 in the other, where it is the least
  const Standing& last = more.of("values").standings.back();
  EXPECT_EQ("c", last.method);
  EXPECT_EQ(1u, last.unfinished);
  EXPECT_EQ(0u, last.refused);
  ASSERT_EQ(1u, more.board().unfinished().rows.size());
  EXPECT_EQ("DNF (crash)", more.board().unfinished().rows.front()[4]);
  ASSERT_EQ(1u, more.board().refused().rows.size());
  EXPECT_EQ("1 of 2 games", more.board().refused().rows.front()[1]);
}

TEST(Leaderboard, LeavesOutWhatSaysNothing) {
  const Games games(
      {{exact("x", 16), exact("y", 16), row("x", 32, .1), row("y", 32, .2)}, {refused("x", 16), refused("y", 16)}});
  const AccessClass& found = games.of("values");
  EXPECT_EQ(1u, found.conditions);
  EXPECT_EQ(1u, found.standings.front().in_game.size());
}

TEST(Leaderboard, ComparesLikeWithLike) {
  const Games games({{row("x", 16, .2), row("y", 16, .3), row("x", 32, .1), row("y", 32, .2), exact("all", {}),
                      row("g", {}, .01, "gradient"), row("h", {}, .02, "gradient"), row("t", 64, .015, "gradient"),
                      row("e", {}, .001, "amortised")}});
  ASSERT_EQ(3u, games.board().classes().size());
  EXPECT_EQ((Ranks{{"x", 1}, {"y", 2}}), ranks(games.of("values")));
  EXPECT_EQ(std::vector<std::string>{"all"}, games.of("values").not_ranked);
  EXPECT_EQ((Ranks{{"g", 1}, {"t", 2}, {"h", 3}}), ranks(games.of("gradient")));
  EXPECT_EQ((Ranks{{"e", 1}}), ranks(games.of("amortised")));
}

TEST(Leaderboard, HasAnIntervalWhereRepeatsDisagree) {
  Rows rows;
  for (int repeat = 0; repeat < 5; ++repeat) {
    rows.push_back(row("x", 16, repeat < 3 ? .1 : .5));
    rows.push_back(row("y", 16, .3));
    rows[rows.size() - 2].repeat = rows.back().repeat = repeat;
  }
  const Games games({rows});
  const Standing& first = games.of("values").standings.front();
  EXPECT_EQ("x", first.method);
  EXPECT_EQ(1, first.overall.low);
  EXPECT_EQ(2, first.overall.high);
}

TEST(Leaderboard, RefusesNoGames) { EXPECT_THROW(Leaderboard({}, 1), InvalidArgument); }

TEST(LeaderboardPage, NamesWhatIsNotAsExactAsDeclaredBehindTheRanks) {
  runs::MethodRow liar = row("liar", 16, .1);
  liar.exact = "guarantee";
  const Games games({{liar, row("y", 16, .2)}});
  const auto page = reporting::leaderboard_page({.suite = "mine", .summary = "one game", .board = games.board()});
  const std::size_t place = page.find("liar at budget 16");
  ASSERT_NE(std::string::npos, place);
  EXPECT_GT(place, page.find("leads with a mean rank"));
  EXPECT_GT(place, page.find("Runs without an answer"));
}

TEST(LeaderboardPage, StandsAloneAndEscapesWhatIsNotOurs) {
  const Games games({{row("<b>x</b>", 16, .1), crashed("y", 16), row("y", 32, .1), row("<b>x</b>", 32, .2)}});
  const std::string page = reporting::leaderboard_page({.suite = "mine & yours",
                                                        .summary = "<script>",
                                                        .board = games.board(),
                                                        .facts = {{"Repeats", "1"}},
                                                        .origin = {{"command", "opshap"}}});
  EXPECT_FALSE(has(page, "<b>"));
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "http"));
  EXPECT_TRUE(has(page, {"mine &amp; yours", "DNF (crash)"}));
}

using reporting::Change;
using reporting::method_changes;
using reporting::MethodChange;
using reporting::MethodChanges;

const double tight = rounding(1e3, 1).bound;  // of a mean of at most 100 logarithms

/// Ten repeats at two budgets, errors drawn log-normally around 0.1.
Rows some_rows(const std::string& method, std::uint64_t seed) {
  Rng rng(seed, "errors");
  Rows rows;
  for (const std::int64_t budget : {16, 32})
    for (int repeat = 0; repeat < 10; ++repeat) {
      rows.push_back(row(method, budget, 0.1 * std::exp(0.3 * rng.normal())));
      rows.back().repeat = repeat;
    }
  return rows;
}

Rows scaled(Rows rows, double factor) {
  for (runs::MethodRow& row : rows) row.scores["nrmse"] = Measured::of(*row.scores["nrmse"].value * factor);
  return rows;
}

const MethodChange& only(const MethodChanges& changes) {
  EXPECT_EQ(1u, changes.methods.size());
  return changes.methods.front();
}

TEST(MethodChanges, OfTheSameRowsAreNone) {
  const Rows rows = some_rows("mine", 1);
  const MethodChanges changes = method_changes(rows, rows, 1);
  EXPECT_EQ(Change::none_seen, only(changes).change);
  EXPECT_EQ(1, only(changes).ratio);
  EXPECT_EQ(1, only(changes).interval.low);
  EXPECT_EQ(1, only(changes).interval.high);
  EXPECT_EQ(20u, only(changes).pairs);
  EXPECT_FALSE(changes.any_worse());
}

TEST(MethodChanges, SeeAFactorInEveryPairExactly) {
  const Rows rows = some_rows("mine", 2);
  const MethodChange worse = only(method_changes(scaled(rows, 1.5), rows, 1)),
                     better = only(method_changes(scaled(rows, 0.5), rows, 1)),
                     unseen = only(method_changes(scaled(rows, 1.0005), rows, 1));
  EXPECT_EQ(Change::worse, worse.change);
  EXPECT_NEAR(1.5, worse.ratio, 1.5 * tight);
  EXPECT_NEAR(1.5, worse.interval.low, 1.5 * tight);  // the pairs agree, so nothing depends on the draw
  EXPECT_EQ(Change::better, better.change);
  EXPECT_NEAR(0.5, better.ratio, 0.5 * tight);
  EXPECT_EQ(Change::none_seen, unseen.change);
}

TEST(MethodChanges, AreRarelySeenBetweenDrawsOfOneLaw) {
  // 200 pairs of comparisons whose errors have the same law. The interval misses 1 in 5 % of them, and in some more
  // since 20 pairs are few: 7 % is what the percentile bootstrap makes of 20 normal numbers. A binomial of 200 with .07
  // is beyond 30 once in 10^4.
  int seen = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial)
    seen += only(method_changes(some_rows("mine", 2 * trial), some_rows("mine", 2 * trial + 1), trial)).change !=
            Change::none_seen;
  EXPECT_GT(seen, 0);
  EXPECT_LE(seen, 30);
}

TEST(MethodChanges, CountALostRunAsWorseAndAGainedOneAsNothing) {
  const Rows rows = some_rows("mine", 3);
  Rows fewer = rows;
  fewer[4].scores["nrmse"] = Measured::undefined("crash");
  const MethodChange lost = only(method_changes(fewer, rows, 1)), gained = only(method_changes(rows, fewer, 1));
  EXPECT_EQ(Change::worse, lost.change);
  EXPECT_EQ(1u, lost.lost);
  EXPECT_EQ(19u, lost.pairs);
  EXPECT_EQ(Change::none_seen, gained.change);
  EXPECT_EQ(1u, gained.gained);
}

TEST(MethodChanges, TakeErrorsOfTheSizeOfRoundingForEqual) {
  Rows before = some_rows("mine", 4), now = before;
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i].scores["nrmse"] = Measured::of(1e-17);
    now[i].scores["nrmse"] = Measured::of(3e-14);
    before[i].exact = now[i].exact = "guarantee";
  }
  EXPECT_EQ(Change::none_seen, only(method_changes(now, before, 1)).change);
  for (runs::MethodRow& row : now) row.exact.clear();  // it lost what made it exact
  EXPECT_EQ(Change::worse, only(method_changes(now, before, 1)).change);
}

TEST(MethodChanges, AreNotJudgedByFourRuns) {
  Rows rows = some_rows("mine", 5);
  rows.resize(4);
  EXPECT_EQ(Change::too_few, only(method_changes(scaled(rows, 2), rows, 1)).change);
  for (runs::MethodRow& row : rows) row.budget.reset();  // without a budget nothing is drawn
  EXPECT_EQ(Change::worse, only(method_changes(scaled(rows, 2), rows, 1)).change);
}

TEST(MethodChanges, NameMethodsOfOneSideAndPairNothingElse) {
  Rows now = some_rows("mine", 6), before = now;
  for (const runs::MethodRow& other : some_rows("new", 7)) now.push_back(other);
  for (const runs::MethodRow& other : some_rows("old", 8)) before.push_back(other);
  const MethodChanges changes = method_changes(now, before, 1);
  EXPECT_EQ("mine", only(changes).method);
  EXPECT_EQ(std::vector<std::string>{"new"}, changes.only_now);
  EXPECT_EQ(std::vector<std::string>{"old"}, changes.only_before);
  ASSERT_EQ(3u, changes.lines().size());
  EXPECT_EQ("mine: no change seen, errors 1.000 [1.000, 1.000] times those of the baseline over 20 runs",
            changes.lines().front());
  Rows elsewhere = before;
  for (runs::MethodRow& row : elsewhere) row.players = 9;
  EXPECT_THROW(method_changes(now, elsewhere, 1), InvalidArgument);
}

using Json = nlohmann::ordered_json;

class Overview : public RunFolder {
 protected:
  /// A run in a folder of its problem's name.
  void add(const std::string& pde, const std::string& profile = "smoke") const {
    const SyntheticRun made{.resolutions = {16, 32}, .curves = {16}};
    runs::Results results = made.results();
    set_pde(results, pde);
    Json manifest = made.manifest();
    manifest["pde"] = pde;
    manifest["profile"] = profile;
    manifest["commit"] = "commit of " + pde;
    write_run(folder_ / pde, results, manifest);
  }
  Json claims_file(const std::string& of = "") const { return Json::parse(read_file(folder_ / of / "claims.json")); }
  std::vector<Json> claims_of(const std::string& pde) const {
    const Json file = claims_file(pde);
    return {file["claims"].begin(), file["claims"].end()};
  }
  std::string page() const { return read_file(folder_ / "report.html"); }
};

TEST_F(Overview, HasEveryClaimOfEveryProblem) {
  for (const char* pde : {"heat1d", "burgers1d", "darcy2d"}) add(pde);
  reporting::write_report(folder_);
  const Json all = claims_file();
  EXPECT_EQ((std::vector<std::string>{"heat1d", "burgers1d", "darcy2d"}), all["pde"]) << "in the paper's order";
  EXPECT_EQ("smoke", all["profile"]);
  EXPECT_TRUE(all["commit"].is_null()) << "they are of different commits";
  EXPECT_EQ("commit of heat1d", all["commits"]["heat1d"]);
  std::size_t at = 0;
  for (const char* pde : {"heat1d", "burgers1d", "darcy2d"})
    for (const Json& claim : claims_of(pde)) EXPECT_TRUE(claim == all["claims"].at(at++)) << pde << ", " << claim["id"];
  EXPECT_EQ(at, all["claims"].size());
}

TEST_F(Overview, SumsTheVerdictsOfTheProblemsPages) {
  for (const char* pde : {"heat1d", "burgers1d"}) add(pde);
  const std::string text = drawn_report(folder_);
  // "holds": of a row of the matrix, among the problems whose rows can judge it.
  std::map<std::string, std::pair<int, int>> holds;
  std::set<std::string> by_construction, of_the_paper;
  for (const char* pde : {"heat1d", "burgers1d"})
    for (const Json& claim : claims_of(pde)) {
      const std::string verdict = claim["verdict"], id = claim["id"];
      if (id.starts_with("table_row")) continue;
      if (claim["by_construction"]) by_construction.insert(id);
      if (claim["source"] == "paper") of_the_paper.insert(id);
      auto& [held, judged] = holds[id];
      held += verdict == "reproduced" ? 1 : 0;
      judged += verdict == "reproduced" || verdict == "not reproduced" || verdict == "undecided" ? 1 : 0;
    }
  const auto row_of = [&text](const std::string& id) {
    const std::size_t begin = text.find("<tr id=\"claim-" + id + "\">");
    return begin == std::string::npos ? "" : text.substr(begin, text.find("</tr>", begin) - begin);
  };
  int rows = 0, judged_once = 0, everywhere = 0;
  for (const auto& [id, of] : holds) {
    const std::string row = row_of(id);
    EXPECT_EQ(of.second == 0, row.empty()) << id;
    if (row.empty()) continue;
    ++rows;
    const std::string tally = by_construction.contains(id)
                                  ? "by construction"
                                  : std::to_string(of.first) + " of " + std::to_string(of.second);
    EXPECT_TRUE(has(row, ">" + tally + "<"));
    EXPECT_EQ(1u, count(row, "href=\"heat1d/report.html#claim-" + id + "\"")) << row;
    if (by_construction.contains(id) || !of_the_paper.contains(id)) continue;
    ++judged_once;
    everywhere += of.first == of.second;
  }
  EXPECT_GT(rows, 8);
  EXPECT_TRUE(has(text, "Of " + std::to_string(judged_once) + " sentences of the paper that these runs can judge " +
                            std::to_string(everywhere) + " hold on every problem"))
      << "each sentence counts once";
}

TEST_F(Overview, HasEveryMethodAndStageOfEveryProblem) {
  for (const char* pde : {"heat1d", "burgers1d"}) add(pde);
  drawn_report(folder_);
  const runs::Run run = runs::read_run(folder_ / "heat1d");
  const reporting::Scoreboard scores(run);
  const reporting::Table medians = reporting::tables::medians({&scores, &scores}, metrics::find("nrmse"));
  ASSERT_EQ(2 * scores.discretisations().size(), medians.rows.size());
  ASSERT_EQ(2 + scores.methods().size(), medians.columns.size());
  for (std::size_t method = 0; method < scores.methods().size(); ++method) {
    const auto cell = scores.cell(scores.discretisations().front(), scores.methods()[method])->quartiles("nrmse");
    EXPECT_TRUE(medians.rows.front()[2 + method].starts_with(reporting::show(cell->median)))
        << scores.methods()[method] << ": " << medians.rows.front()[2 + method];
  }
  for (const char* name : {"medians_nrmse", "medians_r2", "medians_pearson", "stages"})
    EXPECT_TRUE(fs::exists(folder_ / "tables" / (std::string(name) + ".csv"))) << name;

  const reporting::Table stages = reporting::tables::stages({&scores});
  ASSERT_EQ(1u, stages.rows.size());
  EXPECT_EQ(reporting::show_seconds(run.total_seconds()), stages.rows.front().back());
  for (const char* ending : {".svg", "_narrow.svg", ".pdf", ".csv"})
    EXPECT_TRUE(fs::exists(folder_ / "figures" / ("amortisation" + std::string(ending)))) << ending;
  EXPECT_EQ(1u, count(page(), ">Heat 1D, n = 32</title>")) << "a panel of the figure over all";
  for (const char* section : {"methods", "times", "amortisation"}) {
    EXPECT_EQ(1u, count(page(), std::string("<section id=\"") + section + "\">"));
    EXPECT_EQ(1u, count(page(), std::string("href=\"#") + section + "\""));
  }
}

TEST_F(Overview, TheSameRowsGiveTheSameBytesAndThePageStandsAlone) {
  for (const char* pde : {"heat1d", "allen_cahn1d"}) add(pde);
  const std::string text = drawn_report(folder_), all = read_file(folder_ / "claims.json");
  reporting::write_report(folder_);
  EXPECT_EQ(text, page());
  EXPECT_EQ(all, read_file(folder_ / "claims.json"));
  EXPECT_EQ(0u, count(text, "http://") - count(text, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(0u, count(text, "https://") + count(text, "<link") + count(text, "<img") + count(text, "<script"));
  EXPECT_TRUE(fs::exists(folder_ / "heat1d" / "report.html"));
  std::set<std::string> seen;
  for (const std::string& id : found_by("\\sid=\"([^\"]+)\"", text)) EXPECT_TRUE(seen.insert(id).second) << id;
  EXPECT_TRUE(has(text, "Allen–Cahn 1D: Three kinks do not close on a circle"));
}

TEST_F(Overview, NamesRunsThatAreNotFinished) {
  add("heat1d");
  add("burgers1d");
  fs::remove(folder_ / "burgers1d" / "results.jsonl");
  reporting::write_report(folder_);
  EXPECT_TRUE(has(page(), "<strong>Not finished:</strong> Burgers 1D."));
  fs::remove(folder_ / "heat1d" / "results.jsonl");
  EXPECT_EQ("report: folder=" + folder_.string() +
                " (no run in it has attributions yet). Let `opshap reproduce` finish; the same command resumes it.",
            refusal<DataError>([&] { reporting::write_report(folder_); }));
}

TEST_F(Overview, DoesNotMixProfiles) {
  add("heat1d");
  add("burgers1d", "desk");
  EXPECT_EQ("report: folder=" + folder_.string() +
                " (has runs of profile smoke and of profile desk, which one page cannot show side by side). Keep "
                "the runs of a profile in a folder of its own.",
            refusal<DataError>([&] { reporting::write_report(folder_); }));
  EXPECT_FALSE(fs::exists(folder_ / "report.html"));
}

TEST(Paper, SaysWhereItsSentencesAndConstantsStand) {
  for (const reporting::Claim& claim : reporting::claims::all()) {
    if (claim.source != "paper") continue;
    const reporting::PaperSentence& sentence = reporting::paper_sentence(claim.id);
    EXPECT_EQ(sentence.sentence, claim.statement);
    EXPECT_TRUE(has(claim.where, "LaTeX line ")) << claim.id;
  }
  EXPECT_EQ(30, reporting::paper_constant("test_inputs"));
  EXPECT_EQ(512, reporting::paper_constant("amortisation_players"));
  EXPECT_EQ("periodic 1D", reporting::paper_domain("burgers1d"));
  EXPECT_EQ("", reporting::paper_domain("nobodys_pde"));
  EXPECT_THROW(reporting::paper_constant("test_imputs"), InvalidArgument);
  EXPECT_THROW(reporting::paper_sentence("quality"), InvalidArgument);
}

TEST(Paper, EveryRemarkIsAboutOneOfItsProblemsOrAllOfThem) {
  std::vector<std::string> problems = reporting::paper_problems();
  problems.push_back("");
  ASSERT_FALSE(reporting::data_remarks().empty());
  for (const reporting::DataRemark& remark : reporting::data_remarks()) {
    EXPECT_NE(problems.end(), std::find(problems.begin(), problems.end(), remark.pde)) << remark.pde;
    EXPECT_FALSE(remark.subject.empty()) << remark.pde;
    EXPECT_TRUE(remark.text.ends_with('.')) << remark.text;
  }
  const auto standing = reporting::standing_differences("nobodys_pde"),
             with_its_data = reporting::standing_differences("heat1d");
  EXPECT_GT(standing.size(), 10u);
  ASSERT_GT(with_its_data.size(), standing.size());
  EXPECT_EQ(standing.back(), with_its_data.back());
  EXPECT_EQ("Allen–Cahn 1D", reporting::paper_label("allen_cahn1d"));
  EXPECT_EQ("", reporting::paper_label("synthetic2d"));
}

}  // namespace
}  // namespace opshap
