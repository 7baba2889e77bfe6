// How coalitions are drawn: the laws of sizes and subsets, weights without bias, and the estimators that are means over draws.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/registry.hpp"
#include "estimators/sample_regression.hpp"
#include "estimators/sample_reuse.hpp"
#include "games/additive_game.hpp"
#include "games/table_game.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

constexpr SizeMass all_masses[] = {SizeMass::shapley_kernel, SizeMass::uniform, SizeMass::square_root};
constexpr Pairing all_pairings[] = {Pairing::none, Pairing::complements};

double kernel(int players, int size) { return 1.0 / (static_cast<double>(size) * (players - size)); }

double binomial(int n, int k) {
  return std::round(std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)));
}

/// G = 2 Σ observed·log(observed/expected), asymptotically χ² with (classes − 1) degrees of freedom.
double g_statistic(const std::vector<double>& observed, const std::vector<double>& probability) {
  const double draws = std::accumulate(observed.begin(), observed.end(), 0.0);
  double g = 0;
  for (std::size_t i = 0; i < observed.size(); ++i)
    if (observed[i] > 0) g += 2 * observed[i] * std::log(observed[i] / (draws * probability[i]));
  return g;
}

/// A bound that a χ² number passes with probability 1 − 3e-7 (five sigma): Wilson and Hilferty's cube.
double five_sigma(std::size_t degrees) {
  const auto d = static_cast<double>(degrees);
  const double c = 2 / (9 * d);
  return d * std::pow(1 - c + 5 * std::sqrt(c), 3);
}

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
    return {table, table_game(players, table), shapley_values_of_table(table)};
  }
  double gain(std::size_t mask) const { return table[mask] - table.front(); }
  double share() const { return (table.back() - table.front()) / static_cast<double>(shapley.size()); }
};

/// The size of a row's pair that is at most n/2, or the size itself.
int layer(const CoalitionSample& sample, std::size_t row) {
  const int size = sample.coalitions.cardinality(row);
  return sample.paired() ? std::min(size, sample.coalitions.players() - size) : size;
}

/// The total weight of each layer.
std::vector<double> layer_weights(const CoalitionSample& sample) {
  std::vector<double> weights(static_cast<std::size_t>(sample.coalitions.players()), 0.0);
  for (std::size_t row = 0; row < sample.weights.size(); ++row)
    weights[static_cast<std::size_t>(layer(sample, row))] += sample.weights[row];
  return weights;
}

/// Σ of the kernel over the coalitions of a layer.
double layer_kernel(int players, int size, Pairing pairing) {
  return kernel(players, size) * (pairing == Pairing::complements && 2 * size < players ? 2 : 1);
}

TEST(SizeLaw, ProbabilitiesAreTheMassesAndAddUpToOne) {
  for (const SizeMass mass : all_masses) {
    for (const int players : {2, 3, 8, 65, 1024, 1030, 4096}) {
      const SizeLaw law(mass, players);
      double total = 0;
      for (int size = 1; size < players; ++size) {
        total += law.probability(size);
        EXPECT_EQ(law.probability(size), law.probability(players - size));
        EXPECT_EQ("", mismatch(kernel(players, size), law.kernel_over_mass(size) * law.mass(size),
                               rounding(4, kernel(players, size))));
      }
      EXPECT_EQ("", mismatch(1, total, rounding(players, 1)));
    }
  }
  const SizeLaw kernel_law(SizeMass::shapley_kernel, 5), uniform(SizeMass::uniform, 5), root(SizeMass::square_root, 5);
  EXPECT_EQ("", mismatch((1.0 / 4) / (2.0 / 4 + 2.0 / 6), kernel_law.probability(1), rounding(16, 1)));
  EXPECT_EQ("", mismatch(0.25, uniform.probability(1), rounding(16, 1)));
  EXPECT_EQ("", mismatch((1.0 / 2) / (2.0 / 2 + 2 / std::sqrt(6.0)), root.probability(1), rounding(16, 1)));
  EXPECT_THROW(SizeLaw(SizeMass::uniform, 1), InvalidArgument);
}

TEST(SizeLaw, DrawnSizesFollowIt) {
  constexpr int draws = 200000;
  for (const SizeMass mass : all_masses) {
    for (const int players : {2, 3, 12, 33}) {
      const SizeLaw law(mass, players);
      Rng rng(22, "sizes", 0, static_cast<std::uint64_t>(players));
      std::vector<double> observed(static_cast<std::size_t>(players) - 1, 0.0), probability;
      for (int size = 1; size < players; ++size) probability.push_back(law.probability(size));
      for (int draw = 0; draw < draws; ++draw) ++observed[static_cast<std::size_t>(law.draw(rng)) - 1];
      EXPECT_LE(g_statistic(observed, probability), players > 2 ? five_sigma(observed.size() - 1) : 0) << players;
    }
  }
}

// P(i, j ∈ S) = Σ_s q_s s(s−1)/(n(n−1)), for every two players alike. For the kernel it is (1 − 1/H_{n−1})/2 (Covert & Lee 2021).
TEST(Samplers, PairsOfPlayersAreDrawnTogetherEquallyOften) {
  constexpr int players = 7, draws = 100000;
  for (const SizeMass mass : all_masses) {
    const SizeLaw law(mass, players);
    double together = 0;
    for (int size = 1; size < players; ++size)
      together += law.probability(size) * size * (size - 1) / (players * (players - 1.0));
    if (mass == SizeMass::shapley_kernel) {
      EXPECT_EQ("", mismatch((1 - 1 / 2.45) / 2, together, rounding(64, 1)));  // H_6 = 2.45
    }
    Rng rng(23, "pairs");
    const CoalitionSample sample = sample_coalitions(Sampler::iid, law, draws, Pairing::none, rng);
    ASSERT_EQ(static_cast<std::size_t>(draws), sample.draws.size());
    for (int i = 0; i < players; ++i) {
      for (int j = 0; j < i; ++j) {
        double count = 0;
        for (const auto& draw : sample.draws)
          count += sample.coalitions.contains(draw.row, i) && sample.coalitions.contains(draw.row, j);
        EXPECT_EQ("", mismatch(together, count / draws, sampling(std::sqrt(together * (1 - together) / draws))));
      }
    }
  }
}

TEST(Samplers, ConsecutiveDrawsAreIndependent) {
  constexpr int players = 4, draws = 100000;
  const SizeLaw law(SizeMass::square_root, players);
  Rng rng(24, "independence");
  const CoalitionSample sample = sample_coalitions(Sampler::iid, law, draws, Pairing::none, rng);
  std::vector<double> observed(9, 0.0), probability;
  for (std::size_t draw = 0; draw + 1 < sample.draws.size(); draw += 2) {
    const int first = sample.coalitions.cardinality(sample.draws[draw].row),
              second = sample.coalitions.cardinality(sample.draws[draw + 1].row);
    ++observed[static_cast<std::size_t>(3 * (first - 1) + second - 1)];
  }
  for (int first = 1; first < players; ++first)
    for (int second = 1; second < players; ++second)
      probability.push_back(law.probability(first) * law.probability(second));
  EXPECT_LE(g_statistic(observed, probability), five_sigma(8));
}

// One coalition of each size when seven are wanted: all C(8, 3) are equally likely.
TEST(Samplers, SubsetsTakenWithoutReplacementAreUniform) {
  constexpr int players = 8, samples = 40000;
  const SizeLaw law(SizeMass::uniform, players);
  std::map<std::uint64_t, double> triples, left_out;
  for (std::uint64_t item = 0; item < samples; ++item) {
    Rng rng(25, "subsets", 0, item);
    const CoalitionSample sample = sample_coalitions(Sampler::without_replacement, law, 7, Pairing::none, rng);
    ASSERT_EQ(7u, sample.coalitions.size());
    for (std::size_t row = 0; row < 7; ++row)
      if (sample.coalitions.cardinality(row) == 3) ++triples[sample.coalitions.row(row)[0]];
  }
  ASSERT_EQ(56u, triples.size());
  std::vector<double> observed;
  for (const auto& [row, count] : triples) observed.push_back(count);
  EXPECT_LE(g_statistic(observed, std::vector<double>(56, 1 / 56.0)), five_sigma(55));

  // All but one, of the middle size: which is left out is uniform as well.
  for (std::uint64_t item = 0; item < samples / 8; ++item) {
    Rng rng(26, "left out", 0, item);
    const CoalitionSample sample = sample_coalitions(Sampler::without_replacement, law, 253, Pairing::none, rng);
    ASSERT_EQ(253u, sample.coalitions.size());
    std::uint64_t missing = 0;
    for (std::uint64_t mask = 1; mask < 255; ++mask) missing ^= mask;
    for (std::size_t row = 0; row < 253; ++row) missing ^= sample.coalitions.row(row)[0];
    ++left_out[missing];
  }
  ASSERT_EQ(70u, left_out.size());
  observed.clear();
  for (const auto& [row, count] : left_out) {
    EXPECT_EQ(4, std::popcount(row));
    observed.push_back(count);
  }
  EXPECT_LE(g_statistic(observed, std::vector<double>(70, 1 / 70.0)), five_sigma(69));
}

// k_s = min(C(n, s), c) as far as whole coalitions allow, both of a pair, and never a pair of the middle size twice.
TEST(Samplers, CountsWithoutReplacementFillTheBudgetEvenly) {
  for (const SizeMass mass : all_masses) {
    for (const Pairing pairing : all_pairings) {
      for (const int players : {2, 3, 4, 7, 8, 15, 16, 64}) {
        const SizeLaw law(mass, players);
        const int together = pairing == Pairing::complements ? 2 : 1;
        const std::int64_t layers = pairing == Pairing::complements ? players / 2 : players - 1;
        const std::int64_t all = players < 20 ? (std::int64_t{1} << players) - 2 : 100000;
        for (std::int64_t interior = together * layers; interior <= all; interior += 1 + interior / 8) {
          const std::vector<std::int64_t> counts = size_counts(law, interior, pairing);
          EXPECT_EQ(interior - interior % together, std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
          double least_open = std::numeric_limits<double>::infinity(), most = 0;
          for (int size = 1; size < players; ++size) {
            const auto count = static_cast<double>(counts[static_cast<std::size_t>(size)]);
            EXPECT_GE(count, 1);
            EXPECT_LE(count, binomial(players, size));
            if (pairing == Pairing::complements) {
              EXPECT_EQ(counts[static_cast<std::size_t>(size)], counts[static_cast<std::size_t>(players - size)]);
            }
            // Rounding moves a count by less than one coalition, or one pair in the middle.
            const double slack = 2 * size == players ? together : 1;
            if (count > slack) most = std::max(most, (count - slack) / law.mass(size));
            if (count < binomial(players, size)) least_open = std::min(least_open, (count + slack) / law.mass(size));
          }
          EXPECT_LT(most, least_open * (1 + 1e-9)) << "n=" << players << " interior=" << interior;
        }
        EXPECT_THROW(size_counts(law, together * layers - 1, pairing), InvalidArgument);
        if (players >= 20) continue;
        for (const std::int64_t beyond : {0, 10}) {
          const std::vector<std::int64_t> counts = size_counts(law, all + beyond, pairing);
          for (int size = 1; size < players; ++size)
            EXPECT_EQ(binomial(players, size), static_cast<double>(counts[static_cast<std::size_t>(size)]));
        }
      }
    }
  }
}

// Σ_rows weight·f(S) has the mean Σ_{0<s<n} W_S f(S) when, as subsets of a size are uniform, the weights of each size add up to 1/(s(n−s)) in the mean:
// without replacement they do so in every sample; a draw's do so times its probability.
TEST(Samplers, WeightsOfEachSizeAddUpToTheShapleyKernel) {
  for (const SizeMass mass : all_masses) {
    for (const Pairing pairing : all_pairings) {
      for (const int players : {2, 3, 5, 8, 64, 1030}) {
        const SizeLaw law(mass, players);
        const std::int64_t interior =
            players < 20 ? std::min(3 * players, (1 << players) - 2) : 3 * std::int64_t{players};
        Rng rng(27, "weights");
        const std::vector<double> weights =
            layer_weights(sample_coalitions(Sampler::without_replacement, law, interior, pairing, rng));
        const int layers = pairing == Pairing::complements ? players / 2 : players - 1;
        for (int size = 1; size <= layers; ++size) {
          const double expected = layer_kernel(players, size, pairing);
          EXPECT_EQ("", mismatch(expected, weights[static_cast<std::size_t>(size)], rounding(4096, expected)))
              << "n=" << players << " s=" << size;
        }
        const CoalitionSample drawn = sample_coalitions(Sampler::iid, law, interior, pairing, rng);
        const auto draws = static_cast<double>(drawn.draws.size());
        EXPECT_EQ(interior / (drawn.paired() ? 2 : 1), static_cast<std::int64_t>(draws));
        std::vector<double> of_draws(drawn.weights.size(), 0.0);
        for (const auto& draw : drawn.draws) {
          const int size = drawn.coalitions.cardinality(draw.row);
          // A pair is drawn by either of its coalitions.
          const double probability = law.probability(size), expected = kernel(players, size);
          EXPECT_EQ("", mismatch(expected, draws * probability * draw.weight, rounding(64, expected)));
          of_draws[draw.row] += draw.weight;
        }
        EXPECT_EQ("", mismatch(of_draws, drawn.weights, rounding(64, largest(drawn.weights))));
      }
    }
  }
}

TEST(Samplers, EverySamplerWorksForThousandsOfPlayers) {
  // C(1029, 514) is the last middle binomial that a double can hold.
  for (const int players : {1024, 1029, 1030, 2048, 4096}) {
    for (const SizeMass mass : all_masses) {
      const SizeLaw law(mass, players);
      for (const Sampler sampler : {Sampler::iid, Sampler::shapiq_compatible, Sampler::without_replacement}) {
        const Pairing pairing = players % 4 == 0 ? Pairing::complements : Pairing::none;
        Rng rng(28, "large");
        const CoalitionSample sample = sample_coalitions(sampler, law, players + 6, pairing, rng);
        EXPECT_LE(sample.coalitions.size(), static_cast<std::size_t>(players) + 6);
        EXPECT_GE(sample.coalitions.size(), static_cast<std::size_t>(players) / 4);
        double total = 0;
        for (std::size_t row = 0; row < sample.weights.size(); ++row) {
          const int size = sample.coalitions.cardinality(row);
          ASSERT_TRUE(size > 0 && size < players);
          ASSERT_TRUE(std::isfinite(sample.weights[row]) && sample.weights[row] > 0) << size;
          total += sample.weights[row];
        }
        if (sampler != Sampler::without_replacement && mass != SizeMass::shapley_kernel) continue;
        double expected = 0;
        for (int size = 1; size < players; ++size) expected += kernel(players, size);
        EXPECT_EQ("", mismatch(expected, total, rounding(players, expected))) << players;
      }
    }
  }
  Rng rng(29, "large");
  for (const int players : {1030, 4096}) {
    std::vector<double> weights(static_cast<std::size_t>(players));
    for (double& weight : weights) weight = rng.normal();
    const auto game = additive_game(weights, 3);
    for (const char* name :
         {"kernel_shap_unbiased", "kernel_shap_unbiased_centred", "kernel_shap_unbiased_paired", "msr"}) {
      const Attribution found = attribute(estimators::find(name), *game, {200}, 1);
      EXPECT_LE(found.distinct, 200);
      EXPECT_EQ("", mismatch(0, found.efficiency_gap(), rounding(1e6, 4096))) << name;
    }
  }
}

TEST(Samplers, TheSameStreamGivesTheSameSample) {
  const SizeLaw law(SizeMass::square_root, 20);
  for (const Sampler sampler : {Sampler::iid, Sampler::shapiq_compatible, Sampler::without_replacement}) {
    Rng first(30), second(30);
    const CoalitionSample a = sample_coalitions(sampler, law, 101, Pairing::complements, first),
                          b = sample_coalitions(sampler, law, 101, Pairing::complements, second);
    ASSERT_EQ(a.weights, b.weights);
    for (std::size_t row = 0; row < a.coalitions.size(); ++row)
      ASSERT_EQ(cardinality(a.coalitions.row(row)), cardinality(b.coalitions.row(row)));
    const Coalitions all = all_coalitions(a);
    ASSERT_EQ(2 * a.coalitions.size(), all.size());
    EXPECT_LE(all.size(), 100u);
    for (std::size_t row = 0; row < all.size(); row += 2)
      EXPECT_EQ(20, all.cardinality(row) + all.cardinality(row + 1));
  }
}

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

/// Which coalition was evaluated, other than ∅ and N; of a pair the smaller mask.
class LastSeen final : public Game {
 public:
  explicit LastSeen(const Game& game) : game_(game) {}
  int players() const override { return game_.players(); }
  std::vector<double> values(const Coalitions& coalitions) const override {
    const std::uint64_t grand = (std::uint64_t{1} << players()) - 1;
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      const std::uint64_t mask = coalitions.row(row)[0];
      if (mask != 0 && mask != grand) seen = row > 0 ? std::min(seen, mask) : mask;
    }
    return game_.values(coalitions);
  }
  mutable std::uint64_t seen = 0;

 private:
  const Game& game_;
};

// Without statistics: with the least budget the estimate is a function of one draw, and every draw comes up for some seed. Weighted with the probabilities of the
// draws these estimates add up to the Shapley values.
TEST(DrawMeans, TheMeanOverAllDrawsIsTheShapleyValue) {
  for (const DrawMean& studied : draw_means) {
    for (const int players : {2, 3, 4, 6}) {
      const Solved solved = Solved::random(players);
      const LastSeen game(*solved.game);
      const SizeLaw law(studied.mass, players);
      const bool paired = studied.pairing == Pairing::complements;
      const std::size_t units = ((std::size_t{1} << players) - 2) / (paired ? 2 : 1);
      std::map<std::uint64_t, std::vector<double>> estimates;
      if (paired && players == 2) continue;  // the one pair is all there is
      for (std::uint64_t seed = 0; estimates.size() < units && seed < 20000; ++seed) {
        const Attribution found = attribute(estimators::find(studied.name), game, {paired ? 4 : 3}, seed);
        EXPECT_FALSE(found.standard_errors.has_value()) << "one draw has no spread";
        estimates[game.seen] = found.values;
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
  for (const SizeMass mass : all_masses) {
    const SizeLaw law(mass, players);
    std::vector<double> weight_of_size(players, 0.0);
    Rng rng(31, "one draw");
    for (int draw = 0; draw < 1000; ++draw) {
      const CoalitionSample one = sample_coalitions(Sampler::iid, law, 1, Pairing::none, rng);
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

TEST(DrawMeans, StandardErrorsAreThoseOfTheMeanOverDraws) {
  constexpr int players = 5;
  for (const Pairing pairing : all_pairings) {
    Rng rng(34, "errors");
    const CoalitionSample sample =
        sample_coalitions(Sampler::iid, SizeLaw(SizeMass::square_root, players), 20, pairing, rng);
    std::vector<double> targets;
    for (std::size_t row = 0; row < sample.weights.size(); ++row) targets.push_back(3 + rng.normal());
    const auto draws = static_cast<double>(sample.draws.size());
    std::vector<double> expected;
    for (int player = 0; player < players; ++player) {
      double sum = 0, squares = 0;
      for (const auto& draw : sample.draws) {
        const double share = sample.coalitions.cardinality(draw.row) / static_cast<double>(players);
        const double alone =
            draws * players * draw.weight * targets[draw.row] * (sample.coalitions.contains(draw.row, player) - share);
        sum += alone;
        squares += alone * alone;
      }
      expected.push_back(std::sqrt((squares - sum * sum / draws) / (draws - 1) / draws));
    }
    EXPECT_EQ("", mismatch(expected, reuse_errors(sample, targets).value(), rounding(1e4, largest(expected))));
  }
}

/// The mean over replicates, and its standard error.
struct Mean {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  double value() const { return sum / count; }
  double error() const { return std::sqrt((squares / count - value() * value()) / (count - 1)); }
};

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// One draw gives x = n·w(S)·r(S)(1_S − s/n) with |1_S − s/n|² = s(n−s)/n and w(S) = 1/(q_s·s(n−s)), so that m draws have
// E|φ̂ − ψ|² = (Σ_s q_s E_s[r²] n/(q_s² s(n−s)) − |ψ − Δ/n|²)/m: for the kernel law (4H²_{n−1}·E[r(S)²·s(n−s)/n] − |ψ − Δ/n|²)/m.
TEST(DrawMeans, TheVarianceIsWhatTheLawOfSizesMakesIt) {
  constexpr int players = 8, replicates = 2000;
  constexpr std::int64_t draws = 60;
  const Solved solved = Solved::random(players);
  double harmonic = 0;
  for (int k = 1; k < players; ++k) harmonic += 1.0 / k;
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
      EXPECT_EQ("", mismatch(4 * harmonic * harmonic * kernel_moment, second_moment, rounding(4096, second_moment)));
    }
    const std::vector<double> equal(players, solved.share());
    const double expected = second_moment - squared_distance(solved.shapley, equal);
    Mean found, promised;
    for (std::uint64_t seed = 0; seed < replicates; ++seed) {
      const Attribution one =
          attribute(estimators::find(studied.name), *solved.game, {2 + draws * (paired ? 2 : 1)}, seed);
      const double error = squared_distance(one.values, solved.shapley);
      found.add(static_cast<double>(draws) * error);
      // The squares of the standard errors have the variance as their mean, exactly.
      promised.add(error - squared_distance(*one.standard_errors, std::vector<double>(players, 0.0)));
    }
    EXPECT_EQ("", mismatch(expected, found.value(), sampling(found.error()))) << studied.name;
    EXPECT_EQ("", mismatch(0, promised.value(), sampling(promised.error()))) << studied.name;
  }
}

// The same law with r = u − ψ(S) for regression, to first order in 1/m: what its error comes from is the part of the game that is not additive.
TEST(DrawMeans, RegressionOnKernelDrawsHasTheVarianceOfItsResiduals) {
  constexpr int players = 8, replicates = 600;
  constexpr std::int64_t draws = 3000;
  const Solved solved = Solved::random(players);
  const SizeLaw law(SizeMass::shapley_kernel, players);
  double harmonic = 0, moment = 0;
  for (int k = 1; k < players; ++k) harmonic += 1.0 / k;
  for (std::size_t mask = 1; mask + 1 < solved.table.size(); ++mask) {
    const int size = std::popcount(mask);
    double r = solved.gain(mask);
    for (std::size_t i = 0; i < players; ++i) r -= (mask >> i & 1) != 0 ? solved.shapley[i] : 0;
    moment += law.probability(size) / binomial(players, size) * r * r * size * (players - size) / players;
  }
  Mean found;
  for (std::uint64_t replicate = 0; replicate < replicates; ++replicate) {
    Rng rng(32, "regression", 0, replicate);
    CountedGame game(*solved.game, {256});
    const Attribution one = fit_sample(game, sample_coalitions(Sampler::iid, law, draws, Pairing::none, rng), "test");
    found.add(static_cast<double>(draws) * squared_distance(one.values, solved.shapley));
  }
  // Next order: a few times n/m, here 1 %.
  const double expected = 4 * harmonic * harmonic * moment;
  EXPECT_EQ("", mismatch(expected, found.value(),
                         Tolerance{sampling(found.error()).bound + 4.0 * players / draws * expected, "sampling"}));
}

// Strata that have two values or more: the squares of the standard errors have the variance as their mean.
TEST(StratifiedMeans, StandardErrorsAreAsLargeAsTheErrors) {
  constexpr int players = 9, replicates = 2000;
  const Solved solved = Solved::random(players);
  struct Case {
    const char* name;
    std::int64_t budget;
  };
  for (const Case& studied : {Case{"stratified", 20 + 2 * 63 * 2}, Case{"svarm", 500}}) {
    Mean difference;
    for (std::uint64_t seed = 0; seed < replicates; ++seed) {
      const Attribution one = attribute(estimators::find(studied.name), *solved.game, {studied.budget}, seed);
      EXPECT_LE(one.distinct, studied.budget);
      if (!one.standard_errors) continue;
      difference.add(squared_distance(one.values, solved.shapley) -
                     squared_distance(*one.standard_errors, std::vector<double>(players, 0.0)));
    }
    EXPECT_GE(difference.count, 0.99 * replicates) << studied.name << ": errors are left out at random";
    EXPECT_EQ("", mismatch(0, difference.value(), sampling(difference.error()))) << studied.name;
  }
}

// What is exact in every sample: games that depend on the size alone, and for svarm all that happens at sizes 1 and n − 1.
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
  for (const char* name : {"stratified", "svarm"}) {
    EXPECT_EQ("", mismatch(of_sizes.shapley, attribute(estimators::find(name), *of_sizes.game, {200}, 1).values,
                           rounding(1e4, largest(sizes))))
        << name;
  }
  EXPECT_EQ("", mismatch(on_border.shapley, attribute(estimators::find("svarm"), *on_border.game, {200}, 1).values,
                         rounding(1e4, largest(border))));
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
        const Attribution found = attribute(estimator, *solved.game, least, seed);
        EXPECT_LE(found.distinct, least.coalitions);
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

/// n·(1[0 ∈ S] − s/n)·target, averaged over the coalitions of each size: what a row of that size adds to player 0 for a weight of 1, when the players are
/// relabelled at random. The law of the sample does not change under relabelling, so the mean stays and most of the noise goes.
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

// Six interior coalitions of five players. The expected biases come from summing over all orders in which new sizes can come up, with geometric numbers of
// repetitions between them.
TEST(Samplers, StoppingAtANumberOfDistinctCoalitionsBiasesTheMeanOverDraws) {
  const Solved solved = biased_game();
  EXPECT_EQ("", mismatch(6.5, solved.shapley[0], rounding(64, 16)));
  const SizeLaw law(SizeMass::shapley_kernel, 5);
  struct Case {
    Sampler sampler;
    Pairing pairing;
    double bias;
  };
  for (const Case& known : {Case{Sampler::shapiq_compatible, Pairing::none, 0.007519},
                            Case{Sampler::shapiq_compatible, Pairing::complements, 0.011128},
                            Case{Sampler::iid, Pairing::none, 0}, Case{Sampler::iid, Pairing::complements, 0}}) {
    const std::vector<double> pulls = relabelled_pulls(solved, known.pairing);
    // The standard error is then below a sixth of the bias.
    const int replicates = known.bias > 0 ? 300000 : 50000;
    Mean bias;
    Rng rng(33, "biased");
    for (int replicate = 0; replicate < replicates; ++replicate) {
      const CoalitionSample sample = sample_coalitions(known.sampler, law, 6, known.pairing, rng);
      double value = solved.share() - solved.shapley[0];
      for (std::size_t row = 0; row < sample.weights.size(); ++row)
        value += sample.weights[row] * pulls[static_cast<std::size_t>(sample.coalitions.cardinality(row))];
      bias.add(value);
    }
    EXPECT_EQ("", mismatch(known.bias, bias.value(), sampling(bias.error())));
    if (known.bias > 0) {
      EXPECT_GT(bias.value(), 5 * bias.error()) << "the bias does not show";
    }
  }
}

}  // namespace
}  // namespace opshap
