// Methods that follow each other until one knows its error to be small: which one answers, that it answers as it does
// by its name, and what all of them cost.

#include "methods/steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/game.hpp"
#include "core/rng.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"
#include "games/measure.hpp"
#include "games/registry.hpp"
#include "games/smooth_functions.hpp"
#include "games/unanimity.hpp"
#include "support/fading_game.hpp"
#include "support/function_game.hpp"
#include "support/refusal.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using methods::in_steps;

std::vector<std::string> names_of(const Attribution& found) {
  std::vector<std::string> names;
  for (const Step& step : found.steps) names.push_back(step.method);
  return names;
}

using Names = std::vector<std::string>;

std::unique_ptr<Game> member(const std::string& family, int players) {
  Rng rng(test_seed(), family);
  return games::find(family).random(players, rng);
}

/// The values of a registered estimator, with 16 coalitions a player.
std::vector<double> by_name(const std::string& method, const Game& game, std::uint64_t seed) {
  return attribute(estimators::find(method), game, {16 * game.players()}, seed).values;
}

double true_error(const Attribution& found, const SolvedGame& game) {
  return *relative(distance(found.values, game.shapley_values()), norm(game.shapley_values())).value;
}

/// Its first order is off by .09, and its correction leaves .013 of that.
const FadingGame& smooth_game() {
  static const FadingGame game(48, 0.6);
  return game;
}

double first_order_bar(const Attribution& found) {
  return std::hypot(found.second_order->first_order_error_bar, found.second_order->spread);
}

TEST(Steps, FewPlayersAreEnumerated) {
  const auto game = member("table_game", 9);
  const Attribution found = in_steps(*game, 0.05, 1);
  EXPECT_EQ(Names{"exact"}, names_of(found));
  EXPECT_EQ(0, methods::error_bar(found).value);
  EXPECT_EQ(by_name("exact", *game, 1), found.values);
}

/// A game among players of whom some change nothing, and are known to.
class WithIdlePlayers final : public Game {
 public:
  WithIdlePlayers(const Game& game, int players, std::vector<int> active)
      : game_(game), players_(players), active_(std::move(active)) {}
  int players() const override { return players_; }
  std::vector<int> active_players() const override { return active_; }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    Coalitions smaller(game_.players(), coalitions.size());
    for (std::size_t row = 0; row < coalitions.size(); ++row)
      for (std::size_t i = 0; i < active_.size(); ++i)
        if (coalitions.contains(row, active_[i])) smaller.insert(row, static_cast<int>(i));
    return game_.values(smaller);
  }

  const Game& game_;
  int players_;
  std::vector<int> active_;
};

TEST(Steps, PlayersThatChangeNothingAreNotEnumerated) {
  const auto inner = member("table_game", 5);
  const WithIdlePlayers game(*inner, 14, {0, 3, 4, 9, 13});
  const Attribution found = in_steps(game, 0.05, 1);
  EXPECT_EQ(Names{"exact"}, names_of(found));
  EXPECT_EQ(32, found.distinct);
  EXPECT_EQ(32, methods::most_coalitions(game));
  EXPECT_EQ("", mismatch(by_name("exact", game, 1), found.values, rounding(1e4, largest(found.values))));
  for (const int idle : {1, 2, 5, 12}) EXPECT_EQ(0, found.values[static_cast<std::size_t>(idle)]);
  EXPECT_EQ(found.values, methods::as_before(found, game, 0.05, 1).values);
  const auto all = member("table_game", 14);
  EXPECT_EQ(Names{"permutation_antithetic"}, names_of(methods::as_before(found, *all, 0.05, 1)));
}

TEST(Steps, AGameThatNobodyChangesIsWorthNothing) {
  const auto inner = member("table_game", 1);
  const Attribution found = in_steps(WithIdlePlayers(*inner, 20, {}), 0.05, 1);
  EXPECT_EQ(std::vector<double>(20), found.values);
  EXPECT_EQ(0, methods::error_bar(found).value);
}

// What differences of slopes say of a kink depends on where it lies.
TEST(Steps, AnOperatorWithKinksIsSampledWithoutGradients) {
  class Kinked final : public Game, public Extension {
   public:
    int players() const override { return smooth_game().players(); }
    const Extension* extension() const override { return this; }
    bool has_kinks() const override { return true; }
    std::vector<double> gradients(std::span<const double> points) const override {
      return smooth_game().extension()->gradients(points);
    }

   private:
    std::vector<double> evaluate(const Coalitions& coalitions) const override {
      return smooth_game().values(coalitions);
    }
  };
  const Attribution found = in_steps(Kinked(), 1, test_seed());
  EXPECT_EQ(Names{"odd_shap"}, names_of(found));
  EXPECT_EQ(0, found.gradients);
  EXPECT_EQ(by_name("odd_shap", smooth_game(), test_seed()), found.values);
}

TEST(Steps, TheFirstOrderAnswersWhereNoInteractionInvolvesThreePlayers) {
  const auto game = member("bilinear_game", 20);
  const Attribution found = in_steps(*game, 1e-9, test_seed());
  EXPECT_EQ(Names{"integrated_gradients"}, names_of(found));
  EXPECT_EQ(attribute(*estimators::integrated_gradients(estimators::Rule::gauss_legendre, found.second_order->nodes),
                      *game, {}, 1)
                .values,
            found.values);
}

TEST(Steps, TheMeanFieldOfAMultilinearExtensionIsTakenForWhatItIs) {
  // Interactions of five players: a correction would be nothing but noise here.
  const auto game = member("unanimity_sum", 24);
  const Attribution found = in_steps(*game, 1e-9, test_seed());
  EXPECT_EQ(Names{"mean_field"}, names_of(found));
  EXPECT_LT(true_error(found, dynamic_cast<const SolvedGame&>(*game)), 1e-12);  // some hundred roundings
  EXPECT_EQ(12, found.gradients);
}

TEST(Steps, TheSecondOrderAnswersWhereTheFirstOneIsOffAndUsesItsGradients) {
  const SolvedGame& game = smooth_game();
  const Attribution found = in_steps(game, 0.05, test_seed());
  ASSERT_EQ((Names{"integrated_gradients", "diagonal_second_order"}), names_of(found));
  const Attribution named = attribute(*estimators::diagonal_second_order({}), game, {}, test_seed());
  EXPECT_EQ(named.values, found.values);
  EXPECT_EQ(named.gradients, found.gradients);
  EXPECT_EQ(named.evaluations, found.evaluations);
  EXPECT_EQ(named.second_order->error_bar, methods::error_bar(found).value);
  EXPECT_EQ(first_order_bar(named), found.steps.front().error_bar.value);
  EXPECT_EQ(3 * named.gradients + 2, found.steps.front().forward_equivalents);
  EXPECT_EQ(0, found.steps.back().forward_equivalents);
  EXPECT_LT(true_error(found, game), 0.05);
}

TEST(Steps, TheToleranceDecidesWhichStepAnswers) {
  const SolvedGame& game = smooth_game();
  const Attribution first = in_steps(game, 1, test_seed());
  EXPECT_EQ(Names{"integrated_gradients"}, names_of(first));
  EXPECT_EQ(first.second_order->first_order, first.values);
  const Attribution last = in_steps(game, 1e-6, test_seed());
  EXPECT_EQ((Names{"integrated_gradients", "diagonal_second_order", "odd_shap"}), names_of(last));
  EXPECT_EQ(by_name("odd_shap", game, test_seed()), last.values);
  EXPECT_FALSE(methods::error_bar(last).value);
  // What it cost is what all steps cost.
  EXPECT_EQ(16 * game.players(), last.distinct);
  EXPECT_EQ(last.distinct - 2, last.steps.back().forward_equivalents);
  const Attribution corrected = attribute(*estimators::diagonal_second_order({.tolerance = 1e-6}), game, {}, 1);
  EXPECT_EQ(corrected.gradients, last.gradients);
  EXPECT_EQ(corrected.evaluations + attribute(estimators::find("odd_shap"), game, {16 * 48}, test_seed()).evaluations,
            last.evaluations);
}

// Their gradients are 0 wherever there are some, so nothing but the sum of the values, or their being 0, tells.
TEST(Steps, GamesWithStepsAreSampled) {
  for (const char* family : {"weighted_voting", "sign_of_measure"}) {
    SCOPED_TRACE(family);
    const auto game = member(family, 16);
    const Attribution found = in_steps(*game, 0.05, test_seed());
    EXPECT_EQ((Names{"integrated_gradients", "diagonal_second_order", "odd_shap"}), names_of(found));
    EXPECT_EQ(by_name("odd_shap", *game, test_seed()), found.values);
  }
  const Attribution found = in_steps(*member("sign_of_measure", 16), 0.05, 1);
  EXPECT_EQ("the values are 0", found.steps.front().error_bar.why);
}

/// Gradients on the diagonal alone, as a program has them.
class OnDiagonal final : public Game, public Extension {
 public:
  explicit OnDiagonal(const Game& game) : game_(game) {}
  int players() const override { return game_.players(); }
  const Extension* extension() const override { return this; }
  bool everywhere() const override { return false; }
  std::vector<double> gradients(std::span<const double> points) const override {
    return game_.extension()->gradients(points);
  }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return game_.values(coalitions); }
  const Game& game_;
};

TEST(Steps, WithoutGradientsOffTheDiagonalOrderingsAnswerWithTheirStandardErrors) {
  const auto table = member("table_game", 13), smooth = member("exponential_of_measure", 16);
  const OnDiagonal diagonal(*smooth);
  for (const Game* game : std::initializer_list<const Game*>{table.get(), &diagonal}) {
    const Attribution found = in_steps(*game, 0.05, test_seed());
    EXPECT_EQ(Names{"permutation_antithetic"}, names_of(found));
    EXPECT_EQ(by_name("permutation_antithetic", *game, test_seed()), found.values);
    EXPECT_EQ(relative(norm(*found.standard_errors), norm(found.values)), methods::error_bar(found));
  }
}

// An answer that calls itself within the tolerance is, but for what the next terms add to the leading one: at most as
// much again. Where two combs contradict each other their product says nothing, and their spread has to.
TEST(Steps, WhoeverCallsItselfWithinTheToleranceIs) {
  for (const games::Kind& kind : games::all()) {
    if (kind.random == nullptr) continue;
    for (const int players : {14, 32}) {
      const auto game = member(std::string(kind.name), players == 32 && kind.name == "table_game" ? 14 : players);
      const auto* solved = dynamic_cast<const SolvedGame*>(game.get());
      if (solved == nullptr || norm(solved->shapley_values()) == 0) continue;
      const Attribution found = in_steps(*game, 0.05, test_seed());
      if (!found.standard_errors && methods::within(methods::error_bar(found), 0.05)) {
        EXPECT_LT(true_error(found, *solved), 2 * 0.05) << kind.name << ", n=" << players;
      }
    }
  }
}

TEST(Steps, AnotherQuestionIsAnsweredAsTheOneBefore) {
  const SolvedGame& game = smooth_game();
  for (const double tolerance : {1.0, 0.05, 1e-6}) {
    const Attribution before = in_steps(game, tolerance, 3), found = methods::as_before(before, game, tolerance, 3);
    ASSERT_EQ(1U, found.steps.size());
    EXPECT_EQ(before.steps.back().method, found.steps.back().method);
    EXPECT_EQ(before.values, found.values);
    EXPECT_LE(found.gradients, before.gradients);
  }
  const Attribution first = methods::as_before(in_steps(game, 1, 3), game, 1, 3);
  EXPECT_FALSE(methods::error_bar(first).value);
  EXPECT_EQ(4, first.gradients);
  for (const char* family : {"table_game", "unanimity_sum", "glove_market"}) {
    const auto other = member(family, 13);
    const Attribution before = in_steps(*other, 0.05, 3), found = methods::as_before(before, *other, 0.05, 3);
    EXPECT_EQ(names_of(before), names_of(found));
  }
}

TEST(Steps, AFirstOrderKeepsItsValuesBesideItsBar) {
  const SolvedGame& game = smooth_game();
  const Estimator& plain = estimators::find("integrated_gradients");
  const Attribution alone = attribute(plain, game, {}, 1),
                    second = attribute(*estimators::diagonal_second_order({}), game, {}, 1);
  const Attribution found = methods::with_error_bar(plain, methods::FirstOrder::integrated_gradients, game, 1);
  EXPECT_EQ(alone.values, found.values);
  EXPECT_EQ(first_order_bar(second), methods::error_bar(found).value);
  EXPECT_EQ(alone.gradients + second.gradients, found.gradients);
  EXPECT_EQ(3 * found.gradients + 2, found.steps.front().forward_equivalents);
  EXPECT_EQ(Names{"integrated_gradients"}, names_of(found));
  EXPECT_EQ(second.gradients, estimators::gradients_of({}, game.players()));
  const double error = true_error(found, game);
  EXPECT_NEAR(error, *methods::error_bar(found).value, error / 2);
}

// Interactions that do not fade with the distance alias, so the combs do not know all of the correction.
TEST(Steps, ABarOfAFirstOrderHasWhatItsCombsDoNotKnow) {
  const auto game = member("exponential_of_measure", 20);
  const Attribution second = attribute(*estimators::diagonal_second_order({}), *game, {}, 1);
  ASSERT_GT(second.second_order->spread, 0);
  const Attribution found = methods::with_error_bar(estimators::find("integrated_gradients"),
                                                    methods::FirstOrder::integrated_gradients, *game, 1);
  EXPECT_EQ(first_order_bar(second), methods::error_bar(found).value);
}

TEST(Steps, AFallbackAnswersBeyondTheToleranceAlone) {
  const SolvedGame& game = smooth_game();
  const auto second_order = estimators::diagonal_second_order({});
  const methods::Fallback fallback{estimators::find("kernel_shap_paired"), {500}};
  const Attribution good = methods::second_order_or(*second_order, 0.05, &fallback, game, 2);
  EXPECT_EQ(Names{"diagonal_second_order"}, names_of(good));
  const Attribution beyond = methods::second_order_or(*second_order, 1e-6, nullptr, game, 2);
  EXPECT_EQ(good.values, beyond.values);
  const Attribution sampled = methods::second_order_or(*second_order, 1e-6, &fallback, game, 2);
  EXPECT_EQ((Names{"diagonal_second_order", "kernel_shap_paired"}), names_of(sampled));
  EXPECT_EQ(attribute(fallback.estimator, game, {500}, 2).values, sampled.values);
  EXPECT_EQ(good.second_order->correction, sampled.second_order->correction);
  EXPECT_EQ(good.gradients, sampled.gradients);
}

TEST(Steps, WhatCannotWorkIsRefused) {
  for (const double tolerance : {0.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(has(refusal<InvalidArgument>([&] { in_steps(smooth_game(), tolerance, 1); }), "tolerance="));
  class Broken final : public Game, public Extension {
   public:
    int players() const override { return 14; }
    const Extension* extension() const override { return this; }
    std::vector<double> gradients(std::span<const double> points) const override {
      std::vector<double> slopes(points.size(), 1);
      slopes[5] = std::numeric_limits<double>::quiet_NaN();
      return slopes;
    }

   private:
    std::vector<double> evaluate(const Coalitions& coalitions) const override {
      return std::vector<double>(coalitions.size(), 1);
    }
  };
  EXPECT_TRUE(has(refusal<NumericalError>([] { in_steps(Broken(), 0.05, 1); }), "player 5"));
}

}  // namespace
}  // namespace opshap
