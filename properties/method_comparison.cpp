// Budgets are what their grammar says, ranks know how sure they are, and exact methods are checked instead of ranked.

#include "reporting/method_comparison.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "evaluation/comparison_run.hpp"
#include "evaluation/contest.hpp"
#include "games/registry.hpp"
#include "games/unanimity.hpp"
#include "support/for_all.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using Budgets = std::vector<std::int64_t>;

TEST(BudgetList, HasFormsForNumbersPowersMultiplesAndRanges) {
  EXPECT_EQ((Budgets{128, 256}), evaluation::parse_budgets("128,256", 10));
  EXPECT_EQ((Budgets{128, 256, 512, 1024}), evaluation::parse_budgets("2^7..2^10", 10));
  EXPECT_EQ((Budgets{20, 40, 80}), evaluation::parse_budgets("2n,4n,8n", 10));
  EXPECT_EQ((Budgets{10, 20, 40}), evaluation::parse_budgets("n..4n", 10));
  EXPECT_EQ((Budgets{20, 40}), evaluation::parse_budgets("2n..2^6", 10));  // the end is not jumped over
  EXPECT_EQ((Budgets{64, 100, 128}), evaluation::parse_budgets("128, 100 ,2^6,128", 10));
  EXPECT_EQ((Budgets{std::int64_t{1} << 62}), evaluation::parse_budgets("2^62..2^62", 1));
  EXPECT_EQ((Budgets{6561}), evaluation::parse_budgets("9^4", 1));
}

TEST(BudgetList, RefusesEverythingElse) {
  for (const char* text : {"", ",", "128,", "x", "2^", "^7", "2^^7", "..", "2^7..", "2^7...2^9", "2^7..2^8..2^9", "n2"})
    EXPECT_THROW(evaluation::parse_budgets(text, 10), InvalidArgument) << text;  // not of the grammar
  for (const char* text :
       {"0", "-5", "+5", "1e-3", "99999999999999999999", "2^63", "2^-3", "0^3", "0n", "-1n", "3.5n", "2^9..2^7"})
    EXPECT_THROW(evaluation::parse_budgets(text, 10), InvalidArgument) << text;  // no budget
}

TEST(BudgetList, ReadsBackWhatIsWritten) {
  for_all([] {
    const auto numbers = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40)));
    std::string text;
    for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
    const std::set<std::int64_t> sorted(numbers.begin(), numbers.end());
    RC_ASSERT(evaluation::parse_budgets(text, 7) == Budgets(sorted.begin(), sorted.end()));
  });
}

statistics::Repeats normal_errors(double mean, double spread, int repeats, Rng& rng) {
  statistics::Repeats errors;
  for (int i = 0; i < repeats; ++i) errors.push_back(mean * std::exp(spread * rng.normal()));
  return errors;
}

TEST(BootstrapRanks, OrderTheErrorsAndAddUp) {
  for_all([] {
    const int competitors = *rc::gen::inRange(1, 6), conditions = *rc::gen::inRange(1, 4);
    std::vector<std::vector<statistics::Repeats>> errors;
    for (int c = 0; c < conditions; ++c) {
      errors.emplace_back();
      for (int i = 0; i < competitors; ++i) {
        statistics::Repeats repeats;
        const int count = *rc::gen::inRange(1, 5);
        for (int r = 0; r < count; ++r) repeats.push_back(*rc::gen::inRange(0, 8));  // ties are frequent
        errors.back().push_back(repeats);
      }
    }
    double sum = 0;
    for (const statistics::Rank& rank : statistics::bootstrap_ranks(errors, 1, 0.95, 50)) {
      sum += rank.rank;
      RC_ASSERT(rank.rank >= 1 && rank.rank <= competitors);
      RC_ASSERT(rank.low <= rank.high);
    }
    // Every condition hands out 1 + … + k; a quarter of an integer each time, so the mean over conditions loses a few
    // bits only.
    RC_ASSERT(std::abs(sum - competitors * (competitors + 1) / 2.0) < 1e-12 * competitors);
  });
}

TEST(BootstrapRanks, AreSureWhereTheErrorsAreFarApartAndUnsureWhereTheyAreNot) {
  Rng rng(1);
  const std::vector<statistics::Repeats> clear = {normal_errors(1, 0.1, 10, rng), normal_errors(10, 0.1, 10, rng),
                                                  normal_errors(3, 0.1, 10, rng)};
  const std::vector<statistics::Rank> sure = statistics::bootstrap_ranks({clear}, 1);
  EXPECT_EQ(1, sure[0].rank);
  EXPECT_EQ(3, sure[1].rank);
  EXPECT_EQ(2, sure[2].rank);
  for (const statistics::Rank& rank : sure) EXPECT_EQ(rank.low, rank.high);

  const std::vector<statistics::Repeats> even = {normal_errors(1, 0.5, 10, rng), normal_errors(1, 0.5, 10, rng)};
  for (const statistics::Rank& rank : statistics::bootstrap_ranks({even}, 1)) {
    EXPECT_EQ(1, rank.low);
    EXPECT_EQ(2, rank.high);
  }
}

TEST(BootstrapRanks, CoverTheRankOfTheLimit) {
  // The better of two by a tenth at a spread of 0.3 and 12 repeats: nobody can be sure. 95 % intervals must hold rank 1
  // in at least 90 of 100 repetitions (binomial, five standard deviations below 95 would be 84; the percentile
  // bootstrap of a median is a little too narrow).
  int covered = 0, wide = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, "coverage of ranks");
    const auto ranks = statistics::bootstrap_ranks({{normal_errors(1, 0.3, 12, rng), normal_errors(1.1, 0.3, 12, rng)}},
                                                   seed, 0.95, 400);
    covered += ranks[0].low == 1 ? 1 : 0;
    wide += ranks[0].high > 1 ? 1 : 0;
  }
  EXPECT_GE(covered, 84);
  EXPECT_GE(wide, 50);
}

TEST(BootstrapRanks, AreTheSameForTheSameSeed) {
  Rng rng(3);
  const std::vector<std::vector<statistics::Repeats>> errors = {
      {normal_errors(1, 1, 5, rng), normal_errors(1.5, 1, 5, rng)}};
  EXPECT_EQ(statistics::bootstrap_ranks(errors, 7)[0].low, statistics::bootstrap_ranks(errors, 7)[0].low);
  EXPECT_THROW(statistics::bootstrap_ranks({}, 7), InvalidArgument);
  EXPECT_THROW(statistics::bootstrap_ranks({{{1.0}}, {{1.0}, {2.0}}}, 7), InvalidArgument);
}

evaluation::ComparisonPlan plan_of(const Game& game, const std::vector<std::string>& methods, const Budgets& budgets,
                                   int repeats) {
  evaluation::ComparisonPlan plan{.game = game, .name = "game", .budgets = budgets, .repeats = repeats};
  for (const std::string& name : methods) plan.methods.push_back(methods::resolve(name));
  return plan;
}

std::vector<runs::MethodRow> rows_of(const evaluation::ComparisonPlan& plan) {
  std::vector<runs::MethodRow> rows;
  evaluation::compare_methods(plan, evaluation::truth_of(plan.game, {}, 1), {},
                              [&rows](const runs::MethodRow& row) { rows.push_back(row); });
  return rows;
}

const reporting::MethodCell& cell(const reporting::MethodComparison& comparison, const std::string& method,
                                  std::int64_t budget) {
  return *std::ranges::find_if(comparison.cells(),
                               [&](const auto& found) { return found.method == method && found.budget == budget; });
}

bool has_rank(const reporting::MethodComparison& comparison, const std::string& method) {
  return std::ranges::count(comparison.ranks(), method, &reporting::MethodRank::method) > 0;
}

TEST(MethodComparison, LeavesOutOfTheRankingWhoIsExactByPromise) {
  Rng rng(1);
  const auto game = games::random_additive_game(20, rng);
  evaluation::ComparisonPlan plan = plan_of(*game, {"kernel_shap", "permutation", "exact"}, {256}, 2);
  plan.interaction_order = 1;
  const reporting::MethodComparison known(rows_of(plan), 1);
  EXPECT_EQ("guarantee", cell(known, "kernel_shap", 256).exact);
  EXPECT_TRUE(known.ranks().empty());
  EXPECT_TRUE(known.less_exact_than_declared().empty());
  EXPECT_FALSE(known.budget_error().missing.empty());
}

TEST(MethodComparison, LeavesOutOfTheRankingWhoIsExactToRounding) {
  // The same with nothing known about the game: what is exact shows in the errors.
  Rng rng(1);
  std::vector<games::UnanimityTerm> pairs;
  for (int i = 0; i < 40; ++i)
    pairs.push_back(
        {.coalition = {i % 20, (i * 7 + 1 + i % 20) % 20 == i % 20 ? (i + 1) % 20 : (i * 7 + 1 + i % 20) % 20},
         .coefficient = rng.normal()});
  const auto game = games::unanimity_sum(20, pairs, 2);
  const auto plan =
      plan_of(*game, {"permutation", "permutation_antithetic", "kernel_shap", "kernel_shap_paired"}, {256, 512}, 3);
  const reporting::MethodComparison found(rows_of(plan), 1);
  for (const std::int64_t budget : {256, 512}) {
    EXPECT_EQ("rounding", cell(found, "permutation_antithetic", budget).exact);
    EXPECT_EQ("rounding", cell(found, "kernel_shap_paired", budget).exact);
    EXPECT_EQ("", cell(found, "permutation", budget).exact);
  }
  EXPECT_FALSE(has_rank(found, "permutation_antithetic"));
  EXPECT_TRUE(has_rank(found, "permutation"));
  EXPECT_TRUE(has_rank(found, "kernel_shap"));
  EXPECT_EQ((Budgets{256, 512}), found.common_budgets());
}

TEST(MethodComparison, SaysWhyAMethodHasNoScore) {
  Rng rng(2);
  const auto game = games::random_unanimity_sum(20, rng);
  const reporting::MethodComparison found(
      rows_of(plan_of(*game, {"permutation", "permutation_antithetic"}, {30, 64}, 2)), 1);
  EXPECT_TRUE(has(cell(found, "permutation_antithetic", 30).undefined, "needs at least 40"));
  EXPECT_EQ("", cell(found, "permutation", 30).undefined);
  EXPECT_EQ(2u, cell(found, "permutation_antithetic", 30).rows.size());
  EXPECT_EQ((Budgets{64}), found.common_budgets());  // at 30 one of the two is missing
  EXPECT_TRUE(has(found.markdown(), "undefined: permutation_antithetic: budget=30 (needs at least 40"));
}

// The names have the same letters, so that nothing but the figure as a whole can tell their looks apart.
TEST(MethodComparison, TwoProgramsInOneFigureLookDifferent) {
  Rng rng(5);
  const auto game = games::random_unanimity_sum(8, rng);
  const std::vector<runs::MethodRow> rows = rows_of(plan_of(*game, {"permutation"}, {16, 32}, 3));
  std::vector<runs::MethodRow> all = rows;
  for (const char* name : {"peer:ab", "peer:ba"})
    for (runs::MethodRow row : rows) {
      row.method = name;
      all.push_back(std::move(row));
    }
  const reporting::Figure figure = reporting::MethodComparison(std::move(all), 1).budget_error();
  std::map<std::string, reporting::LegendEntry> looks;
  for (const reporting::LegendEntry& entry : figure.legend) looks.emplace(entry.label, entry);
  const reporting::LegendEntry &one = looks.at("Peer (ab)"), &other = looks.at("Peer (ba)");
  EXPECT_NE(one.color, other.color);
  EXPECT_NE(one.marker, other.marker);
  EXPECT_NE(looks.at("Permutation").color, one.color);
  for (const reporting::LegendEntry* entry : {&one, &other})
    EXPECT_TRUE(has(figure.panels.front().script, "lc rgb '" + entry->color + "'")) << "is drawn so";
  EXPECT_EQ(one.color, reporting::style_of("peer:ab").color) << "the first keeps the look of its name";
}

TEST(MethodComparison, NamesMethodsThatBreakTheirPromise) {
  // A game of third order given out as one of second order.
  const auto game = games::unanimity_sum(
      18, {{.coalition = {0, 1, 2}, .coefficient = 1}, {.coalition = {3, 4, 5, 6}, .coefficient = 1}});
  evaluation::ComparisonPlan plan = plan_of(*game, {"permutation_antithetic", "permutation"}, {64}, 3);
  plan.interaction_order = 2;
  const reporting::MethodComparison found(rows_of(plan), 1);
  ASSERT_EQ(1u, found.less_exact_than_declared().size());
  EXPECT_TRUE(found.less_exact_than_declared().front().starts_with("permutation_antithetic at budget 64"));
}

TEST(MethodComparison, TruthsAreClosedExactOrCertified) {
  Rng rng(4);
  EXPECT_EQ("exact", evaluation::truth_of(*games::random_table_game(10, rng), {}, 1).method);
  const auto solved = games::random_unanimity_sum(40, rng);
  EXPECT_EQ("closed form", evaluation::truth_of(*solved, {}, 1).method);
  EXPECT_EQ(dynamic_cast<const SolvedGame&>(*solved).shapley_values(), evaluation::truth_of(*solved, {}, 1).values);
}

TEST(MethodComparison, GoesOnWhereItWas) {
  Rng rng(5);
  const auto game = games::random_unanimity_sum(12, rng);
  const evaluation::ComparisonPlan plan = plan_of(*game, {"permutation", "kernel_shap"}, {64, 128}, 2);
  const std::vector<runs::MethodRow> all = rows_of(plan);
  ASSERT_EQ(8u, all.size());
  const auto folder = std::filesystem::temp_directory_path() / ("opshap_method_rows_" + std::to_string(getpid()));
  std::string text;
  for (std::size_t i = 0; i < 3; ++i) text += runs::to_json_line(all[i]) + "\n";
  write_file(folder / "results.jsonl",
             text + runs::to_json_line(all[3]).substr(0, 40));  // killed while the fourth was written
  std::vector<runs::MethodRow> rows = runs::read_method_rows(folder / "results.jsonl");
  std::filesystem::remove_all(folder);
  ASSERT_EQ(3u, rows.size());
  evaluation::compare_methods(plan, evaluation::truth_of(*game, {}, 1), std::vector<runs::MethodRow>(rows),
                              [&rows](const runs::MethodRow& row) { rows.push_back(row); });
  ASSERT_EQ(all.size(), rows.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    runs::MethodRow expected = all[i], found = rows[i];
    expected.game_seconds = expected.estimator_seconds = found.game_seconds = found.estimator_seconds = 0;
    EXPECT_EQ(runs::to_json_line(expected), runs::to_json_line(found));
  }
}

TEST(MethodComparison, UsesAnotherSeedForEveryRun) {
  Rng rng(6);
  const auto game = games::random_unanimity_sum(12, rng);
  std::set<std::uint64_t> seeds;
  for (const runs::MethodRow& row : rows_of(plan_of(*game, {"permutation", "kernel_shap"}, {64, 128}, 5)))
    seeds.insert(row.seed);
  EXPECT_EQ(20u, seeds.size());
}

}  // namespace
}  // namespace opshap
