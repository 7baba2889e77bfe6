// A game times 2^k: values, standard errors, gaps and distances are those of the game times 2^k, to the bit, and
// numbers without a unit and verdicts are the same. That holds for every estimator, for references, certification and
// comparisons.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/game.hpp"
#include "core/measured.hpp"
#include "core/rng.hpp"
#include "estimators/registry.hpp"
#include "evaluation/certified_reference.hpp"
#include "evaluation/certify.hpp"
#include "evaluation/comparison_run.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "methods/method.hpp"
#include "support/function_game.hpp"
#include "support/test_seed.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

constexpr int powers[] = {-900, -350, -1, 1, 266, 532, 900};

/// A game times 2^k, with the slopes and gradients of its multilinear extension, times 2^k.
class Times final : public Game, public Extension {
 public:
  Times(int players, std::vector<double> table, int k) : players_(players), table_(std::move(table)), k_(k) {}

  int players() const override { return players_; }
  const Extension* extension() const override { return this; }
  const Extension* mean_field() const override { return this; }
  /// At a coalition with an error that is another one for each player, so that two_level has something to correct.
  std::vector<double> gradients(std::span<const double> points) const override {
    std::vector<double> found;
    for (const auto n = static_cast<std::size_t>(players_); !points.empty(); points = points.subspan(n)) {
      const bool corner = points.front() == 0 || points.front() == 1;
      std::size_t coalition = 0;
      for (std::size_t i = 0; i < n; ++i) coalition |= std::size_t{points[i] == 1} << i;
      for (int player = 0; player < players_; ++player) {
        double sum = 0;
        for (std::size_t set = 0; set < table_.size(); ++set) {
          if ((set >> player & 1) != 0) continue;
          double weight = 1;
          for (std::size_t i = 0; i < n; ++i)
            if (i != static_cast<std::size_t>(player)) weight *= (set >> i & 1) != 0 ? points[i] : 1 - points[i];
          sum += weight * marginal(set, player);
        }
        if (corner) sum += 0.1 * Rng(coalition, "slopes", 0, static_cast<std::uint64_t>(player)).normal();
        found.push_back(std::ldexp(sum, k_));
      }
    }
    return found;
  }
  std::int64_t pass_cost() const override { return 6; }

 private:
  double marginal(std::size_t set, int player) const { return table_[set | std::size_t{1} << player] - table_[set]; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    for (std::size_t row = 0; row < coalitions.size(); ++row)
      values.push_back(std::ldexp(table_[coalitions.row(row)[0]], k_));
    return values;
  }

  int players_;
  std::vector<double> table_;
  int k_;
};

std::vector<double> times(std::vector<double> values, int k) {
  for (double& value : values) value = std::ldexp(value, k);
  return values;
}

/// Another game's values times 2^k, and no more.
class ValuesTimes final : public Game {
 public:
  ValuesTimes(const Game& game, int k) : game_(game), k_(k) {}
  int players() const override { return game_.players(); }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    return times(game_.values(coalitions), k_);
  }

  const Game& game_;
  int k_;
};

std::vector<double> random_table(int players, std::uint64_t seed) {
  Rng rng(seed, "scales");
  std::vector<double> table(std::size_t{1} << players);
  for (double& value : table) value = rng.normal();
  return table;
}

/// What an estimator says, or its refusal.
struct Answer {
  std::optional<Attribution> found;
  std::string refusal;
};

Answer ask(const Estimator& estimator, const Game& game, std::int64_t budget, std::uint64_t seed) {
  Answer answer;
  answer.refusal = refusal<InvalidArgument>([&] { answer.found = attribute(estimator, game, {budget}, seed); });
  return answer;
}

class Scales : public testing::TestWithParam<std::string> {};

TEST_P(Scales, AnEstimateOfAGameTimesAPowerOfTwoIsTheEstimateTimesThatPower) {
  const Estimator& estimator = estimators::find(GetParam());
  constexpr int players = 7;
  int answers = 0;
  for (const std::int64_t budget : {60, 127, 128}) {
    const std::vector<double> table = random_table(players, test_seed() + static_cast<std::uint64_t>(budget));
    const Answer plain = ask(estimator, Times(players, table, 0), budget, 3);
    answers += plain.found ? 1 : 0;
    for (const int k : powers) {
      SCOPED_TRACE(GetParam() + ", budget " + std::to_string(budget) + ", k " + std::to_string(k));
      const Answer scaled = ask(estimator, Times(players, table, k), budget, 3);
      ASSERT_EQ(plain.refusal, scaled.refusal);
      if (!plain.found) continue;
      EXPECT_EQ(times(plain.found->values, k), scaled.found->values);
      ASSERT_EQ(plain.found->standard_errors.has_value(), scaled.found->standard_errors.has_value());
      if (plain.found->standard_errors) {
        EXPECT_EQ(times(*plain.found->standard_errors, k), *scaled.found->standard_errors);
      }
      EXPECT_EQ(std::ldexp(plain.found->empty, k), scaled.found->empty);
      EXPECT_EQ(std::ldexp(plain.found->grand, k), scaled.found->grand);
      EXPECT_EQ(std::ldexp(plain.found->efficiency_gap(), k), scaled.found->efficiency_gap());
      EXPECT_EQ(plain.found->evaluations, scaled.found->evaluations);
      EXPECT_EQ(plain.found->distinct, scaled.found->distinct);
    }
  }
  EXPECT_GT(answers, 0) << "no budget suits the estimator, so nothing was tried";
}

INSTANTIATE_TEST_SUITE_P(All, Scales, testing::ValuesIn(estimators::names()),
                         [](const auto& info) { return info.param; });

TEST(Scales, AGameThatIsZeroAtItsEndsHasTheUnitOfItsOtherValues) {
  std::vector<double> table = random_table(6, test_seed());
  table.front() = table.back() = 0;
  for (const char* name : {"exact", "permutation", "kernel_shap_paired", "msr"}) {
    const Attribution plain = attribute(estimators::find(name), Times(6, table, 0), {62}, 3);
    for (const int k : powers)
      EXPECT_EQ(times(plain.values, k), attribute(estimators::find(name), Times(6, table, k), {62}, 3).values) << name;
  }
}

TEST(Scales, AValueFarAboveTheEndsStartsTheMethodAgainOnWhatIsKnown) {
  std::vector<double> table = random_table(6, test_seed());
  for (double& value : table) value = std::ldexp(value, 700);
  table.front() = 1e-3, table.back() = 2;
  std::int64_t asked = 0;
  const FunctionGame game(6, [&](const Coalitions& coalitions, std::size_t row) {
    ++asked;
    return table[coalitions.row(row)[0]];
  });
  const Attribution found = attribute(estimators::find("permutation"), game, {52}, 3);
  EXPECT_EQ(found.distinct, asked) << "what is known is not asked again";
  for (const double error : *found.standard_errors) EXPECT_TRUE(std::isfinite(error) && error > 0) << error;
  const Attribution exact = attribute(estimators::find("exact"), game, {}, 0);
  // Five estimates of a mean of independent marginals: five standard errors at the most, for all six players.
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_LT(std::abs(found.values[i] - exact.values[i]), 8 * (*found.standard_errors)[i]);
}

TEST(Scales, ValuesBeyondTheLargestDoubleAreRefusedByName) {
  const double most = std::numeric_limits<double>::max();
  const auto game = games::table_game(2, {-most, most, -most, most});
  EXPECT_TRUE(
      has(refusal<NumericalError>([&] { attribute(estimators::find("exact"), *game, {}, 0); }), "largest double"));
}

/// A reference's numbers in the unit of the game.
void expect_times(const evaluation::CertifiedReference& plain, const evaluation::CertifiedReference& scaled, int k) {
  EXPECT_EQ(times(plain.attribution.values, k), scaled.attribution.values);
  EXPECT_EQ(times(*plain.attribution.standard_errors, k), *scaled.attribution.standard_errors);
  EXPECT_EQ(std::ldexp(plain.rounding, k), scaled.rounding);
  EXPECT_EQ(plain.error, scaled.error);
  EXPECT_EQ(plain.reached, scaled.reached);
  EXPECT_EQ(plain.method, scaled.method);
  EXPECT_EQ(plain.attribution.evaluations, scaled.attribution.evaluations);
  ASSERT_EQ(plain.cross_check.has_value(), scaled.cross_check.has_value());
  if (plain.cross_check) {
    EXPECT_EQ(plain.cross_check->p_value, scaled.cross_check->p_value);
  }
}

TEST(Scales, AReferenceByRegressionIsThatOfTheGameTimesThePower) {
  Rng rng(test_seed(), "scales reference");
  const auto game = games::random_unanimity_sum(20, rng);
  const evaluation::ReferenceSettings settings{.relative_error = 0.05, .max_evaluations = 20000};
  const auto plain = evaluation::certified_reference(ValuesTimes(*game, 0), settings, 5);  // without its slopes
  for (const int k : powers) {
    SCOPED_TRACE(k);
    expect_times(plain, evaluation::certified_reference(ValuesTimes(*game, k), settings, 5), k);
  }
}

TEST(Scales, AReferenceBySlopesIsThatOfTheGameTimesThePower) {
  constexpr int players = 10;
  const std::vector<double> table = random_table(players, test_seed());
  const evaluation::ReferenceSettings settings{.relative_error = 0.2, .max_evaluations = 1000, .exact_players = 0};
  const auto plain = evaluation::certified_reference(Times(players, table, 0), settings, 5);
  EXPECT_NE("exact", plain.method);
  for (const int k : powers) {
    SCOPED_TRACE(k);
    expect_times(plain, evaluation::certified_reference(Times(players, table, k), settings, 5), k);
  }
}

TEST(Scales, ACertificationIsTheSameInEveryUnit) {
  Rng rng(test_seed(), "scales certify");
  const auto game = games::random_unanimity_sum(16, rng);
  const std::vector<double> truth = dynamic_cast<const SolvedGame&>(*game).shapley_values();
  std::vector<double> near = truth, far = truth;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    near[i] += 0.05 * rng.normal();
    far[i] += 0.2 * rng.normal();
  }
  const auto decide = [&](int k) {
    return evaluation::certify(ValuesTimes(*game, k), times(near, k), times(far, k), {.max_evaluations = 8192}, 5);
  };
  const evaluation::Certification plain = decide(0);
  EXPECT_EQ(evaluation::Certification::Verdict::first, plain.verdict);
  for (const int k : powers) {
    SCOPED_TRACE(k);
    const evaluation::Certification scaled = decide(k);
    EXPECT_EQ(plain.verdict, scaled.verdict);
    EXPECT_EQ(plain.p_value, scaled.p_value);
    EXPECT_EQ(plain.evaluations, scaled.evaluations);
    EXPECT_EQ(std::ldexp(plain.distance, k), scaled.distance);
    if (std::abs(k) < 500) {
      EXPECT_EQ(std::ldexp(*plain.difference.value, 2 * k), *scaled.difference.value);
      EXPECT_EQ(std::ldexp(*plain.standard_error.value, 2 * k), *scaled.standard_error.value);
    } else {
      EXPECT_FALSE(scaled.difference.value) << "no double holds the square";
      EXPECT_FALSE(scaled.difference.why.empty());
    }
  }
}

TEST(Scales, ScoresOfAComparisonHaveNoUnit) {
  constexpr int players = 7;
  const std::vector<double> table = random_table(players, test_seed());
  const auto rows = [&](int k) {
    const Times game(players, table, k);
    evaluation::ComparisonPlan plan{.game = game, .name = "table"};
    for (const char* name : {"permutation", "msr", "kernel_shap_paired", "exact", "integrated_gradients"})
      plan.methods.push_back(methods::resolve(name));
    plan.budgets = {60};
    plan.repeats = 2;
    return evaluation::compare_methods(plan, evaluation::truth_of(game, {}, 5), {}, [](const runs::MethodRow&) {});
  };
  const auto plain = rows(0);
  for (const int k : powers) {
    const auto scaled = rows(k);
    ASSERT_EQ(plain.size(), scaled.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      SCOPED_TRACE(plain[i].method + " " + std::to_string(k));
      EXPECT_EQ(plain[i].scores["nrmse"], scaled[i].scores["nrmse"]);
      EXPECT_EQ(plain[i].scores["pearson"], scaled[i].scores["pearson"]);
      EXPECT_EQ(plain[i].scores["efficiency_gap"], scaled[i].scores["efficiency_gap"]);
      EXPECT_EQ(plain[i].exact, scaled[i].exact);
    }
  }
}

TEST(Relative, ZeroOverZeroIsZeroAndAnErrorOverZeroIsUndefined) {
  EXPECT_EQ(Measured::of(0), relative(0, 0));
  EXPECT_EQ(Measured::of(0.5), relative(1, 2));
  EXPECT_EQ("relative to 0", relative(1, 0).why);
  EXPECT_FALSE(relative(std::numeric_limits<double>::infinity(), 1).value);
  EXPECT_FALSE(relative(1e300, 1e-300).value);
}

TEST(Relative, ANormNeitherOverflowsNorUnderflows) {
  EXPECT_EQ(5, norm(std::vector<double>{3, -4}));
  EXPECT_EQ(0, norm(std::vector<double>{0, 0}));
  for (const int k : {-1000, -600, 600, 1000})
    EXPECT_EQ(std::ldexp(5.0, k), norm(std::vector<double>{std::ldexp(3.0, k), std::ldexp(4.0, k)})) << k;
  EXPECT_EQ(5, distance(std::vector<double>{4, 1}, std::vector<double>{1, 5}));
}

TEST(Scales, TheReferenceOfAGameWithoutAnyEffectIsUndefinedAndReached) {
  const FunctionGame constant(20, [](const Coalitions&, std::size_t) { return 3.0; });
  const auto found = evaluation::certified_reference(constant, {.relative_error = 0.01, .max_evaluations = 20000}, 5);
  EXPECT_FALSE(found.error.value);
  EXPECT_TRUE(found.reached);
}

TEST(Scales, RoundingThatIsLargerThanTheWantedErrorIsNotReached) {
  const FunctionGame offset(
      20, [](const Coalitions& coalitions, std::size_t row) { return 1e14 + coalitions.cardinality(row); });
  // A value is 1, and a rounding of 1e14 is 1/64.
  const auto found = evaluation::certified_reference(offset, {.relative_error = 0.01, .max_evaluations = 20000}, 5);
  ASSERT_TRUE(found.error.value);
  EXPECT_GT(*found.error.value, 0.01);
  EXPECT_TRUE(found.only_rounding);
  EXPECT_FALSE(found.reached);
}

}  // namespace
}  // namespace opshap
