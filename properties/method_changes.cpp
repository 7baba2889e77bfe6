// What became of a method's errors since a baseline: pairs of runs with ratios that are known.

#include "reporting/method_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using reporting::Change;
using reporting::method_changes;
using reporting::MethodChange;
using reporting::MethodChanges;
using Rows = std::vector<runs::MethodRow>;

const double tight = rounding(1e3, 1).bound;  // of a mean of at most 100 logarithms

runs::MethodRow row(const std::string& method, std::int64_t budget, std::int64_t repeat, double error) {
  runs::MethodRow row;
  row.game = "sum";
  row.players = 8;
  row.method = method;
  row.access = "values";
  row.budget = budget;
  row.repeat = repeat;
  row.scores["nrmse"] = Measured::of(error);
  return row;
}

/// Ten repeats at two budgets, errors drawn log-normally around 0.1.
Rows some_rows(const std::string& method, std::uint64_t seed) {
  Rng rng(seed, "errors");
  Rows rows;
  for (const std::int64_t budget : {16, 32}) {
    for (int repeat = 0; repeat < 10; ++repeat)
      rows.push_back(row(method, budget, repeat, 0.1 * std::exp(0.3 * rng.normal())));
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

}  // namespace
}  // namespace opshap
