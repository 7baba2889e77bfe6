// Least squares from samples that do not determine the values: refused, or on request answered with the solution of
// least norm.

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

estimators::CoalitionSample sample_of(int players, std::int64_t interior, estimators::Pairing pairing,
                                      std::uint64_t item) {
  Rng rng(41, "minimum norm", static_cast<std::uint32_t>(players), item);
  return estimators::sample_coalitions(estimators::Sampler::iid,
                                       estimators::SizeLaw(estimators::SizeMass::shapley_kernel, players), interior,
                                       pairing, rng);
}

/// The rows √w_S (1_S − s/n), [m, n]: their pseudoinverse gives the solution, since they are orthogonal to 1.
Eigen::MatrixXd dense_rows(const estimators::CoalitionSample& sample) {
  const int players = sample.coalitions.players();
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(sample.weights.size()), players);
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    const auto index = static_cast<std::size_t>(row);
    const double share = static_cast<double>(sample.coalitions.cardinality(index)) / players;
    for (int i = 0; i < players; ++i)
      rows(row, i) = std::sqrt(sample.weights[index]) * (sample.coalitions.contains(index, i) - share);
  }
  return rows;
}

std::vector<const estimators::LeastSquares*> least_squares_methods() {
  std::vector<const estimators::LeastSquares*> methods;
  for (const auto& estimator : estimators::all()) {
    if (const auto* solves = dynamic_cast<const estimators::LeastSquares*>(estimator.get())) methods.push_back(solves);
  }
  return methods;
}

std::string refusal(const Estimator& estimator, const Game& game, Budget budget, std::uint64_t seed) {
  try {
    attribute(estimator, game, budget, seed);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(MinimumNorm, AgreesWithADensePseudoinverseAndItsRank) {
  int deficient = 0;
  for (const estimators::Pairing pairing : {estimators::Pairing::none, estimators::Pairing::complements}) {
    for (const int players : {3, 5, 16, 65}) {
      for (const std::int64_t interior : {2, players / 2, players - 1, 2 * players, 4 * players}) {
        const estimators::CoalitionSample sample = sample_of(players, std::max<std::int64_t>(interior, 2), pairing, 0);
        const Eigen::MatrixXd rows = dense_rows(sample);
        Rng rng(42, "targets");
        std::vector<double> targets;
        Eigen::VectorXd right(rows.rows());
        for (Eigen::Index row = 0; row < rows.rows(); ++row) {
          targets.push_back(rng.normal());
          right[row] = std::sqrt(sample.weights[static_cast<std::size_t>(row)]) * targets.back();
        }
        // Singular values of such designs that are not 0 are above 1e-3 of the largest one.
        Eigen::JacobiSVD<Eigen::MatrixXd> dense(rows, Eigen::ComputeThinU | Eigen::ComputeThinV);
        dense.setThreshold(1e-6);
        const Eigen::VectorXd expected = dense.solve(right);
        const estimators::KernelRegression regression(sample.coalitions, sample.weights, "test",
                                                      estimators::Deficiency::minimum_norm);
        EXPECT_EQ("", mismatch(std::vector<double>(expected.begin(), expected.end()), regression.fit(targets),
                               rounding(1e5, expected.cwiseAbs().maxCoeff())))
            << "n=" << players << " m=" << rows.rows() << " rank=" << dense.rank();
        const int rank = static_cast<int>(dense.rank());
        if (rank == players - 1) {
          EXPECT_FALSE(regression.deficient_rank().has_value());
          continue;
        }
        ++deficient;
        EXPECT_EQ((MatrixRank{.found = rank, .needed = players - 1}), regression.deficient_rank());
        try {
          const estimators::KernelRegression refused(sample.coalitions, sample.weights, "test");
          FAIL() << "rank " << rank << " of " << players - 1;
        } catch (const InvalidArgument& error) {
          EXPECT_NE(std::string::npos, std::string(error.what()).find("rank=" + std::to_string(rank) + " "))
              << error.what();
        }
      }
    }
  }
  EXPECT_GE(deficient, 20);
}

// Of an additive game every sample is consistent: its equations hold, and what solves them too differs by a direction
// that is orthogonal to the solution.
TEST(MinimumNorm, SolvesTheSampledEquationsAndIsOrthogonalToWhatTheyLeaveOpen) {
  constexpr int players = 12;
  const estimators::CoalitionSample sample = sample_of(players, 9, estimators::Pairing::none, 1);
  Rng rng(43, "weights");
  std::vector<double> weights(players), targets(sample.weights.size(), 0.0);
  double mean = 0;
  for (double& weight : weights) mean += (weight = rng.normal()) / players;
  for (double& weight : weights) weight -= mean;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    for (int player = 0; player < players; ++player)
      targets[row] += sample.coalitions.contains(row, player) ? weights[static_cast<std::size_t>(player)] : 0;
  }
  const estimators::KernelRegression regression(sample.coalitions, sample.weights, "test",
                                                estimators::Deficiency::minimum_norm);
  ASSERT_TRUE(regression.deficient_rank().has_value());
  const std::vector<double> found = regression.fit(targets);
  EXPECT_EQ("", mismatch(std::vector<double>(targets.size(), 0.0), regression.residuals(targets, found),
                         rounding(1e5, largest(targets))));
  const Eigen::JacobiSVD<Eigen::MatrixXd> dense(dense_rows(sample), Eigen::ComputeFullV);
  const Eigen::Map<const Eigen::VectorXd> solution(found.data(), players);
  const Eigen::Index open = players - regression.deficient_rank()->found;
  const Eigen::VectorXd along = dense.matrixV().rightCols(open).transpose() * solution;
  EXPECT_EQ("", mismatch(std::vector<double>(static_cast<std::size_t>(open), 0.0),
                         std::vector<double>(along.begin(), along.end()), rounding(1e5, solution.norm())));
  const Eigen::Map<const Eigen::VectorXd> other(weights.data(), players);
  EXPECT_GT(other.norm(), solution.norm()) << "the game's own weights solve the equations as well";
}

TEST(MinimumNorm, IsGivenOnRequestOnlyAndSaysSo) {
  Rng rng(44);
  const auto game = games::random_unanimity_sum(16, rng);
  for (const estimators::LeastSquares* method : least_squares_methods()) {
    const auto variant = method->with_minimum_norm();
    EXPECT_EQ(method->name(), variant->name());
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Budget budget = method->minimum(16);
      const std::string text = refusal(*method, *game, budget, seed);
      const Attribution found = attribute(*variant, *game, budget, seed);
      EXPECT_EQ(text != "", found.minimum_norm.has_value()) << method->name() << " seed " << seed;
      if (!found.minimum_norm) continue;
      ++refused;
      // Of several folds the lowest rank is told, but the first one is refused.
      const int named = std::stoi(text.substr(text.find("rank=") + 5));
      EXPECT_LE(found.minimum_norm->found, named) << text;
      EXPECT_LT(named, found.minimum_norm->needed) << text;
      EXPECT_NE(std::string::npos, text.find("--minimum-norm")) << text;
      EXPECT_LT(found.minimum_norm->found, found.minimum_norm->needed);
      EXPECT_FALSE(found.standard_errors.has_value());
      EXPECT_EQ("", mismatch(0, found.efficiency_gap(), rounding(1e3, largest(found.values) + 10)));
    }
    EXPECT_GT(refused, 0) << method->name();
  }
}

TEST(MinimumNorm, IsTheOrdinarySolutionWhereThatIsDetermined) {
  Rng rng(45);
  const auto game = games::random_unanimity_sum(10, rng);
  for (const estimators::LeastSquares* method : least_squares_methods()) {
    const Budget budget{method->minimum(10).coalitions + 300};
    const Attribution ordinary = attribute(*method, *game, budget, 3),
                      found = attribute(*method->with_minimum_norm(), *game, budget, 3);
    EXPECT_FALSE(found.minimum_norm.has_value()) << method->name();
    EXPECT_EQ(ordinary.values, found.values) << method->name();
    EXPECT_EQ(ordinary.standard_errors, found.standard_errors) << method->name();
  }
}

// Five regressions on independent draws, which repeat themselves.
TEST(MinimumNorm, IsSeldomNeededByRegressionMsrFromItsMinimumOn) {
  constexpr int seeds = 200;
  const Estimator& estimator = estimators::find("regression_msr_linear");
  for (const int players : {6, 7, 8, 10, 12, 16, 20, 40}) {
    Rng rng(48, "seldom", 0, static_cast<std::uint64_t>(players));
    const auto game = games::random_unanimity_sum(players, rng);
    int refused = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      refused += refusal(estimator, *game, estimator.minimum(players), seed) != "" ? 1 : 0;
    EXPECT_LT(refused, seeds / 10) << "n=" << players;
  }
}

// Far below the number of players, where nothing is determined.
TEST(MinimumNorm, WorksFromItsSmallestBudgetOn) {
  for (const estimators::LeastSquares* method : least_squares_methods()) {
    const auto variant = method->with_minimum_norm();
    for (const int players : {1, 2, 3, 4, 7, 12, 40}) {
      Rng rng(46, "smallest", 0, static_cast<std::uint64_t>(players));
      const auto game = games::random_unanimity_sum(players, rng);
      const std::int64_t all = CountedGame(*game, {}).all_coalitions();
      const std::int64_t least = std::min(variant->minimum(players).coalitions, all);
      EXPECT_LE(least, method->minimum(players).coalitions);
      for (std::int64_t budget = least; budget < least + 8; ++budget) {
        const Attribution found = attribute(*variant, *game, {budget}, 5);
        EXPECT_EQ("", mismatch(0, found.efficiency_gap(), rounding(1e4, largest(found.values) + 10)))
            << method->name() << " n=" << players << " budget=" << budget;
      }
    }
  }
}

// Whatever the proxies, their residuals on held-out folds take out the bias.
TEST(MinimumNorm, ProxiesOfLeastNormLeaveRegressionMsrUnbiased) {
  constexpr int players = 6, replicates = 1000;
  Rng rng(47);
  const auto game = games::random_table_game(players, rng);
  const std::vector<double> exact = textbook_shapley_values(as_table(*game));
  const auto method =
      dynamic_cast<const estimators::LeastSquares&>(estimators::find("regression_msr_linear")).with_minimum_norm();
  std::vector<double> sum(players, 0.0), squares(players, 0.0);
  for (std::uint64_t seed = 0; seed < replicates; ++seed) {
    const Attribution found = attribute(*method, *game, method->minimum(players), seed);
    EXPECT_TRUE(found.minimum_norm.has_value());
    for (std::size_t i = 0; i < players; ++i) {
      sum[i] += found.values[i];
      squares[i] += found.values[i] * found.values[i];
    }
  }
  for (std::size_t i = 0; i < players; ++i) {
    const double mean = sum[i] / replicates;
    const double error = std::sqrt((squares[i] / replicates - mean * mean) / (replicates - 1));
    EXPECT_EQ("", mismatch(exact[i], mean, sampling(error))) << "player " << i;
  }
}

}  // namespace
}  // namespace opshap
