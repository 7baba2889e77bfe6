// How coalitions are drawn: the laws of sizes and subsets, and weights without bias.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "estimators/coalition_sampler.hpp"
#include "support/oracles.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using namespace estimators;

constexpr SizeMass all_masses[] = {SizeMass::shapley_kernel, SizeMass::uniform, SizeMass::square_root};
constexpr Pairing all_pairings[] = {Pairing::none, Pairing::complements};

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

/// As many draws as of any other for each of the classes, and every class drawn.
void expect_uniform(const std::map<std::uint64_t, double>& draws, std::size_t classes) {
  ASSERT_EQ(classes, draws.size());
  std::vector<double> observed;
  for (const auto& [row, count] : draws) observed.push_back(count);
  const std::vector<double> probability(classes, 1 / static_cast<double>(classes));
  EXPECT_LE(g_statistic(observed, probability), classes > 1 ? five_sigma(classes - 1) : 0);
}

/// The total weight of each layer: of a size, or of a pair's two sizes together, at the size that is at most n/2.
std::vector<double> layer_weights(const CoalitionSample& sample) {
  const int players = sample.coalitions.players();
  std::vector<double> weights(static_cast<std::size_t>(players), 0.0);
  for (std::size_t row = 0; row < sample.weights.size(); ++row) {
    const int size = sample.coalitions.cardinality(row);
    weights[static_cast<std::size_t>(sample.paired() ? std::min(size, players - size) : size)] += sample.weights[row];
  }
  return weights;
}

TEST(SizeLaw, ProbabilitiesAreTheMassesAndAddUpToOne) {
  for (const SizeMass mass : all_masses)
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
  const SizeLaw kernel_law(SizeMass::shapley_kernel, 5), uniform(SizeMass::uniform, 5), root(SizeMass::square_root, 5);
  EXPECT_EQ("", mismatch((1.0 / 4) / (2.0 / 4 + 2.0 / 6), kernel_law.probability(1), rounding(16, 1)));
  EXPECT_EQ("", mismatch(0.25, uniform.probability(1), rounding(16, 1)));
  EXPECT_EQ("", mismatch((1.0 / 2) / (2.0 / 2 + 2 / std::sqrt(6.0)), root.probability(1), rounding(16, 1)));
  EXPECT_THROW(SizeLaw(SizeMass::uniform, 1), InvalidArgument);
}

TEST(SizeLaw, DrawnSizesFollowIt) {
  constexpr int draws = 200000;
  for (const SizeMass mass : all_masses)
    for (const int players : {2, 3, 12, 33}) {
      const SizeLaw law(mass, players);
      Rng rng(22, "sizes", 0, static_cast<std::uint64_t>(players));
      std::vector<double> observed(static_cast<std::size_t>(players) - 1, 0.0), probability;
      for (int size = 1; size < players; ++size) probability.push_back(law.probability(size));
      for (int draw = 0; draw < draws; ++draw) ++observed[static_cast<std::size_t>(law.draw(rng)) - 1];
      EXPECT_LE(g_statistic(observed, probability), players > 2 ? five_sigma(observed.size() - 1) : 0) << players;
    }
}

// P(i, j ∈ S) = Σ_s q_s s(s−1)/(n(n−1)), for every two players alike. For the kernel it is (1 − 1/H_{n−1})/2 (Covert &
// Lee 2021).
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
    const auto sample = sample_coalitions(Sampler::iid, law, draws, Pairing::none, rng);
    ASSERT_EQ(static_cast<std::size_t>(draws), sample.draws.size());
    for (int i = 0; i < players; ++i)
      for (int j = 0; j < i; ++j) {
        double count = 0;
        for (const auto& draw : sample.draws)
          count += sample.coalitions.contains(draw.row, i) && sample.coalitions.contains(draw.row, j);
        EXPECT_EQ("", mismatch(together, count / draws, sampling(std::sqrt(together * (1 - together) / draws))));
      }
  }
}

TEST(Samplers, ConsecutiveDrawsAreIndependent) {
  constexpr int players = 4, draws = 100000;
  const SizeLaw law(SizeMass::square_root, players);
  Rng rng(24, "independence");
  const auto sample = sample_coalitions(Sampler::iid, law, draws, Pairing::none, rng);
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
    const auto sample = sample_coalitions(Sampler::without_replacement, law, 7, Pairing::none, rng);
    ASSERT_EQ(7u, sample.coalitions.size());
    for (std::size_t row = 0; row < 7; ++row)
      if (sample.coalitions.cardinality(row) == 3) ++triples[sample.coalitions.row(row)[0]];
  }
  expect_uniform(triples, 56);

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
  for (const auto& [row, count] : left_out) EXPECT_EQ(4, std::popcount(row));
  expect_uniform(left_out, 70);
}

// k_s = min(C(n, s), c) as far as whole coalitions allow, both of a pair, and never a pair of the middle size twice.
TEST(Samplers, CountsWithoutReplacementFillTheBudgetEvenly) {
  for (const SizeMass mass : all_masses)
    for (const Pairing pairing : all_pairings)
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

// Σ_rows weight·f(S) has the mean Σ_{0<s<n} W_S f(S) when, as subsets of a size are uniform, the weights of each size
// add up to 1/(s(n−s)) in the mean: without replacement they do so in every sample; a draw's do so times its
// probability.
TEST(Samplers, WeightsOfEachSizeAddUpToTheShapleyKernel) {
  for (const SizeMass mass : all_masses)
    for (const Pairing pairing : all_pairings)
      for (const int players : {2, 3, 5, 8, 64, 1030}) {
        const SizeLaw law(mass, players);
        const std::int64_t interior =
            players < 20 ? std::min(3 * players, (1 << players) - 2) : 3 * std::int64_t{players};
        Rng rng(27, "weights");
        const std::vector<double> weights =
            layer_weights(sample_coalitions(Sampler::without_replacement, law, interior, pairing, rng));
        const int layers = pairing == Pairing::complements ? players / 2 : players - 1;
        for (int size = 1; size <= layers; ++size) {
          const double expected =
              kernel(players, size) * (pairing == Pairing::complements && 2 * size < players ? 2 : 1);
          EXPECT_EQ("", mismatch(expected, weights[static_cast<std::size_t>(size)], rounding(4096, expected)))
              << "n=" << players << " s=" << size;
        }
        const auto drawn = sample_coalitions(Sampler::iid, law, interior, pairing, rng);
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

TEST(Samplers, EverySamplerWorksForThousandsOfPlayers) {
  // C(1029, 514) is the last middle binomial that a double can hold.
  for (const int players : {1024, 1029, 1030, 2048, 4096})
    for (const SizeMass mass : all_masses) {
      const SizeLaw law(mass, players);
      for (const Sampler sampler : {Sampler::iid, Sampler::shapiq_compatible, Sampler::without_replacement}) {
        const Pairing pairing = players % 4 == 0 ? Pairing::complements : Pairing::none;
        Rng rng(28, "large");
        const auto sample = sample_coalitions(sampler, law, players + 6, pairing, rng);
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

// P(|S| = s) ∝ 1/(s(n−s)), the Shapley kernel summed over the C(n,s) coalitions of a size.
TEST(KernelLaw, ProbabilitiesAreTheShapleyKernelOfASize) {
  for (const int players : {2, 3, 7, 64, 65, 1024, 65536}) {
    const KernelLaw law(players);
    double total = 0, kernel_total = 0;
    for (int s = 1; s < players; ++s) {
      total += law.probability(s);
      kernel_total += kernel(players, s);
    }
    EXPECT_NEAR(1, total, 1e-12) << players;  // rounding of up to 65535 additions of numbers below 1
    for (int s = 1; s < players; ++s) EXPECT_NEAR(kernel(players, s) / kernel_total, law.probability(s), 1e-12) << s;
  }
}

TEST(KernelLaw, SizesFollowTheKernel) {
  for (const int players : {3, 10, 64}) {
    const KernelLaw law(players);
    Rng rng(11, "kernel law", 0, static_cast<std::uint64_t>(players));
    std::vector<double> observed(static_cast<std::size_t>(players) - 1), probability;
    for (int s = 1; s < players; ++s) probability.push_back(kernel(players, s));
    const double total = std::accumulate(probability.begin(), probability.end(), 0.0);
    for (double& p : probability) p /= total;
    for (int draw = 0; draw < 400000; ++draw) ++observed[static_cast<std::size_t>(law.draw_size(rng)) - 1];
    EXPECT_LE(g_statistic(observed, probability), five_sigma(observed.size() - 1)) << players;
  }
}

TEST(KernelLaw, SubsetsOfASizeAreUniform) {
  constexpr int players = 7;
  const KernelLaw law(players);
  for (int size = 0; size <= players; ++size) {
    Rng rng(12, "kernel law", 1, static_cast<std::uint64_t>(size));
    SCOPED_TRACE(size);
    std::map<std::uint64_t, double> counts;
    std::uint64_t row = 0;
    for (int draw = 0; draw < 100000; ++draw) {
      row = 0;
      law.draw_subset(rng, size, {&row, 1});
      ASSERT_EQ(size, cardinality({&row, 1}));
      ++counts[row];
    }
    expect_uniform(counts, static_cast<std::size_t>(binomial(players, size)));
  }
}

TEST(KernelLaw, RowsStayInsideTheirPlayers) {
  for (const int players : {2, 63, 64, 65, 1000, 65536}) {
    const KernelLaw law(players);
    Rng rng(13, "kernel law", 2, static_cast<std::uint64_t>(players));
    for (int draw = 0; draw < 50; ++draw) {
      const int size = law.draw_size(rng);
      ASSERT_GE(size, 1);
      ASSERT_LT(size, players);
      Coalitions coalitions(players, 1);
      law.draw_subset(rng, size, coalitions.row(0));
      ASSERT_EQ(size, coalitions.cardinality(0));
      ASSERT_EQ(0u, players % 64 != 0 ? coalitions.row(0).back() >> (players % 64) : 0);
    }
  }
}

TEST(KernelLaw, RefusesFewerThanTwoPlayers) { EXPECT_THROW(KernelLaw(1), InvalidArgument); }

}  // namespace
}  // namespace opshap
