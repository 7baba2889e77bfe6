// References state errors that hold, two estimates that disagree are found out, and of two attributions the nearer one
// is told.

#include "evaluation/certified_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.hpp"
#include "core/game.hpp"
#include "core/measured.hpp"
#include "estimators/registry.hpp"
#include "evaluation/certify.hpp"
#include "games/unanimity.hpp"
#include "statistics/quantiles.hpp"
#include "support/fading_game.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/guessed_slopes.hpp"
#include "support/oracles.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"
#include "support/values_alone.hpp"

namespace opshap {
namespace {

using Verdict = evaluation::Certification::Verdict;

/// Of up to four players.
std::unique_ptr<SolvedGame> fourth_order_game(int players, std::uint64_t seed) {
  Rng rng(seed, "fourth order");
  return random_interactions(players, 3 * players, 3, rng, [&rng] { return 1 + rng.below(4); });
}

/// A few coalitions of many players: the errors of the members of one are nearly the same, so they have few directions.
std::unique_ptr<SolvedGame> few_interactions_game(int players, std::uint64_t seed) {
  Rng rng(seed, "few interactions");
  return random_interactions(players, 3, 0, rng, [] { return 3; });
}

/// An estimator with a share of player 0's value given to player 1. The share is in the unit of a reference's game.
class Biased final : public Estimator {
 public:
  Biased(const Estimator& right, double shift) : right_(right), shift_(shift) {}
  std::string_view name() const override { return "biased"; }
  std::string_view summary() const override { return "a planted mistake"; }
  Guarantees guarantees() const override { return right_.guarantees(); }
  Budget minimum(int players) const override { return right_.minimum(players); }
  Attribution estimate(CountedGame& game, Rng& rng) const override {
    Attribution found = right_.estimate(game, rng);
    const double shift = game.scale().inside(shift_);  // the game less what is known of it has a unit of its own
    found.values[0] -= shift;
    found.values[1] += shift;
    return found;
  }

 private:
  const Estimator& right_;
  double shift_;
};

/// A game as references see it: without slopes, with those that are its marginal contributions, or with bad ones.
enum class Slopes { none, right, guessed };
constexpr Slopes all_slopes[] = {Slopes::none, Slopes::right, Slopes::guessed};

std::unique_ptr<Game> seen(const Game& game, Slopes slopes) {
  if (slopes == Slopes::none) return std::make_unique<ValuesAlone>(game);
  return std::make_unique<GuessedSlopes>(game, slopes == Slopes::right ? 0 : 1);
}

const Estimator& second_estimator(Slopes slopes) {
  return slopes == Slopes::none ? evaluation::reference_regression() : estimators::find("two_level");
}

/// A reference whose second estimate is this estimator's.
evaluation::CertifiedReference with_second(const Game& game, const evaluation::ReferenceSettings& settings,
                                           std::uint64_t seed, Slopes slopes, const Estimator& second) {
  if (slopes == Slopes::none) return evaluation::certified_reference(game, settings, seed, {.regression = second});
  return evaluation::certified_reference(game, settings, seed, {.two_level = second});
}

TEST(CertifiedReference, IsExactForFewPlayersAndWhereEnumerationIsCheaper) {
  for (const int players : {1, 2, 9}) {
    const auto game = fourth_order_game(players, 4);
    for (const int exact_players : {16, 0}) {
      const auto found = evaluation::certified_reference(*game, {.exact_players = exact_players}, 1);
      EXPECT_EQ("exact", found.method);
      EXPECT_EQ(Measured::of(0), found.error);
      EXPECT_TRUE(found.reached);
      EXPECT_EQ("", mismatch(game->shapley_values(), found.attribution.values, rounding(1e3, 50)));
    }
  }
}

TEST(CertifiedReference, StatesErrorsThatCoverTheTruth) {
  // Mean squared errors against mean squared standard errors, over 60 games: the sum of 60·23 squares in units of their
  // variance has a relative standard deviation of √(2/(60·23)) = 0.04 for independent ones; players share interactions
  // of up to four, hence √4 times that, five times over.
  for (const Slopes slopes : all_slopes) {
    for (const std::int64_t evaluations : {0, 6000}) {
      double errors = 0, promised = 0;
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto solved = fourth_order_game(24, seed);
        const auto game = seen(*solved, slopes);
        const evaluation::ReferenceSettings settings{
            .relative_error = 1e-9,
            .max_evaluations = std::max(evaluations, evaluation::minimum_reference_evaluations(*game))};
        const evaluation::CertifiedReference found = evaluation::certified_reference(*game, settings, seed);
        EXPECT_EQ("certified", found.method);
        EXPECT_FALSE(found.reached);
        EXPECT_LE(found.attribution.evaluations, settings.max_evaluations);
        ASSERT_EQ(2u, found.estimates.size());
        EXPECT_EQ("permutation_antithetic", found.estimates[0].method);
        EXPECT_EQ(second_estimator(slopes).name(), found.estimates[1].method);
        errors += std::pow(distance(found.attribution.values, solved->shapley_values()), 2);
        promised += std::pow(norm(*found.attribution.standard_errors), 2);
      }
      EXPECT_NEAR(1, std::sqrt(errors / promised), 5 * 0.04) << static_cast<int>(slopes) << ", " << evaluations;
    }
  }
}

TEST(CertifiedReference, ReachesTheErrorItWasAskedForAndNotMuchLess) {
  const auto solved = fourth_order_game(40, 7);
  for (const Slopes slopes : all_slopes) {
    const auto game = seen(*solved, slopes);
    // The first step of a game with slopes: 4096 forward equivalents for each of the two.
    const std::int64_t first =
        slopes == Slopes::none ? evaluation::minimum_reference_evaluations(*game) : std::int64_t{2 * 4096};
    for (const double wanted : {0.03, 0.01}) {
      const auto found = evaluation::certified_reference(*game, {.relative_error = wanted}, 7);
      EXPECT_TRUE(found.reached);
      EXPECT_LE(*found.error.value, wanted);
      // A step is at most 8 times the one before, so the error falls at most by √8 more than needed (unless the first
      // step is enough).
      EXPECT_TRUE(*found.error.value > wanted / 4 || found.attribution.evaluations <= first);
      EXPECT_LE(distance(found.attribution.values, solved->shapley_values()),
                2 * wanted * norm(solved->shapley_values()));
    }
  }
}

TEST(CertifiedReference, IsTheSameForTheSameSeedOnly) {
  const auto solved = fourth_order_game(24, 3);
  const evaluation::ReferenceSettings settings{.relative_error = 0.05};
  for (const Slopes slopes : all_slopes) {
    const auto game = seen(*solved, slopes);
    const auto values = [&](std::uint64_t seed) {
      return evaluation::certified_reference(*game, settings, seed).attribution.values;
    };
    EXPECT_EQ(values(1), values(1));
    EXPECT_NE(values(1), values(2));
  }
}

// What references of games of values alone are; the figures are of recipe 2.
TEST(CertifiedReference, IsWhatItsRecipeSaysForGamesOfValuesAlone) {
  struct Before {
    int players;
    double wanted;
    std::int64_t most, evaluations, distinct;
    double first, last, error, statistic;
  };
  for (const Before& before : {Before{24, 0.05, 1 << 20, 2608, 2606, 1.3763790130929383, 0.41753206002554005,
                                      0.04580539279676353, 1.1641097045722344},
                               Before{40, 0.01, 1 << 20, 222976, 221580, 2.2331854592815894, -3.0217757850986122,
                                      0.0079882581462942057, 1.2315696929218221},
                               Before{32, 1e-9, 6000, 5744, 5744, -1.3756387077478276, 0.17670035263413633,
                                      0.033212003025250521, 1.7498514664076781}}) {
    const auto game = fourth_order_game(before.players, 3);
    const evaluation::CertifiedReference found = evaluation::certified_reference(
        ValuesAlone(*game), {.relative_error = before.wanted, .max_evaluations = before.most}, 3);
    EXPECT_EQ("certified", found.method);
    EXPECT_EQ(before.evaluations, found.attribution.evaluations);
    EXPECT_EQ(before.distinct, found.attribution.distinct);
    EXPECT_EQ(0, found.attribution.gradients);
    // The regression's linear algebra may sum in another order on another machine.
    const std::vector<double>& values = found.attribution.values;
    EXPECT_EQ("", mismatch({before.first, before.last, before.error, before.statistic},
                           {values.front(), values.back(), *found.error.value, found.cross_check->statistic},
                           rounding(1e6, 5)));
  }
}

TEST(CertifiedReference, KnowsRoundingForWhatItIs) {
  // Both estimates are exact here, to rounding that the offset of a million makes large: nothing to disagree about, and
  // nothing to gain from more evaluations.
  Rng rng(5);
  std::vector<double> weights(64);
  std::vector<games::UnanimityTerm> terms;
  for (int player = 0; player < 64; ++player) {
    weights[static_cast<std::size_t>(player)] = rng.normal();
    terms.push_back({.coalition = {player}, .coefficient = weights[static_cast<std::size_t>(player)]});
  }
  const auto with_slopes = games::unanimity_sum(64, terms, 1e6);
  const auto without = games::additive_game(weights, 1e6);
  for (const Game* game : {static_cast<const Game*>(with_slopes.get()), static_cast<const Game*>(without.get())}) {
    const evaluation::CertifiedReference found = evaluation::certified_reference(*game, {.relative_error = 1e-12}, 2);
    EXPECT_EQ("certified", found.method);
    EXPECT_TRUE(found.only_rounding);
    EXPECT_FALSE(found.reached) << "rounding is more than was asked for";
    EXPECT_EQ("", mismatch(weights, found.attribution.values, rounding(256, 1e6)));
    const std::int64_t of_witness = found.witness ? found.witness->attribution.evaluations : 0;
    EXPECT_LE(found.attribution.evaluations - of_witness,
              std::max<std::int64_t>(2 * 4096, evaluation::minimum_reference_evaluations(*game)));
  }
}

TEST(CertifiedReference, CountsPassesAsTheEvaluationsThatTheyAreWorth) {
  const auto game = fourth_order_game(40, 2);
  const evaluation::CertifiedReference found = evaluation::certified_reference(*game, {.relative_error = 0.02}, 2);
  const Attribution& orderings = found.estimates[0].attribution;
  const Attribution& two_level = found.estimates[1].attribution;
  EXPECT_EQ(0, orderings.gradients);
  EXPECT_GT(two_level.gradients, 0);
  EXPECT_GT(two_level.evaluations, game->slopes()->pass_cost() * two_level.gradients);
  const Attribution& witness = found.witness->attribution;
  EXPECT_EQ(witness.distinct + game->slopes()->pass_cost() * witness.gradients, witness.evaluations);
  EXPECT_EQ(orderings.evaluations + two_level.evaluations + witness.evaluations, found.attribution.evaluations);
  EXPECT_EQ(two_level.gradients + witness.gradients, found.attribution.gradients);
}

// With right slopes one pass tells all marginal contributions of a coalition.
TEST(CertifiedReference, TakesSeveralTimesFewerEvaluationsWithGoodSlopes) {
  const auto game = fourth_order_game(200, 1);
  const evaluation::ReferenceSettings settings{.relative_error = 0.02};
  const evaluation::CertifiedReference with = evaluation::certified_reference(*game, settings, 1),
                                       without = evaluation::certified_reference(ValuesAlone(*game), settings, 1);
  ASSERT_TRUE(with.reached && without.reached);
  EXPECT_LT(4 * with.attribution.evaluations, without.attribution.evaluations);
  // The check is kept at a quarter of the cost of what it checks, or at its four pairs.
  EXPECT_LE(2 * with.estimates[0].attribution.evaluations, with.estimates[1].attribution.evaluations + 4096);
}

// Where slopes are guesses, regression takes the place of the two-level estimator, and what that has cost is counted.
TEST(CertifiedReference, LeavesSlopesBehindThatTellTooLittle) {
  const auto solved = fourth_order_game(32, 9);
  const GuessedSlopes game(*solved, 10);
  const auto found = evaluation::certified_reference(game, {.relative_error = 0.01}, test_seed());
  EXPECT_EQ("certified", found.method);
  EXPECT_TRUE(found.reached);
  ASSERT_EQ("paired_regression", found.estimates[1].method);
  std::int64_t kept = found.witness ? found.witness->attribution.evaluations : 0;
  for (const evaluation::ReferenceEstimate& estimate : found.estimates) kept += estimate.attribution.evaluations;
  EXPECT_GT(found.attribution.evaluations, kept + 3000) << "the first step of the two-level estimator";
  EXPECT_LE(distance(found.attribution.values, solved->shapley_values()), 0.03 * norm(solved->shapley_values()));
}

TEST(CertifiedReference, RefusesWhatCannotWork) {
  const auto solved = fourth_order_game(64, 1);
  for (const Slopes slopes : all_slopes) {
    const auto game = seen(*solved, slopes);
    EXPECT_THROW(evaluation::certified_reference(*game, {.max_evaluations = 500}, 1), InvalidArgument);
    EXPECT_THROW(evaluation::certified_reference(*game, {.relative_error = 0}, 1), InvalidArgument);
    EXPECT_THROW(evaluation::certified_reference(*game, {.exact_players = 25}, 1), InvalidArgument);
  }
}

TEST(CrossCheck, FailsForAPlantedBiasOfFewStandardErrorsAndHardlyEverWithoutOne) {
  for (const Slopes slopes : all_slopes) {
    int failures = 0, found_out = 0;
    double low = 0;
    constexpr int games = 60;
    for (std::uint64_t seed = 0; seed < games; ++seed) {
      const auto solved = seed % 2 == 0 ? fourth_order_game(32, seed) : few_interactions_game(32, seed);
      const auto game = seen(*solved, slopes);
      const evaluation::ReferenceSettings settings{
          .relative_error = 1e-9,
          // Where a few players are all that counts, the standard errors of few samples are little known.
          .max_evaluations = (slopes == Slopes::none ? 2 : 4) * evaluation::minimum_reference_evaluations(*game)};
      const evaluation::CertifiedReference right = evaluation::certified_reference(*game, settings, seed);
      low += right.cross_check->p_value < 0.05 ? 1 : 0;
      failures += right.cross_check->agrees() ? 0 : 1;
      // The two together are off by the norm of their standard errors; a mistake of eight times that is no chance.
      const double scale = std::hypot(norm(*right.estimates[0].attribution.standard_errors),
                                      norm(*right.estimates[1].attribution.standard_errors));
      const std::vector<double> ends = {right.attribution.empty, right.attribution.grand};
      const double shift = std::ldexp(8 * scale, -largest_exponent(ends).value());
      const Biased orderings(estimators::find("permutation_antithetic"), shift), other(second_estimator(slopes), shift);
      for (const bool first : {true, false}) {
        const auto wrong = first ? evaluation::certified_reference(*game, settings, seed, {.orderings = orderings})
                                 : with_second(*game, settings, seed, slopes, other);
        found_out += wrong.cross_check->agrees() ? 0 : 1;
        EXPECT_EQ(wrong.cross_check->agrees() ? "certified"
                  : first                     ? "biased"
                                              : "permutation_antithetic",
                  wrong.method);
      }
    }
    EXPECT_EQ(0, failures) << static_cast<int>(slopes);
    // Binomial with p = 0.05, and up to three times as many for tails heavier than normal ones.
    EXPECT_LE(low, 0.15 * games + 5 * std::sqrt(games * 0.15 * 0.85)) << "p-values below 0.05";
    EXPECT_GE(found_out, 0.95 * 2 * games) << static_cast<int>(slopes);
  }
}

TEST(CrossCheck, OrderingsAreWhatIsLeftWhenTheTwoDisagree) {
  const auto solved = fourth_order_game(32, 5);
  const evaluation::ReferenceSettings settings{.relative_error = 0.02};
  for (const Slopes slopes : all_slopes) {
    const auto game = seen(*solved, slopes);
    const Biased other(second_estimator(slopes), 100);
    const auto found = with_second(*game, settings, 5, slopes, other);
    EXPECT_EQ("permutation_antithetic", found.method);
    EXPECT_EQ(found.estimates[0].attribution.values, found.attribution.values);
    EXPECT_TRUE(found.reached);
    EXPECT_LT(found.cross_check->p_value, 1e-6);
  }
}

/// Interactions of at most two players: orderings, the two-level estimator, regression and both witnesses are exact.
std::unique_ptr<SolvedGame> second_order_game(int players, std::uint64_t seed) {
  Rng rng(seed, "second order");
  return random_interactions(players, 3 * players, 3, rng, [&rng] { return 1 + rng.below(2); });
}

TEST(Witness, CertifiesGamesOfPairsAtOnce) {
  for (const int players : {24, 64}) {
    const auto game = second_order_game(players, test_seed());
    const auto found = evaluation::certified_reference(*game, {.relative_error = 1e-9}, test_seed());
    EXPECT_EQ("certified", found.method);
    EXPECT_TRUE(found.reached) << replay();
    ASSERT_TRUE(found.witness.has_value());
    EXPECT_EQ("diagonal_second_order", found.witness->method);
    EXPECT_TRUE(found.witness->agrees) << found.witness->distance << replay();
    EXPECT_LT(*found.witness->error_bar, 1e-10);
    EXPECT_EQ("",
              mismatch(game->shapley_values(), found.attribution.values, rounding(1e4, norm(game->shapley_values()))));
    EXPECT_LE(found.attribution.evaluations - found.witness->attribution.evaluations, 2 * 4096) << "the first step";
  }
}

TEST(Witness, ThatIsWrongIsNoticedAndChangesNothing) {
  const auto game = fourth_order_game(40, 7);
  const evaluation::ReferenceSettings settings{.relative_error = 0.1};  // the first step is enough
  const auto right = evaluation::certified_reference(*game, settings, test_seed());
  ASSERT_TRUE(right.witness.has_value());
  EXPECT_TRUE(right.witness->agrees) << right.witness->distance << replay();
  const Biased biased(evaluation::reference_witness(), 10);
  const auto wrong = evaluation::certified_reference(*game, settings, test_seed(), {.slopes_witness = biased});
  EXPECT_FALSE(wrong.witness->agrees) << replay();
  EXPECT_EQ("certified", wrong.method);
  EXPECT_EQ(right.attribution.values, wrong.attribution.values);
  EXPECT_EQ(right.error, wrong.error);
}

// Each of the two is wrong in turn, and the other one is taken.
TEST(Witness, TellsWhichOfTwoEstimatesIsRight) {
  const auto solved = second_order_game(32, 5);
  for (const Slopes slopes : {Slopes::none, Slopes::right}) {
    const ValuesAlone values(*solved);
    const Game& game = slopes == Slopes::none ? static_cast<const Game&>(values) : *solved;
    const Biased orderings(estimators::find("permutation_antithetic"), 10), other(second_estimator(slopes), 10);
    const auto first_is_wrong = evaluation::certified_reference(game, {}, 5, {.orderings = orderings});
    EXPECT_FALSE(first_is_wrong.cross_check->agrees());
    EXPECT_EQ(second_estimator(slopes).name(), first_is_wrong.method);
    const auto second_is_wrong = with_second(game, {}, 5, slopes, other);
    EXPECT_FALSE(second_is_wrong.cross_check->agrees());
    EXPECT_EQ("permutation_antithetic", second_is_wrong.method);
    for (const auto& found : {first_is_wrong, second_is_wrong}) {
      EXPECT_EQ(slopes == Slopes::none ? "odd_shap" : "diagonal_second_order", found.witness->method);
      EXPECT_TRUE(found.witness->agrees);
      EXPECT_LT(distance(solved->shapley_values(), found.attribution.values), 0.03 * norm(solved->shapley_values()));
    }
  }
}

TEST(Witness, OfGamesOfValuesAloneIsAskedOnlyInADispute) {
  const auto solved = fourth_order_game(32, 5);
  EXPECT_FALSE(evaluation::certified_reference(ValuesAlone(*solved), {.relative_error = 0.1}, 5).witness.has_value());
}

// A witness that agrees, and knows its error well enough, spares the growth of the check.
TEST(Witness, SparesTheCheck) {
  const FadingGame game(64, 0.1);
  const evaluation::ReferenceSettings settings{.relative_error = 1e-3};
  const Biased biased(evaluation::reference_witness(), 10);
  const auto with = evaluation::certified_reference(game, settings, test_seed()),
             without = evaluation::certified_reference(game, settings, test_seed(), {.slopes_witness = biased});
  ASSERT_TRUE(with.reached && without.reached);
  ASSERT_LE(*with.witness->error_bar, settings.relative_error) << replay();
  const auto check = [](const evaluation::CertifiedReference& found) {
    return std::min(found.estimates[0].attribution.evaluations, found.estimates[1].attribution.evaluations);
  };
  EXPECT_LT(check(with), check(without)) << replay();
  EXPECT_LE(distance(with.attribution.values, game.shapley_values()),
            4 * settings.relative_error * norm(game.shapley_values()));
}

// One run of the two-level estimator is enough while orderings err more. Where bad slopes make it err more, its runs
// must tell how many directions its error has: three, or the reference is not reached.
TEST(CrossCheck, HasDirectionsToGoBy) {
  const auto solved = fourth_order_game(240, 4);
  const auto bad = seen(*solved, Slopes::guessed);
  const std::int64_t least = evaluation::minimum_reference_evaluations(*solved);
  const auto reference = [&](const Game& game, std::int64_t most) {
    return evaluation::certified_reference(game, {.relative_error = 10, .max_evaluations = most}, 4);
  };
  const std::int64_t one = reference(*solved, 1 << 20).estimates[1].attribution.evaluations;
  EXPECT_GT(reference(*bad, 1 << 20).estimates[1].attribution.evaluations, 3 * one / 2);
  EXPECT_TRUE(reference(*bad, 1 << 20).reached);
  EXPECT_FALSE(reference(*bad, least).reached);
  EXPECT_TRUE(reference(*solved, least).reached);
}

TEST(CrossCheck, CountsTheDirectionsOfErrors) {
  // Normal errors in 1, 4 and 63 directions of 64. From 8 samples tr(C²) is known to about a factor of two.
  Rng rng(1);
  for (const int directions : {1, 4, 63}) {
    double mean = 0;
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::vector<double>> samples(8, std::vector<double>(64, 0.0));
      for (auto& sample : samples) {
        std::vector<double> factors;
        for (int k = 0; k < directions; ++k) factors.push_back(rng.normal());
        for (std::size_t i = 0; i < 64; ++i) sample[i] = factors[i % factors.size()];
      }
      mean += evaluation::effective_dimension(samples) / 50;
    }
    EXPECT_GE(mean, directions / 1.6);
    EXPECT_LE(mean, directions * 1.6);
  }
}

TEST(CrossCheck, KnowsHowFewDirectionsThereMayBe) {
  // Normal errors in so many directions, seen in three to eight samples.
  Rng rng(2);
  for (const int directions : {2, 20, 63}) {
    for (const std::size_t count : {3, 4, 8}) {
      int above = 0;
      constexpr int repeats = 200;
      for (int repeat = 0; repeat < repeats; ++repeat) {
        std::vector<std::vector<double>> samples(count, std::vector<double>(64, 0.0));
        for (auto& sample : samples)
          for (std::size_t i = 0; i < static_cast<std::size_t>(directions); ++i) sample[i] = rng.normal();
        above += evaluation::least_dimension(samples) > directions ? 1 : 0;
      }
      // A confidence of 95 % for χ²; the products of few samples in few directions have heavier tails.
      EXPECT_LE(above, 0.1 * repeats + 5 * std::sqrt(repeats * 0.1 * 0.9)) << directions << ", " << count;
    }
  }
  EXPECT_EQ(1, evaluation::least_dimension({}));
  EXPECT_EQ(1, evaluation::least_dimension({{1, 2}, {2, 1}}));
}

TEST(CrossCheck, SumOfErrorsHasNoFewerDirectionsThanSaid) {
  // The same directions: no more of them. One of the two alone: its own. Others: more than either.
  EXPECT_EQ("", mismatch(7.0, evaluation::dimension_of_sum(3, 7, 2, 7), rounding(10, 7)));
  EXPECT_EQ("", mismatch(7.0, evaluation::dimension_of_sum(3, 7, 0, 1), rounding(10, 7)));
  EXPECT_EQ(1, evaluation::dimension_of_sum(0, 7, 0, 1));
  // tr(C)² / tr(C²) of diagonal covariances with entries of 0.5 on 4 directions and of 1 on 9 directions, of which they
  // share none, and of which they share 4.
  const double least = evaluation::dimension_of_sum(4 * 0.5, 4, 9, 9);
  EXPECT_LE(least, 11 * 11 / (4 * 0.25 + 9));
  EXPECT_LE(least, 11 * 11 / (4 * 2.25 + 5));
  EXPECT_GE(least, 4);
}

TEST(TailProbability, AreThoseOfKnownQuantiles) {
  // Abramowitz and Stegun (1964), table 26.9: F(5, 10) exceeds 3.33 with probability 0.05; χ²(10)/10 exceeds 1.8307.
  EXPECT_NEAR(0.05, statistics::fisher_tail(3.3258, 5, 10), 1e-5);
  EXPECT_NEAR(0.05, statistics::fisher_tail(1.83070, 10, HUGE_VAL), 1e-5);
  EXPECT_NEAR(0.05, statistics::fisher_tail(1.83070, 10, 1e12), 1e-5);
  EXPECT_EQ(1, statistics::fisher_tail(0, 3, 4));
  EXPECT_EQ(0, statistics::fisher_tail(HUGE_VAL, 3, 4));
  // Abramowitz and Stegun (1964), table 26.8: χ²(10) is below 3.94030 with probability 0.05.
  EXPECT_NEAR(3.94030, statistics::chi_squared_quantile(0.05, 10), 1e-5);
  EXPECT_THROW(statistics::chi_squared_quantile(1, 10), InvalidArgument);
  EXPECT_NEAR(2.77645, statistics::student_quantile(0.975, 4), 1e-5);
  EXPECT_THROW(statistics::student_quantile(0.975, 0), InvalidArgument);
}

TEST(Certify, TellsTheNearerOfTwoAttributions) {
  for (const int players : {2, 5, 24, 200}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto game = fourth_order_game(players, seed);
      const std::vector<double> truth = game->shapley_values();
      std::vector<double> near = truth, far = truth;
      const double size = 0.3 * norm(truth);
      near[0] += size / 2, near[1] -= size / 2;
      far[0] -= 2 * size, far[1] += 2 * size;
      const auto verdict = [&](const std::vector<double>& a, const std::vector<double>& b) {
        return evaluation::certify(*game, a, b, {.max_evaluations = 1 << 18}, seed);
      };
      const auto first = verdict(near, far), second = verdict(far, near), exact = verdict(truth, near);
      EXPECT_EQ(Verdict::first, first.verdict) << players << " " << seed;
      EXPECT_EQ(Verdict::second, second.verdict) << players << " " << seed;
      EXPECT_EQ(Verdict::first, exact.verdict) << players << " " << seed;
      const double expected = std::pow(distance(near, truth), 2) - std::pow(distance(far, truth), 2);
      EXPECT_EQ("", mismatch(expected, *first.difference.value,
                             sampling(std::hypot(*first.standard_error.value, 1e-12 * std::abs(expected)), 6)));
    }
  }
}

TEST(Certify, StatesAnErrorThatCoversTheDifference) {
  // The deviation in units of its standard error over 300 games: its mean square is 1 up to 5·√(2/300).
  double squares = 0;
  constexpr int games = 300;
  for (std::uint64_t seed = 0; seed < games; ++seed) {
    const auto game = fourth_order_game(12, seed);
    const std::vector<double> truth = game->shapley_values();
    Rng rng(seed, "certify test");
    std::vector<double> a = truth, b = truth;
    for (double& value : a) value += 0.02 * rng.normal();
    for (double& value : b) value += 0.02 * rng.normal();
    const auto found = evaluation::certify(*game, a, b, {.max_evaluations = 4096, .level = 1e-300}, seed);
    const double expected = std::pow(distance(a, truth), 2) - std::pow(distance(b, truth), 2);
    squares += std::pow((*found.difference.value - expected) / *found.standard_error.value, 2) / games;
  }
  EXPECT_NEAR(1, squares, 5 * std::sqrt(2.0 / games));
}

TEST(Certify, MakesNoVerdictWithoutADifference) {
  int verdicts = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto game = fourth_order_game(16, seed);
    const std::vector<double> truth = game->shapley_values();
    std::vector<double> a = truth, b = truth;  // equally far on two sides
    a[0] += 1, a[1] -= 1, b[0] -= 1, b[1] += 1;
    verdicts += evaluation::certify(*game, a, b, {.max_evaluations = 8192}, seed).verdict != Verdict::undecided ? 1 : 0;
    EXPECT_EQ(Verdict::undecided, evaluation::certify(*game, a, a, {.max_evaluations = 8192}, seed).verdict);
  }
  EXPECT_LE(verdicts, 2);  // level 0.001 a game: three or more of 100 have a chance of 1.5e-4
}

TEST(Certify, CountsTheGapOfAttributionsThatAreNotEfficient) {
  const auto game = fourth_order_game(16, 3);
  const std::vector<double> truth = game->shapley_values();
  std::vector<double> shifted = truth;
  for (double& value : shifted) value += 0.25;
  const evaluation::Certification found = evaluation::certify(*game, shifted, truth, {.max_evaluations = 8192}, 3);
  EXPECT_EQ(Verdict::second, found.verdict);
  EXPECT_EQ("", mismatch(16 * 0.25 * 0.25, *found.difference.value, rounding(1e4, 1)));
}

TEST(Certify, IdentityHoldsOverAllCoalitions) {
  // ‖φ − ψ‖² = 2H_{n−1}(E(u − φ·1_S)² − E(u − ψ·1_S)²) for efficient φ, by enumeration of the kernel law.
  for_all([] {
    const Table table = *any_game(8);
    RC_PRE(table.players >= 2);
    const std::vector<double> exact = textbook_shapley_values(table);
    std::vector<double> other = exact;
    other.front() += 1;
    other.back() -= 1;
    const int n = table.players;
    double mass = 0, difference = 0;
    for (std::size_t mask = 1; mask + 1 < table.values.size(); ++mask) {
      double of_exact = 0, of_other = 0;
      for (int i = 0; i < n; ++i) {
        if ((mask >> i & 1) == 0) continue;
        of_exact += exact[static_cast<std::size_t>(i)];
        of_other += other[static_cast<std::size_t>(i)];
      }
      const int size = std::popcount(mask);
      const double weight = kernel(n, size) / binomial(n, size), gain = table.values[mask] - table.empty();
      mass += weight;
      difference += weight * (std::pow(gain - of_other, 2) - std::pow(gain - of_exact, 2));
    }
    // Squares of up to (10⁶)² would cancel, but the gains are of order 1.
    RC_ASSERT(mismatch(2.0, 2 * harmonic_number(n - 1) * difference / mass,
                       rounding(1e4, std::pow(table.scale() + 8, 2))) == "");
  });
}

}  // namespace
}  // namespace opshap
