// The estimators that are means over draws, or over strata: what they have in the mean, how far they scatter, and what
// they say of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/measured.hpp"
#include "estimators/exact.hpp"
#include "estimators/msr.hpp"
#include "estimators/registry.hpp"
#include "estimators/sample_regression.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/function_game.hpp"
#include "support/oracles.hpp"
#include "support/replicates.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using namespace estimators;

/// A game of all interactions with v(∅) ≠ 0, its values and its Shapley values.
struct Solved {
  std::vector<double> table;
  std::unique_ptr<Game> game;
  std::vector<double> shapley;

  static Solved random(int players) {
    Rng rng(21, "samplers", 0, static_cast<std::uint64_t>(players));
    std::vector<double> table(std::size_t{1} << players);
    for (double& value : table) value = 1 + rng.normal();
    return of(players, std::move(table));
  }
  static Solved of(int players, std::vector<double> table) {
    return {table, games::table_game(players, table), shapley_values_of_table(table)};
  }
  double gain(std::size_t mask) const { return table[mask] - table.front(); }
  Attribution by(const char* estimator, std::int64_t budget, std::uint64_t seed) const {
    return attribute(estimators::find(estimator), *game, {budget}, seed);
  }
  double share() const { return (table.back() - table.front()) / static_cast<double>(shapley.size()); }
};

/// An estimator that is a mean over independent draws.
struct DrawMean {
  const char* name;
  SizeMass mass;
  Pairing pairing;
  bool centred;
};

constexpr DrawMean draw_means[] = {
    {"kernel_shap_unbiased", SizeMass::shapley_kernel, Pairing::none, false},
    {"kernel_shap_unbiased_centred", SizeMass::shapley_kernel, Pairing::none, true},
    {"kernel_shap_unbiased_paired", SizeMass::shapley_kernel, Pairing::complements, false},
    {"msr", SizeMass::square_root, Pairing::none, false},
};

// Without statistics: with the least budget the estimate is a function of one draw, and every draw comes up for some
// seed. Weighted with the probabilities of the draws these estimates add up to the Shapley values.
TEST(DrawMeans, TheMeanOverAllDrawsIsTheShapleyValue) {
  for (const DrawMean& studied : draw_means) {
    for (const int players : {2, 3, 4, 6}) {
      const Solved solved = Solved::random(players);
      const std::uint64_t grand = (std::uint64_t{1} << players) - 1;
      std::uint64_t seen = 0;  // which coalition was evaluated, other than ∅ and N; of a pair the smaller mask
      const FunctionGame game(players, [&](const Coalitions& coalitions, std::size_t row) {
        const std::uint64_t mask = coalitions.row(row)[0];
        if (mask != 0 && mask != grand) seen = row > 0 ? std::min(seen, mask) : mask;
        return solved.table[mask];
      });
      const SizeLaw law(studied.mass, players);
      const bool paired = studied.pairing == Pairing::complements;
      const std::size_t units = ((std::size_t{1} << players) - 2) / (paired ? 2 : 1);
      std::map<std::uint64_t, std::vector<double>> estimates;
      if (paired && players == 2) continue;  // the one pair is all there is
      for (std::uint64_t seed = 0; estimates.size() < units && seed < 20000; ++seed) {
        const Attribution found = attribute(estimators::find(studied.name), game, {paired ? 4 : 3}, seed);
        EXPECT_FALSE(found.standard_errors.has_value()) << "one draw has no spread";
        estimates[seen] = found.values;
      }
      ASSERT_EQ(units, estimates.size());
      std::vector<double> mean(static_cast<std::size_t>(players), 0.0);
      for (const auto& [mask, values] : estimates) {
        const int size = std::popcount(mask);
        const double probability = (paired ? 2 : 1) * law.probability(size) / binomial(players, size);
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += probability * values[i];
      }
      EXPECT_EQ("", mismatch(solved.shapley, mean, rounding(4096, 2 + largest(solved.table))))
          << studied.name << players;
    }
  }
}

// The same for every law of sizes: Σ_S P(S)·(Δ/n + reuse of S alone), with the weights that the sampler gives.
TEST(DrawMeans, EveryLawOfSizesGivesTheShapleyValueInTheMean) {
  constexpr int players = 7;
  const Solved solved = Solved::random(players);
  for (const SizeMass mass : {SizeMass::shapley_kernel, SizeMass::uniform, SizeMass::square_root}) {
    const SizeLaw law(mass, players);
    std::vector<double> weight_of_size(players, 0.0);
    Rng rng(31, "one draw");
    for (int draw = 0; draw < 1000; ++draw) {
      const auto one = sample_coalitions(Sampler::iid, law, 1, Pairing::none, rng);
      weight_of_size[static_cast<std::size_t>(one.coalitions.cardinality(0))] = one.weights[0];
    }
    std::vector<double> mean(players, solved.share());
    for (std::size_t mask = 1; mask + 1 < solved.table.size(); ++mask) {
      CoalitionSample one(players);
      one.coalitions.append_empty();
      one.coalitions.row(0)[0] = mask;
      const int size = std::popcount(mask);
      one.weights = {weight_of_size[static_cast<std::size_t>(size)]};
      const std::vector<double> target = {solved.gain(mask)}, values = reuse_sample(one, target);
      for (std::size_t i = 0; i < mean.size(); ++i)
        mean[i] += law.probability(size) / binomial(players, size) * values[i];
    }
    EXPECT_EQ("", mismatch(solved.shapley, mean, rounding(4096, 2 + largest(solved.table))));
  }
}

TEST(DrawMeans, WorkForThousandsOfPlayers) {
  Rng rng(29, "large");
  for (const int players : {1030, 4096}) {
    std::vector<double> weights(static_cast<std::size_t>(players));
    for (double& weight : weights) weight = rng.normal();
    const auto game = games::additive_game(weights, 3);
    for (const DrawMean& studied : draw_means) {
      const Attribution found = attribute(estimators::find(studied.name), *game, {200}, 1);
      EXPECT_LE(found.distinct, 200);
      EXPECT_EQ("", mismatch(0, found.efficiency_gap(), rounding(1e6, 4096))) << studied.name;
    }
  }
}

TEST(DrawMeans, StandardErrorsAreThoseOfTheMeanOverDraws) {
  constexpr int players = 5;
  for (const Pairing pairing : {Pairing::none, Pairing::complements}) {
    Rng rng(34, "errors");
    const auto sample = sample_coalitions(Sampler::iid, SizeLaw(SizeMass::square_root, players), 20, pairing, rng);
    std::vector<double> targets;
    for (std::size_t row = 0; row < sample.weights.size(); ++row) targets.push_back(3 + rng.normal());
    const auto draws = static_cast<double>(sample.draws.size());
    std::vector<double> expected;
    for (int player = 0; player < players; ++player) {
      Replicates alone;
      for (const auto& draw : sample.draws) {
        const double share = sample.coalitions.cardinality(draw.row) / static_cast<double>(players);
        alone.add(draws * players * draw.weight * targets[draw.row] *
                  (sample.coalitions.contains(draw.row, player) - share));
      }
      expected.push_back(alone.error());
    }
    EXPECT_EQ("", mismatch(expected, reuse_errors(sample, targets).value(), rounding(1e4, largest(expected))));
  }
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  return std::pow(distance(a, b), 2);
}

// One draw gives x = n·w(S)·r(S)(1_S − s/n) with |1_S − s/n|² = s(n−s)/n and w(S) = 1/(q_s·s(n−s)), so that m draws
// have E|φ̂ − ψ|² = (Σ_s q_s E_s[r²] n/(q_s² s(n−s)) − |ψ − Δ/n|²)/m: for the kernel law (4H²_{n−1}·E[r(S)²·s(n−s)/n] −
// |ψ − Δ/n|²)/m.
TEST(DrawMeans, TheVarianceIsWhatTheLawOfSizesMakesIt) {
  constexpr int players = 8, replicates = 2000;
  constexpr std::int64_t draws = 60;
  const Solved solved = Solved::random(players);
  for (const DrawMean& studied : draw_means) {
    const SizeLaw law(studied.mass, players);
    const bool paired = studied.pairing == Pairing::complements;
    double second_moment = 0, kernel_moment = 0;
    for (std::size_t mask = 1; mask + 1 < solved.table.size(); ++mask) {
      const int size = std::popcount(mask);
      double r = paired ? (solved.table[mask] - solved.table[solved.table.size() - 1 - mask]) / 2 : solved.gain(mask);
      if (studied.centred) r -= solved.share() * size;
      const double probability = law.probability(size) / binomial(players, size);
      const double weight = kernel(players, size) / law.probability(size);
      const double length = static_cast<double>(size) * (players - size) / players;
      second_moment += probability * std::pow(players * weight * r, 2) * length;
      kernel_moment += probability * r * r * length;
    }
    if (studied.mass == SizeMass::shapley_kernel) {
      EXPECT_EQ("", mismatch(4 * std::pow(harmonic_number(players - 1), 2) * kernel_moment, second_moment,
                             rounding(4096, second_moment)));
    }
    const std::vector<double> equal(players, solved.share());
    const double expected = second_moment - squared_distance(solved.shapley, equal);
    Replicates found, promised;
    for (std::uint64_t seed = 0; seed < replicates; ++seed) {
      const Attribution one = solved.by(studied.name, 2 + draws * (paired ? 2 : 1), seed);
      const double error = squared_distance(one.values, solved.shapley);
      found.add(static_cast<double>(draws) * error);
      // The squares of the standard errors have the variance as their mean, exactly.
      promised.add(error - std::pow(norm(*one.standard_errors), 2));
    }
    EXPECT_EQ("", mismatch(expected, found.mean(), sampling(found.error()))) << studied.name;
    EXPECT_EQ("", mismatch(0, promised.mean(), sampling(promised.error()))) << studied.name;
  }
}

// The same law with r = u − ψ(S) for regression, to first order in 1/m: what its error comes from is the part of the
// game that is not additive.
TEST(DrawMeans, RegressionOnKernelDrawsHasTheVarianceOfItsResiduals) {
  constexpr int players = 8, replicates = 600;
  constexpr std::int64_t draws = 3000;
  const Solved solved = Solved::random(players);
  const SizeLaw law(SizeMass::shapley_kernel, players);
  double moment = 0;
  for (std::size_t mask = 1; mask + 1 < solved.table.size(); ++mask) {
    const int size = std::popcount(mask);
    double r = solved.gain(mask);
    for (std::size_t i = 0; i < players; ++i) r -= (mask >> i & 1) != 0 ? solved.shapley[i] : 0;
    moment += law.probability(size) / binomial(players, size) * r * r * size * (players - size) / players;
  }
  Replicates found;
  for (std::uint64_t replicate = 0; replicate < replicates; ++replicate) {
    Rng rng(32, "regression", 0, replicate);
    CountedGame game(*solved.game, {256});
    const Attribution one = fit_sample(game, sample_coalitions(Sampler::iid, law, draws, Pairing::none, rng), "test");
    found.add(static_cast<double>(draws) * squared_distance(one.values, solved.shapley));
  }
  // Next order: a few times n/m, here 1 %.
  const double expected = 4 * std::pow(harmonic_number(players - 1), 2) * moment;
  EXPECT_EQ("", mismatch(expected, found.mean(),
                         Tolerance{sampling(found.error()).bound + 4.0 * players / draws * expected, "sampling"}));
}

// Strata that have two values or more: the squares of the standard errors have the variance as their mean.
TEST(StratifiedMeans, StandardErrorsAreAsLargeAsTheErrors) {
  constexpr int players = 9, replicates = 2000;
  const Solved solved = Solved::random(players);
  for (const auto& [name, budget] : {std::pair("stratified", 20 + 2 * 63 * 2), std::pair("svarm", 500)}) {
    Replicates difference;
    for (std::uint64_t seed = 0; seed < replicates; ++seed) {
      const Attribution one = solved.by(name, budget, seed);
      EXPECT_LE(one.distinct, budget);
      if (!one.standard_errors) continue;
      difference.add(squared_distance(one.values, solved.shapley) - std::pow(norm(*one.standard_errors), 2));
    }
    EXPECT_GE(difference.count(), 0.99 * replicates) << name << ": errors are left out at random";
    EXPECT_EQ("", mismatch(0, difference.mean(), sampling(difference.error()))) << name;
  }
}

// What is exact in every sample: games that depend on the size alone, and for svarm all that happens at sizes 1 and n
// − 1.
TEST(StratifiedMeans, SizesAndTheBorderAreExplainedExactly) {
  constexpr int players = 9;
  Rng rng(35, "border");
  std::vector<double> by_size(players + 1), border(std::size_t{1} << players, 0.0), sizes(border.size());
  for (double& value : by_size) value = 5 * rng.normal();
  for (std::size_t mask = 0; mask < border.size(); ++mask) {
    const int size = std::popcount(mask);
    sizes[mask] = by_size[static_cast<std::size_t>(size)];
    if (size <= 1) border[mask] = 1 + rng.normal();
    if (size >= players - 1) border[mask] = 7 + rng.normal();
  }
  const Solved of_sizes = Solved::of(players, sizes), on_border = Solved::of(players, border);
  for (const char* name : {"stratified", "svarm"})
    EXPECT_EQ("", mismatch(of_sizes.shapley, of_sizes.by(name, 200, 1).values, rounding(1e4, largest(sizes)))) << name;
  EXPECT_EQ("", mismatch(on_border.shapley, on_border.by("svarm", 200, 1).values, rounding(1e4, largest(border))));
}

// With too few coalitions for every mean the budget is refused, not the mean left out.
TEST(StratifiedMeans, NoMeanIsEverEmpty) {
  for (const char* name : {"stratified", "svarm"}) {
    const Estimator& estimator = estimators::find(name);
    for (const int players : {7, 9, 12}) {
      const Solved solved = Solved::random(players);
      const Budget least = estimator.minimum(players);
      ASSERT_LT(least.coalitions, std::int64_t{1} << players);
      EXPECT_THROW(attribute(estimator, *solved.game, {least.coalitions - 1}, 1), InvalidArgument);
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        // NaN, the mean of nothing, would be refused.
        EXPECT_LE(attribute(estimator, *solved.game, least, seed).distinct, least.coalitions);
      }
    }
  }
}

/// v = 1[0 ∈ S](1 + s²/2) + 2·1[{1, 2, 3} ⊆ S] of five players.
Solved biased_game() {
  std::vector<double> table(32);
  for (std::size_t mask = 0; mask < 32; ++mask) {
    const int size = std::popcount(mask);
    table[mask] = ((mask & 1) != 0 ? 1 + size * size / 2.0 : 0) + ((mask & 14) == 14 ? 2 : 0);
  }
  return Solved::of(5, table);
}

/// n·(1[0 ∈ S] − s/n)·target, averaged over the coalitions of each size: what a row of that size adds to player 0 for a
/// weight of 1, when the players are relabelled at random. The law of the sample does not change under relabelling, so
/// the mean stays and most of the noise goes.
std::vector<double> relabelled_pulls(const Solved& solved, Pairing pairing) {
  std::vector<double> pulls(5, 0.0);
  for (std::size_t mask = 1; mask < 31; ++mask) {
    const int size = std::popcount(mask);
    const double target =
        pairing == Pairing::complements ? (solved.table[mask] - solved.table[31 - mask]) / 2 : solved.gain(mask);
    pulls[static_cast<std::size_t>(size)] += (5.0 * static_cast<double>(mask & 1) - size) * target / binomial(5, size);
  }
  return pulls;
}

// Six interior coalitions of five players. The expected biases come from summing over all orders in which new sizes can
// come up, with geometric numbers of repetitions between them.
TEST(DrawMeans, StoppingAtANumberOfDistinctCoalitionsBiasesThem) {
  const Solved solved = biased_game();
  EXPECT_EQ("", mismatch(6.5, solved.shapley[0], rounding(64, 16)));
  const SizeLaw law(SizeMass::shapley_kernel, 5);
  for (const auto& [sampler, pairing, known] :
       {std::tuple(Sampler::shapiq_compatible, Pairing::none, 0.007519),
        std::tuple(Sampler::shapiq_compatible, Pairing::complements, 0.011128),
        std::tuple(Sampler::iid, Pairing::none, 0.0), std::tuple(Sampler::iid, Pairing::complements, 0.0)}) {
    const std::vector<double> pulls = relabelled_pulls(solved, pairing);
    // The standard error is then below a sixth of the bias.
    const int replicates = known > 0 ? 300000 : 50000;
    Replicates bias;
    Rng rng(33, "biased");
    for (int replicate = 0; replicate < replicates; ++replicate) {
      const auto sample = sample_coalitions(sampler, law, 6, pairing, rng);
      double value = solved.share() - solved.shapley[0];
      for (std::size_t row = 0; row < sample.weights.size(); ++row)
        value += sample.weights[row] * pulls[static_cast<std::size_t>(sample.coalitions.cardinality(row))];
      bias.add(value);
    }
    EXPECT_EQ("", mismatch(known, bias.mean(), sampling(bias.error())));
    if (known > 0) {
      EXPECT_GT(bias.mean(), 5 * bias.error()) << "the bias does not show";
    }
  }
}

}  // namespace
}  // namespace opshap
