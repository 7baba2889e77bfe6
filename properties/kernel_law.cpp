#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"

namespace opshap {
namespace {

/// G = 2 Σ observed·log(observed/expected), asymptotically χ² with (classes − 1) degrees of freedom.
double g_statistic(const std::vector<std::int64_t>& observed, const std::vector<double>& probability) {
  const auto draws = static_cast<double>(std::accumulate(observed.begin(), observed.end(), std::int64_t{0}));
  double g = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (observed[i] > 0)
      g += 2 * static_cast<double>(observed[i]) * std::log(static_cast<double>(observed[i]) / (draws * probability[i]));
  }
  return g;
}

/// A bound that a χ² number with that many degrees of freedom passes with probability 1 − 3e-7 (five sigma): Wilson and
/// Hilferty's cube.
double five_sigma(std::size_t degrees) {
  const double d = static_cast<double>(degrees), c = 2 / (9 * d);
  return d * std::pow(1 - c + 5 * std::sqrt(c), 3);
}

// P(|S| = s) ∝ 1/(s(n−s)), the Shapley kernel summed over the C(n,s) coalitions of a size.
TEST(KernelLaw, ProbabilitiesAreTheShapleyKernelOfASize) {
  for (const int players : {2, 3, 7, 64, 65, 1024, 65536}) {
    const KernelLaw law(players);
    double total = 0, kernel_total = 0;
    for (int s = 1; s < players; ++s) {
      total += law.probability(s);
      kernel_total += 1.0 / (static_cast<double>(s) * (players - s));
    }
    EXPECT_NEAR(1, total, 1e-12) << players;  // rounding of up to 65535 additions of numbers below 1
    EXPECT_NEAR(1.0 / (players - 1) / kernel_total, law.probability(1), 1e-12);
  }
}

TEST(KernelLaw, SizesFollowTheKernel) {
  for (const int players : {3, 10, 64}) {
    const KernelLaw law(players);
    Rng rng(11, "kernel law", 0, static_cast<std::uint64_t>(players));
    std::vector<std::int64_t> observed(static_cast<std::size_t>(players) - 1);
    std::vector<double> probability;
    for (int s = 1; s < players; ++s) probability.push_back(1.0 / (static_cast<double>(s) * (players - s)));
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
    std::map<std::uint64_t, std::int64_t> counts;
    std::uint64_t row = 0;
    for (int draw = 0; draw < 100000; ++draw) {
      row = 0;
      law.draw_subset(rng, size, {&row, 1});
      ASSERT_EQ(size, cardinality({&row, 1}));
      ++counts[row];
    }
    const double subsets =
        std::round(std::exp(std::lgamma(players + 1) - std::lgamma(size + 1) - std::lgamma(players - size + 1)));
    ASSERT_EQ(static_cast<std::size_t>(subsets), counts.size());
    std::vector<std::int64_t> observed;
    for (const auto& [subset, count] : counts) observed.push_back(count);
    const std::vector<double> probability(observed.size(), 1 / subsets);
    EXPECT_LE(g_statistic(observed, probability), observed.size() > 1 ? five_sigma(observed.size() - 1) : 0) << size;
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
