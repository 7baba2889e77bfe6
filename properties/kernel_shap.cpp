// The regression behind KernelSHAP: its identities, its sample, its rank, and its agreement with a dense least-squares
// solution.

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "games/unanimity.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

estimators::CoalitionSample sample_kernel(int players, std::int64_t interior, estimators::Pairing pairing, Rng& rng) {
  return estimators::sample_coalitions(estimators::Sampler::shapiq_compatible,
                                       estimators::SizeLaw(estimators::SizeMass::shapley_kernel, players), interior,
                                       pairing, rng);
}

/// Every coalition between ∅ and N once, with its kernel weight, ordered by size.
estimators::CoalitionSample whole_kernel(int players) {
  Rng rng(1);
  estimators::CoalitionSample sample =
      sample_kernel(players, (std::int64_t{1} << players) - 2, estimators::Pairing::none, rng);
  EXPECT_TRUE(sample.draws.empty());
  EXPECT_EQ((std::size_t{1} << players) - 2, sample.weights.size());
  return sample;
}

/// v(S) − v(∅) − sΔ/n for the rows.
std::vector<double> centred_gains(const Table& table, const Coalitions& coalitions) {
  std::vector<double> targets;
  for (std::size_t row = 0; row < coalitions.size(); ++row) {
    targets.push_back(table.values[coalitions.row(row)[0]] - table.empty() -
                      table.gain() * coalitions.cardinality(row) / table.players);
  }
  return targets;
}

double harmonic(int n) {
  double sum = 0;
  for (int k = 1; k <= n; ++k) sum += 1.0 / k;
  return sum;
}

// Charnes, Golany, Keane, Rousseau (1988): the Shapley value is the kernel-weighted least-squares fit of an additive
// game with φ(N) = v(N).
TEST(KernelShap, RegressionOnAllCoalitionsIsTheShapleyValue) {
  for_all([] {
    const Table table = *rc::gen::suchThat(any_game(10), [](const Table& any) { return any.players >= 2; });
    const estimators::CoalitionSample sample = whole_kernel(table.players);
    const estimators::KernelRegression regression(sample.coalitions, sample.weights, "test");
    std::vector<double> found = regression.fit(centred_gains(table, sample.coalitions));
    for (double& value : found) value += table.gain() / table.players;
    RC_ASSERT(mismatch(textbook_shapley_values(table), found, rounding(1e4, table.scale())) == "");
  });
}

// Σ_S W_S (1_S − s/n)(1_S − s/n)ᵀ = (I − 11ᵀ/n)/n with W_S = 1/(C(n,s)·s(n−s)): in population the problem is perfectly
// conditioned.
TEST(KernelShap, TheProjectedKernelMatrixIsAMultipleOfTheIdentity) {
  for (int players = 2; players <= 12; ++players) {
    const estimators::CoalitionSample sample = whole_kernel(players);
    const std::vector<double> gram = estimators::weighted_gram(sample.coalitions, sample.weights);
    const auto n = static_cast<std::size_t>(players);
    const double diagonal = gram[0], beside = gram[1];
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        EXPECT_EQ("", mismatch(i == j ? diagonal : beside, gram[i * n + j], rounding(4096, diagonal)));
    }
    // P(aI + b11ᵀ)P = aP with a = diagonal − beside.
    EXPECT_EQ("", mismatch(1.0 / players, diagonal - beside, rounding(4096, diagonal))) << players;
  }
}

// E[(u(S) − φ(S))²] exceeds its minimum by |φ − ψ|²/(2 H_{n−1}) for every efficient φ, S drawn from the kernel.
TEST(KernelShap, ExcessLossMeasuresTheDistanceToTheShapleyValue) {
  for_all([] {
    const Table table = *rc::gen::suchThat(any_game(8), [](const Table& any) { return any.players >= 2; });
    const auto n = static_cast<std::size_t>(table.players);
    const KernelLaw law(table.players);
    const std::vector<double> shapley = textbook_shapley_values(table);
    std::vector<double> other = shapley;
    Rng rng(static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000)));
    double shift = 0, distance = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const double step = rng.normal();
      other[i] += step;
      shift += step;
      distance += step * step;
    }
    other.back() -= shift;
    distance += shift * shift;
    double excess = 0;
    std::vector<double> subsets(n + 1, 1.0);
    for (std::size_t s = 1; s <= n; ++s)
      subsets[s] = subsets[s - 1] * static_cast<double>(n - s + 1) / static_cast<double>(s);
    for (std::size_t mask = 1; mask + 1 < table.values.size(); ++mask) {
      const auto s = static_cast<std::size_t>(std::popcount(mask));
      double loss = table.values[mask] - table.empty(), best = loss;
      for (std::size_t i = 0; i < n; ++i) {
        if (!(mask >> i & 1)) continue;
        loss -= other[i];
        best -= shapley[i];
      }
      excess += law.probability(static_cast<int>(s)) / subsets[s] * (loss * loss - best * best);
    }
    RC_ASSERT(mismatch(distance / (2 * harmonic(table.players - 1)), excess,
                       rounding(1e4, std::pow(table.scale() + 10, 2))) == "");
  });
}

TEST(KernelShap, AgreesWithADenseCompleteOrthogonalDecomposition) {
  for (const estimators::Pairing pairing : {estimators::Pairing::none, estimators::Pairing::complements}) {
    for (const int players : {2, 3, 5, 16, 65, 130}) {
      Rng rng(11, "dense", 0, static_cast<std::uint64_t>(players));
      const std::int64_t interior = std::min<std::int64_t>(8 * players, (std::int64_t{1} << std::min(players, 40)) - 2);
      const estimators::CoalitionSample sample = sample_kernel(players, interior, pairing, rng);
      const auto rows = static_cast<Eigen::Index>(sample.weights.size());
      Eigen::MatrixXd matrix(rows, players);
      Eigen::VectorXd right(rows);
      std::vector<double> targets;
      for (Eigen::Index row = 0; row < rows; ++row) {
        const auto index = static_cast<std::size_t>(row);
        targets.push_back(rng.normal());
        const double root = std::sqrt(sample.weights[index]);
        const double share = static_cast<double>(sample.coalitions.cardinality(index)) / players;
        for (int i = 0; i < players; ++i) matrix(row, i) = root * (sample.coalitions.contains(index, i) - share);
        right[row] = root * targets.back();
      }
      const Eigen::VectorXd expected = matrix.completeOrthogonalDecomposition().solve(right);
      const std::vector<double> found =
          estimators::KernelRegression(sample.coalitions, sample.weights, "test").fit(targets);
      // Condition numbers of these designs are below 1e3.
      EXPECT_EQ("", mismatch(std::vector<double>(expected.begin(), expected.end()), found,
                             rounding(1e4, expected.cwiseAbs().maxCoeff())))
          << players;
    }
  }
}

TEST(KernelShap, GramMatrixAgreesWithItsDefinitionForAllSizesAndWeights) {
  for_all([] {
    const int players = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 70));
    const int rows = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 900));
    Rng rng(static_cast<std::uint64_t>(rows));
    Coalitions coalitions(players, static_cast<std::size_t>(rows));
    std::vector<double> weights;
    const auto n = static_cast<std::size_t>(players);
    std::vector<double> expected(n * n, 0.0);
    for (int row = 0; row < rows; ++row) {
      const auto index = static_cast<std::size_t>(row);
      weights.push_back(1 + row / 300);
      for (int i = 0; i < players; ++i) {
        if (rng.bits32() & 1) coalitions.insert(index, i);
      }
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          if (coalitions.contains(index, static_cast<int>(i)) && coalitions.contains(index, static_cast<int>(j)))
            expected[i * n + j] += weights.back();
        }
      }
    }
    RC_ASSERT(estimators::weighted_gram(coalitions, weights) == expected);  // integers
  });
}

// (players, interior budget) to the smallest half of the enumerated sizes and the budget left, computed by hand from
// the rule.
TEST(KernelShap, WholeSizesAreTakenAsTheBorderTrickSays) {
  struct Case {
    int players;
    std::int64_t interior;
    std::vector<int> sizes;
  };
  for (const Case& known :
       {Case{8, 62, {1, 7}}, Case{16, 1022, {1, 2, 14, 15}}, Case{32, 1022, {1, 31}}, Case{64, 1022, {1, 63}},
        Case{128, 1022, {}}, Case{1024, 2046, {}}, Case{1024, 299998, {1, 1023}}, Case{2, 1, {}}, Case{3, 6, {1, 2}}}) {
    EXPECT_EQ(known.sizes,
              estimators::enumerated_sizes(estimators::SizeLaw(estimators::SizeMass::shapley_kernel, known.players),
                                           known.interior))
        << known.players;
  }
}

TEST(KernelShap, SamplesAreDistinctWithinTheBudgetAndPairedWhenAsked) {
  for_all([] {
    const int players = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(2, 12));
    const std::int64_t all = (std::int64_t{1} << players) - 2;
    const std::int64_t interior = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, all + 1));
    const bool paired = *rc::gen::arbitrary<bool>();
    Rng rng(static_cast<std::uint64_t>(interior));
    const estimators::CoalitionSample sample =
        sample_kernel(players, interior, paired ? estimators::Pairing::complements : estimators::Pairing::none, rng);
    std::set<std::uint64_t> seen;
    for (std::size_t row = 0; row < sample.coalitions.size(); ++row) {
      const std::uint64_t mask = sample.coalitions.row(row)[0];
      seen.insert(mask);
      if (paired) seen.insert(~mask & ((std::uint64_t{1} << players) - 1));
      RC_ASSERT(sample.weights[row] > 0);
    }
    RC_ASSERT(!seen.contains(0) && !seen.contains((std::uint64_t{1} << players) - 1));
    RC_ASSERT(seen.size() == sample.coalitions.size() * (paired ? 2 : 1));
    RC_ASSERT(static_cast<std::int64_t>(seen.size()) <= interior);
    // Eight draws for each coalition wanted leave out few, and none when a quarter of them is wanted.
    if (interior <= all / 4)
      RC_ASSERT(static_cast<std::int64_t>(seen.size()) == (paired ? interior - interior % 2 : interior));
    RC_ASSERT(std::is_sorted(sample.weights.begin(), sample.weights.end()));
    std::map<std::size_t, int> times;
    for (const auto& draw : sample.draws) ++times[draw.row];
    for (const auto& draw : sample.draws) RC_ASSERT(sample.weights.at(draw.row) == times[draw.row] * draw.weight);
  });
}

// A size's rows together weigh 1/(s(n−s)) when enumerated, and have that as their mean when drawn.
TEST(KernelShap, WeightsOfEachSizeAddUpToTheKernelLawOnAverage) {
  constexpr int players = 12, replicates = 400;
  for (const estimators::Pairing pairing : {estimators::Pairing::none, estimators::Pairing::complements}) {
    std::vector<double> mean(players, 0.0), squares(players, 0.0);
    for (int replicate = 0; replicate < replicates; ++replicate) {
      Rng rng(5, "weights", 0, static_cast<std::uint64_t>(replicate));
      const estimators::CoalitionSample sample = sample_kernel(players, 300, pairing, rng);
      std::vector<double> weight(players, 0.0);
      for (std::size_t row = 0; row < sample.weights.size(); ++row) {
        const auto size = static_cast<std::size_t>(sample.coalitions.cardinality(row));
        // A pair's row stands for both its sizes.
        if (pairing == estimators::Pairing::complements) {
          weight[size] += sample.weights[row] / 2;
          weight[players - size] += sample.weights[row] / 2;
        } else {
          weight[size] += sample.weights[row];
        }
      }
      for (std::size_t size = 1; size < players; ++size) {
        mean[size] += weight[size] / replicates;
        squares[size] += weight[size] * weight[size] / replicates;
      }
    }
    for (std::size_t size = 1; size < players; ++size) {
      const double expected = 1.0 / static_cast<double>(size * (players - size));
      const double error = std::sqrt(std::max(0.0, squares[size] - mean[size] * mean[size]) / replicates);
      // Stopping at a number of distinct coalitions biases the weights by O(1/budget), here 1 %.
      EXPECT_EQ("", mismatch(expected, mean[size], Tolerance{sampling(error).bound + 0.01 * expected, "sampling"}))
          << "size " << size;
    }
  }
}

TEST(KernelShap, ASampleThatDoesNotTellThePlayersApartIsRefusedWithItsRank) {
  Rng rng(1);
  const auto game = games::random_unanimity_sum(64, rng);
  // One row too few for certain: of 63 pairs some are equal up to the complement or depend on each other.
  try {
    attribute(estimators::find("kernel_shap_paired"), *game, {128}, 42);
    FAIL() << "63 random pairs had rank 63";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(std::string::npos, text.find("kernel_shap_paired: rank=")) << text;
    EXPECT_NE(std::string::npos, text.find("needs 63 ")) << text;
    EXPECT_NE(std::string::npos, text.find("Raise the budget")) << text;
  }
  // A player that is in every coalition cannot be told from the constant; nor can two that always go together.
  Coalitions together(4);
  for (const auto& members : {std::vector<int>{0, 1}, {2}, {3}, {2, 3}, {0, 1, 2}}) {
    together.append_empty();
    for (const int player : members) together.insert(together.size() - 1, player);
  }
  try {
    const estimators::KernelRegression regression(together, std::vector<double>(5, 1.0), "test");
    FAIL() << "rank 2 of 3 was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("rank=2 (needs 3 ")) << error.what();
  }
}

TEST(KernelShap, HandlesMoreThanAThousandPlayers) {
  for (const int players : {1024, 1030}) {  // C(1030, 515) is beyond the range of doubles
    Rng rng(2, "large");
    std::vector<double> weights(static_cast<std::size_t>(players));
    for (double& weight : weights) weight = rng.normal();
    const auto game = games::additive_game(weights, 3);
    for (const char* name : {"kernel_shap", "kernel_shap_paired"}) {
      const Attribution found = attribute(estimators::find(name), *game, {6 * players}, 1);
      // Values of v are up to |w|₁ ~ 800; the condition number is about 30.
      EXPECT_EQ("", mismatch(weights, found.values, rounding(1e4, 800))) << name << " " << players;
      EXPECT_LE(found.distinct, 6 * players);
    }
  }
}

TEST(KernelShap, NearlyFullBudgetsEndAndAreCloseToExact) {
  Rng rng(3);
  for (const int players : {5, 8, 12}) {
    const auto game = games::random_unanimity_sum(players, rng);
    const std::vector<double> exact = attribute(estimators::find("exact"), *game, {0}, 1).values;
    for (const std::int64_t missing : {1, 2, 3}) {
      for (const char* name : {"kernel_shap", "kernel_shap_paired"}) {
        const std::int64_t budget = (std::int64_t{1} << players) - missing;
        const Attribution found = attribute(estimators::find(name), *game, {budget}, 1);
        EXPECT_LE(found.distinct, budget);
        // The last sizes are drawn, with random weights; they are a share of about 1/n of the kernel.
        EXPECT_EQ("", mismatch(exact, found.values, discretisation(2 * largest(exact), 1.0 / players, 1)))
            << name << " n=" << players;
      }
    }
  }
}

// Ratio of mean squared error to mean squared standard error, over games, seeds and players.
TEST(KernelShap, StandardErrorsAreAsLargeAsTheErrors) {
  struct Case {
    const char* name;
    int players;
    std::int64_t budget;
  };
  for (const Case& studied : {Case{"kernel_shap", 12, 400}, Case{"kernel_shap", 32, 130}, Case{"kernel_shap", 32, 400},
                              Case{"kernel_shap_paired", 32, 600}}) {
    double errors = 0, promised = 0;
    int covered = 0, all = 0;
    for (std::uint64_t replicate = 0; replicate < 200; ++replicate) {
      Rng rng(9, "coverage", 0, replicate);
      const auto game = games::random_unanimity_sum(studied.players, rng);
      const auto exact = dynamic_cast<const SolvedGame&>(*game).shapley_values();
      const Attribution found = attribute(estimators::find(studied.name), *game, {studied.budget}, replicate);
      ASSERT_TRUE(found.standard_errors.has_value());
      for (std::size_t player = 0; player < exact.size(); ++player) {
        const double error = found.values[player] - exact[player], standard = (*found.standard_errors)[player];
        errors += error * error;
        promised += standard * standard;
        covered += std::abs(error) <= 2.04 * standard;  // t with 31 degrees of freedom, 95 %
        ++all;
      }
    }
    // First order only: 10 % on the error scale, 3 points of coverage.
    EXPECT_EQ("", mismatch(1, std::sqrt(promised / errors), discretisation(0.1, 1, 1)))
        << studied.name << " n=" << studied.players;
    EXPECT_EQ("", mismatch(0.95, covered / static_cast<double>(all), discretisation(0.03, 1, 1)))
        << studied.name << " n=" << studied.players;
  }
}

}  // namespace
}  // namespace opshap
