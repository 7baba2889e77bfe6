// What each registered estimator promises in guarantees(), on every sample. A new estimator gets all of it by its line
// in the registry.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "support/for_all.hpp"
#include "support/function_game.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

constexpr int most_players = 8;

/// A few thousand roundings; regression adds the condition number of its sample, at most thousands for these sizes.
Tolerance rounding_of(const Table& table) { return rounding(1e6, table.scale() + table.players); }

/// A game that keeps a record of what it was asked for.
class WatchedGame final : public Game {
 public:
  explicit WatchedGame(const Game& game) : game_(game) {}
  int players() const override { return game_.players(); }
  const Extension* extension() const override { return game_.extension(); }
  const Extension* mean_field() const override { return game_.mean_field(); }
  std::vector<std::int64_t> places() const override { return game_.places(); }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    asked += coalitions.size();
    for (std::size_t i = 0; i < coalitions.size(); ++i)
      seen.insert({coalitions.row(i).begin(), coalitions.row(i).end()});
    return game_.values(coalitions);
  }
  mutable std::size_t asked = 0;
  mutable std::set<std::vector<std::uint64_t>> seen;

 private:
  const Game& game_;
};

/// How much of the way from the smallest useful budget to 2^n a run may go, in 1/256.
struct Effort {
  int part = 0;
  std::uint64_t seed = 0;
};
std::ostream& operator<<(std::ostream& out, Effort effort) {
  return out << "part=" << effort.part << "/256 seed=" << effort.seed;
}

rc::Gen<Effort> any_effort() {
  const auto effort = [](int part, int seed) { return Effort{part, static_cast<std::uint64_t>(seed)}; };
  return rc::gen::resize(rc::kNominalSize,
                         rc::gen::apply(effort, rc::gen::inRange(0, 256), rc::gen::inRange(0, 1000000)));
}

/// A registered estimator, or the variant of one that gives minimum-norm solutions.
struct Contestant {
  std::string name;
  std::shared_ptr<const Estimator> estimator;
  bool minimum_norm = false;
};
std::ostream& operator<<(std::ostream& out, const Contestant& contestant) { return out << contestant.name; }

std::vector<Contestant> contestants() {
  std::vector<Contestant> all;
  for (const auto& estimator : estimators::all()) {
    const std::string name(estimator->name());
    all.push_back({name, std::shared_ptr<const Estimator>(estimator.get(), [](const Estimator*) {})});
    if (const auto* solves = dynamic_cast<const estimators::LeastSquares*>(estimator.get()))
      all.push_back({name + "_minimum_norm", solves->with_minimum_norm(), true});
  }
  return all;
}

class EstimatorAxioms : public ::testing::TestWithParam<Contestant> {
 protected:
  const Estimator& estimator() const { return *GetParam().estimator; }
  Guarantees promise() const { return estimator().guarantees(); }

  std::int64_t budget(int players, Effort effort) const {
    const std::int64_t all = std::int64_t{1} << players;
    const std::int64_t least = std::min(estimator().minimum(players).coalitions, all);
    return least + (all - least) * effort.part / 256;
  }

  /// All 2^n coalitions are always enough.
  std::int64_t least_for(const Game& game) const {
    return std::min(estimator().minimum(game.players()).coalitions, CountedGame(game, {}).all_coalitions());
  }

  /// A method that refuses a sample (too few independent coalitions) is asked again with more.
  Attribution estimate(const Game& game, Effort effort) const {
    const std::int64_t all = std::int64_t{1} << game.players();
    for (std::int64_t coalitions = budget(game.players(), effort);; coalitions += (all - coalitions + 1) / 2) {
      try {
        return attribute(estimator(), game, {coalitions}, effort.seed);
      } catch (const InvalidArgument&) {
        if (promise().refusal == Refusal::never || coalitions >= all) throw;
      }
    }
  }
  Attribution estimate(const Table& table, Effort effort) const { return estimate(*as_game(table), effort); }
  /// Holds a law to be true of games, any ones or those of another generator, with any effort. A method that learns
  /// costs a hundred times as much, and gets a part of them. Each law is asked of all methods: half of the usual cases.
  void for_all_games(const auto& law, rc::Gen<Table> (*games)(int) = any_game) const {
    const auto one = [&] {
      const Table table = *games(most_players);
      law(table, *any_effort());
    };
    for_all(promise().learns ? 0.1 : 0.5, one);
  }
  void expect_exact_on(rc::Gen<Table> (*games)(int)) const {
    const auto exact = [this](const Table& table, Effort effort) {
      RC_ASSERT(mismatch(textbook_shapley_values(table), estimate(table, effort).values, rounding_of(table)) == "");
    };
    for_all_games(exact, games);
  }
};

// Efficiency: the values add up to v(N) − v(∅). Shapley (1953), axiom 2.
TEST_P(EstimatorAxioms, ValuesAddUpToGrandMinusEmptyValue) {
  if (promise().efficiency == Efficiency::none) GTEST_SKIP() << "not promised";
  for_all_games([this](const Table& table, Effort effort) {
    const Attribution found = estimate(table, effort);
    RC_TAG(table.players);
    // The midpoint rule with K = 50 nodes errs by max|f'''|/(24K²), and f(t, …, t) = Σ_T c_T t^|T| has |f'''| <= Σ
    // |c_T| |T|³.
    const double third_derivative =
        std::pow(table.players, 3) * largest(moebius_coefficients(table).values) * std::pow(2, table.players);
    const Tolerance tolerance = promise().efficiency == Efficiency::exact
                                    ? rounding_of(table)
                                    : discretisation(third_derivative / 24, 1.0 / 50, 2);
    RC_ASSERT(mismatch(table.gain(), sum(found.values), tolerance) == "");
    RC_ASSERT(mismatch(0, found.efficiency_gap(), tolerance) == "");
    RC_ASSERT(found.empty == table.empty());
    RC_ASSERT(found.grand == table.grand());
  });
}

TEST_P(EstimatorAxioms, AdditiveGamesAreExplainedExactly) {
  if (!promise().exact_on_additive) GTEST_SKIP() << "not promised";
  expect_exact_on(additive_games);
}

TEST_P(EstimatorAxioms, GamesOfPairwiseInteractionsAreExplainedExactly) {
  if (!promise().exact_on_two_additive) GTEST_SKIP() << "not promised";
  expect_exact_on(two_additive_games);
}

// Null player. Shapley (1953), axiom 2 (with efficiency: the carrier axiom).
TEST_P(EstimatorAxioms, APlayerThatNeverMattersGetsNothing) {
  if (!promise().zero_for_null_player) GTEST_SKIP() << "not promised";
  for_all([this] {
    const NullPlayerGame game = *null_player_games(most_players);
    const Attribution found = estimate(game.table, *any_effort());
    RC_ASSERT(mismatch(0, found.values[static_cast<std::size_t>(game.null_player)], rounding_of(game.table)) == "");
  });
}

TEST_P(EstimatorAxioms, GamesEqualOnComplementsGiveNothingToAnyone) {
  if (!promise().zero_on_even) GTEST_SKIP() << "not promised";
  const auto nothing = [this](const Table& table, Effort effort) {
    RC_ASSERT(mismatch(std::vector<double>(static_cast<std::size_t>(table.players), 0.0),
                       estimate(table, effort).values, rounding_of(table)) == "");
  };
  for_all_games(nothing, even_games);
}

TEST_P(EstimatorAxioms, AGameAndItsDualGetTheSameValuesFromTheSameSample) {
  if (!promise().same_on_dual) GTEST_SKIP() << "not promised";
  for_all_games([this](const Table& table, Effort effort) {
    RC_ASSERT(mismatch(estimate(table, effort).values, estimate(dual(table), effort).values, rounding_of(table)) == "");
  });
}

// Additivity. Shapley (1953), axiom 3; here for the estimate itself, with the sample fixed by the seed.
TEST_P(EstimatorAxioms, EstimatesAreLinearInTheGameOnTheSameSample) {
  if (!promise().linear) GTEST_SKIP() << "not promised";
  for_all([this] {
    const auto [f, g] = *two_games(most_players);
    const Effort effort = *any_effort();
    const Table both = combination(2, f, -0.5, g);
    const Attribution of_f = estimate(f, effort), of_g = estimate(g, effort);
    std::vector<double> expected(of_f.values.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2 * of_f.values[i] - 0.5 * of_g.values[i];
    RC_ASSERT(mismatch(expected, estimate(both, effort).values, rounding(1e6, 2 * f.scale() + g.scale() + 1)) == "");
  });
}

TEST_P(EstimatorAxioms, AConstantAddedToTheGameChangesNothing) {
  for_all_games([this](const Table& table, Effort effort) {
    Table shifted = table;
    for (double& value : shifted.values) value += 4096;
    RC_ASSERT(mismatch(estimate(table, effort).values, estimate(shifted, effort).values,
                       rounding(1e6, table.scale() + 4096)) == "");
  });
}

TEST_P(EstimatorAxioms, TheFullBudgetGivesTheShapleyValues) {
  if (!promise().exact_at_full_budget) GTEST_SKIP() << "not promised";
  for_all([this] {
    const Table table = *any_game(most_players);
    for (const std::int64_t beyond : {0, 1, 1000}) {
      const auto found = attribute(estimator(), *as_game(table), {(std::int64_t{1} << table.players) + beyond}, 1);
      RC_ASSERT(mismatch(textbook_shapley_values(table), found.values, rounding_of(table)) == "");
      RC_ASSERT(found.exact);
    }
  });
}

// Any game of up to three players, at every budget the method takes, with each game's closed form.
TEST_P(EstimatorAxioms, OneTwoAndThreePlayersWork) {
  for (const games::Kind& kind : games::all()) {
    if (kind.random == nullptr) continue;
    for (int players = 1; players <= 3; ++players) {
      Rng rng(7, kind.name, 0, static_cast<std::uint64_t>(players));
      const Table table = as_table(*kind.random(players, rng));
      for (int part = 0; part <= 256; part += 32) {
        const Attribution found = estimate(table, {part, 1});
        ASSERT_EQ(static_cast<std::size_t>(players), found.values.size());
        if (players == 1) {
          EXPECT_EQ("", mismatch(table.gain(), found.values[0], rounding_of(table))) << kind.name;
        }
        if (found.exact) {
          EXPECT_EQ("", mismatch(textbook_shapley_values(table), found.values, rounding_of(table)))
              << kind.name << " n=" << players;
        }
      }
    }
  }
}

TEST_P(EstimatorAxioms, TheBudgetIsObeyedAndEachCoalitionEvaluatedOnce) {
  for_all_games([this](const Table& table, Effort effort) {
    const auto game = as_game(table);
    const WatchedGame watched(*game);
    std::int64_t allowed = budget(table.players, effort);
    Attribution found;
    const auto ask = [&] { found = attribute(estimator(), watched, {allowed}, effort.seed); };
    if (!refusal<InvalidArgument>(ask).empty()) {
      RC_ASSERT(promise().refusal != Refusal::never);
      RC_ASSERT(watched.asked <= static_cast<std::size_t>(allowed));
      return;
    }
    if (promise().access == Access::gradient && !promise().uses_budget()) allowed = 2;
    RC_ASSERT(found.distinct <= allowed);
    RC_ASSERT(found.distinct == static_cast<std::int64_t>(watched.asked));
    RC_ASSERT(watched.seen.size() == watched.asked);
    RC_ASSERT(found.evaluations >= found.distinct);
  });
}

// shap #4433: a method that silently leaves half of its budget unused. Draws that fall on a coalition again cost
// nothing, and of forty players' coalitions those of one player or of all but one are drawn again and again: a quarter
// of the draws for the Shapley kernel.
TEST_P(EstimatorAxioms, TheBudgetIsUsed) {
  if (!promise().uses_budget()) GTEST_SKIP() << "takes what it needs";
  Rng rng(4, "budget");
  const auto game = games::random_unanimity_sum(40, rng);
  const std::int64_t allowed = std::max<std::int64_t>(3000, 2 * estimator().minimum(40).coalitions);
  const Attribution found = attribute(estimator(), *game, {allowed}, 1);
  const std::int64_t passes = promise().access == Access::gradient ? found.gradients * game->slopes()->pass_cost() : 0;
  EXPECT_GT(static_cast<double>(found.evaluations + passes), 0.7 * static_cast<double>(allowed));
}

TEST_P(EstimatorAxioms, BudgetsBelowTheMinimumAreRefused) {
  if (!promise().uses_budget()) GTEST_SKIP() << "takes what it needs";
  for (const int players : {2, 3, 5, 10, 100}) {
    Rng rng(1);
    const auto game = games::random_unanimity_sum(players, rng);
    EXPECT_THROW(attribute(estimator(), *game, {least_for(*game) - 1}, 1), InvalidArgument) << players;
    EXPECT_THROW(attribute(estimator(), *game, {0}, 1), InvalidArgument) << players;
  }
}

// From the declared minimum on. Least squares may find that the coalitions it drew are not independent: it then names
// their rank, and the solution of least norm is there. Nothing else may be refused.
TEST_P(EstimatorAxioms, BudgetsFromTheMinimumOnAreEnoughUnlessARankIsTooLow) {
  const auto* solves = dynamic_cast<const estimators::LeastSquares*>(&estimator());
  ASSERT_EQ(promise().refusal == Refusal::by_rank, solves != nullptr && !GetParam().minimum_norm);
  const bool learns = promise().learns;  // and costs a hundred times as much
  int refused = 0;
  for (const int players : {2, 3, 5, 8, 12}) {
    Rng rng(3, "minimum", 0, static_cast<std::uint64_t>(players));
    const auto game = games::random_unanimity_sum(players, rng);
    const std::int64_t least = least_for(*game);
    for (std::int64_t budget = least; budget <= least + 20; budget += learns ? 5 : 1) {
      for (std::uint64_t seed = 0; seed < (learns ? 2 : 8); ++seed) {
        const std::string text = refusal<InvalidArgument>([&] { attribute(estimator(), *game, {budget}, seed); });
        if (text.empty()) continue;
        const std::string begin = message(estimator().name(), ": rank=");
        ASSERT_TRUE(promise().refusal == Refusal::by_rank && text.starts_with(begin)) << text;
        ++refused;
        EXPECT_TRUE(has(text, " (needs "));
        ASSERT_TRUE(attribute(*solves->with_minimum_norm(), *game, {budget}, seed).minimum_norm.has_value()) << text;
      }
    }
  }
  EXPECT_EQ(promise().refusal == Refusal::by_rank, refused > 0) << "a refusal that never comes is not to be promised";
}

TEST_P(EstimatorAxioms, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  for_all_games([this](const Table& table, Effort effort) {
    set_threads(1);
    const Attribution first = estimate(table, effort);
    set_threads(3);
    const Attribution second = estimate(table, effort);
    RC_ASSERT(first.values == second.values);
    RC_ASSERT(first.standard_errors == second.standard_errors);
    RC_ASSERT(first.distinct == second.distinct);
  });
}

TEST_P(EstimatorAxioms, StandardErrorsAreNeverNegative) {
  for_all_games([this](const Table& table, Effort effort) {
    const Attribution found = estimate(table, effort);
    for (const double error : found.standard_errors.value_or(std::vector<double>{})) RC_ASSERT(error >= 0);
  });
}

TEST_P(EstimatorAxioms, ValuesThatAreNotFiniteAreReportedWithTheirCoalition) {
  const FunctionGame broken(4, [](const Coalitions&, std::size_t) { return std::numeric_limits<double>::quiet_NaN(); });
  const std::int64_t budget = std::max<std::int64_t>(12, estimator().minimum(4).coalitions);
  EXPECT_THROW(attribute(estimator(), broken, {budget}, 1), NumericalError);
}

INSTANTIATE_TEST_SUITE_P(All, EstimatorAxioms, ::testing::ValuesIn(contestants()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace opshap
