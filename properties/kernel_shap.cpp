// The regression behind KernelSHAP: its identities, its sample, its rank, and its agreement with a dense least-squares
// solution. Samples that do not determine the values are refused, or on request answered with the solution of least
// norm.

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/measured.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "games/unanimity.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/replicates.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using namespace estimators;

CoalitionSample sample_kernel(int players, std::int64_t interior, Pairing pairing, Rng& rng) {
  return sample_coalitions(Sampler::shapiq_compatible, SizeLaw(SizeMass::shapley_kernel, players), interior, pairing,
                           rng);
}

/// Every coalition between ∅ and N once, with its kernel weight, ordered by size.
CoalitionSample whole_kernel(int players) {
  Rng rng(1);
  CoalitionSample sample = sample_kernel(players, (std::int64_t{1} << players) - 2, Pairing::none, rng);
  EXPECT_TRUE(sample.draws.empty());
  EXPECT_EQ((std::size_t{1} << players) - 2, sample.weights.size());
  return sample;
}

/// The rows √w_S (1_S − s/n), [m, n]: their pseudoinverse gives the solution, since they are orthogonal to 1.
Eigen::MatrixXd dense_rows(const CoalitionSample& sample) {
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

/// The solution of least norm of least squares. Pivots below `threshold` of the largest one are taken for 0.
class Pseudoinverse {
 public:
  Pseudoinverse(const Eigen::MatrixXd& rows, double threshold) {
    factors_.setThreshold(threshold);
    factors_.compute(rows);
  }
  Eigen::VectorXd solve(const Eigen::VectorXd& right) const { return factors_.solve(right); }
  Eigen::Index rank() const { return factors_.rank(); }

 private:
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors_;
};

/// Normal numbers for the rows of a sample, and the same times √w_S.
struct Targets {
  Targets(const CoalitionSample& sample, Rng& rng) : right(static_cast<Eigen::Index>(sample.weights.size())) {
    for (Eigen::Index row = 0; row < right.size(); ++row) {
      values.push_back(rng.normal());
      right[row] = std::sqrt(sample.weights[static_cast<std::size_t>(row)]) * values.back();
    }
  }
  std::vector<double> values;
  Eigen::VectorXd right;
};

// Charnes, Golany, Keane, Rousseau (1988): the Shapley value is the kernel-weighted least-squares fit of an additive
// game with φ(N) = v(N).
TEST(KernelShap, RegressionOnAllCoalitionsIsTheShapleyValue) {
  for_all([] {
    const Table table = *rc::gen::suchThat(any_game(10), [](const Table& any) { return any.players >= 2; });
    const CoalitionSample sample = whole_kernel(table.players);
    const KernelRegression regression(sample.coalitions, sample.weights, "test");
    std::vector<double> targets;  // v(S) − v(∅) − sΔ/n
    for (std::size_t row = 0; row < sample.coalitions.size(); ++row)
      targets.push_back(table.values[sample.coalitions.row(row)[0]] - table.empty() -
                        table.gain() * sample.coalitions.cardinality(row) / table.players);
    std::vector<double> found = regression.fit(targets);
    for (double& value : found) value += table.gain() / table.players;
    RC_ASSERT(mismatch(textbook_shapley_values(table), found, rounding(1e4, table.scale())) == "");
  });
}

// Σ_S W_S (1_S − s/n)(1_S − s/n)ᵀ = (I − 11ᵀ/n)/n with W_S = 1/(C(n,s)·s(n−s)): in population the problem is perfectly
// conditioned.
TEST(KernelShap, TheProjectedKernelMatrixIsAMultipleOfTheIdentity) {
  for (int players = 2; players <= 12; ++players) {
    const CoalitionSample sample = whole_kernel(players);
    const std::vector<double> gram = weighted_gram(sample.coalitions, sample.weights);
    const auto n = static_cast<std::size_t>(players);
    const double diagonal = gram[0], beside = gram[1];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        EXPECT_EQ("", mismatch(i == j ? diagonal : beside, gram[i * n + j], rounding(4096, diagonal)));
    // P(aI + b11ᵀ)P = aP with a = diagonal − beside.
    EXPECT_EQ("", mismatch(1.0 / players, diagonal - beside, rounding(4096, diagonal))) << players;
  }
}

// E[(u(S) − φ(S))²] exceeds its minimum by |φ − ψ|²/(2 H_{n−1}) for every efficient φ, S drawn from the kernel.
TEST(KernelShap, ExcessLossMeasuresTheDistanceToTheShapleyValue) {
  for_all([] {
    const Table table = *rc::gen::suchThat(any_game(8), [](const Table& any) { return any.players >= 2; });
    const KernelLaw law(table.players);
    const std::vector<double> shapley = textbook_shapley_values(table);
    std::vector<double> other = shapley;
    Rng rng(static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000)));
    for (std::size_t i = 0; i + 1 < other.size(); ++i) {
      const double step = rng.normal();
      other[i] += step;
      other.back() -= step;
    }
    double excess = 0;
    for (std::size_t mask = 1; mask + 1 < table.values.size(); ++mask) {
      const int s = std::popcount(mask);
      const double gain = table.values[mask] - table.empty();
      const double loss = gain - coalition_sum(other, {&mask, 1}), best = gain - coalition_sum(shapley, {&mask, 1});
      excess += law.probability(s) / binomial(table.players, s) * (loss * loss - best * best);
    }
    RC_ASSERT(mismatch(std::pow(distance(shapley, other), 2) / (2 * harmonic_number(table.players - 1)), excess,
                       rounding(1e4, std::pow(table.scale() + 10, 2))) == "");
  });
}

TEST(KernelShap, AgreesWithADenseCompleteOrthogonalDecomposition) {
  for (const Pairing pairing : {Pairing::none, Pairing::complements})
    for (const int players : {2, 3, 5, 16, 65, 130}) {
      Rng rng(11, "dense", 0, static_cast<std::uint64_t>(players));
      const std::int64_t interior = std::min<std::int64_t>(8 * players, (std::int64_t{1} << std::min(players, 40)) - 2);
      const CoalitionSample sample = sample_kernel(players, interior, pairing, rng);
      const Targets targets(sample, rng);
      const Eigen::VectorXd expected = Pseudoinverse(dense_rows(sample), 1e-6).solve(targets.right);
      const std::vector<double> found = KernelRegression(sample.coalitions, sample.weights, "test").fit(targets.values);
      // Condition numbers of these designs are below 1e3.
      EXPECT_EQ("", mismatch(std::vector<double>(expected.begin(), expected.end()), found,
                             rounding(1e4, expected.cwiseAbs().maxCoeff())))
          << players;
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
      for (int i = 0; i < players; ++i)
        if (rng.bits32() & 1) coalitions.insert(index, i);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
          if (coalitions.contains(index, static_cast<int>(i)) && coalitions.contains(index, static_cast<int>(j)))
            expected[i * n + j] += weights.back();
      }
    }
    RC_ASSERT(weighted_gram(coalitions, weights) == expected);  // integers
  });
}

// (players, interior budget) to the smallest half of the enumerated sizes and the budget left, computed by hand from
// the rule.
TEST(KernelShap, WholeSizesAreTakenAsTheBorderTrickSays) {
  for (const auto& [players, interior, sizes] : {std::tuple(8, 62, std::vector{1, 7}),
                                                 {16, 1022, {1, 2, 14, 15}},
                                                 {32, 1022, {1, 31}},
                                                 {64, 1022, {1, 63}},
                                                 {128, 1022, {}},
                                                 {1024, 2046, {}},
                                                 {1024, 299998, {1, 1023}},
                                                 {2, 1, {}},
                                                 {3, 6, {1, 2}}})
    EXPECT_EQ(sizes, enumerated_sizes(SizeLaw(SizeMass::shapley_kernel, players), interior)) << players;
}

TEST(KernelShap, SamplesAreDistinctWithinTheBudgetAndPairedWhenAsked) {
  for_all([] {
    const int players = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(2, 12));
    const std::int64_t all = (std::int64_t{1} << players) - 2;
    const std::int64_t interior = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, all + 1));
    const bool paired = *rc::gen::arbitrary<bool>();
    Rng rng(static_cast<std::uint64_t>(interior));
    const auto sample = sample_kernel(players, interior, paired ? Pairing::complements : Pairing::none, rng);
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
  for (const Pairing pairing : {Pairing::none, Pairing::complements}) {
    Replicates weights;
    for (int replicate = 0; replicate < replicates; ++replicate) {
      Rng rng(5, "weights", 0, static_cast<std::uint64_t>(replicate));
      const CoalitionSample sample = sample_kernel(players, 300, pairing, rng);
      std::vector<double> weight(players, 0.0);
      for (std::size_t row = 0; row < sample.weights.size(); ++row) {
        const auto size = static_cast<std::size_t>(sample.coalitions.cardinality(row));
        // A pair's row stands for both its sizes.
        weight[size] += sample.weights[row] / 2;
        weight[pairing == Pairing::complements ? players - size : size] += sample.weights[row] / 2;
      }
      weights.add(weight);
    }
    for (std::size_t size = 1; size < players; ++size) {
      const double expected = 1.0 / static_cast<double>(size * (players - size));
      // Stopping at a number of distinct coalitions biases the weights by O(1/budget), here 1 %.
      const Tolerance tolerance{sampling(weights.error(size)).bound + 0.01 * expected, "sampling"};
      EXPECT_EQ("", mismatch(expected, weights.mean(size), tolerance)) << "size " << size;
    }
  }
}

TEST(KernelShap, ASampleThatDoesNotTellThePlayersApartIsRefusedWithItsRank) {
  Rng rng(1);
  const auto game = games::random_unanimity_sum(64, rng);
  // One row too few for certain: of 63 pairs some are equal up to the complement or depend on each other.
  const std::string text =
      refusal<InvalidArgument>([&] { attribute(estimators::find("kernel_shap_paired"), *game, {128}, 42); });
  EXPECT_TRUE(has(text, {"kernel_shap_paired: rank=", "needs 63 ", "Raise the budget"}));
  // A player that is in every coalition cannot be told from the constant; nor can two that always go together.
  Coalitions together(4);
  for (const auto& members : {std::vector<int>{0, 1}, {2}, {3}, {2, 3}, {0, 1, 2}}) {
    together.append_empty();
    for (const int player : members) together.insert(together.size() - 1, player);
  }
  EXPECT_TRUE(has(refusal<InvalidArgument>(
                      [&] { const KernelRegression regression(together, std::vector<double>(5, 1.0), "test"); }),
                  "rank=2 (needs 3 "));
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
    for (const std::int64_t missing : {1, 2, 3})
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

// Ratio of mean squared error to mean squared standard error, over games, seeds and players.
TEST(KernelShap, StandardErrorsAreAsLargeAsTheErrors) {
  for (const auto& [name, players, budget] : {std::tuple("kernel_shap", 12, 400),
                                              {"kernel_shap", 32, 130},
                                              {"kernel_shap", 32, 400},
                                              {"kernel_shap_paired", 32, 600}}) {
    double errors = 0, promised = 0;
    int covered = 0, all = 0;
    for (std::uint64_t replicate = 0; replicate < 200; ++replicate) {
      Rng rng(9, "coverage", 0, replicate);
      const auto game = games::random_unanimity_sum(players, rng);
      const auto exact = dynamic_cast<const SolvedGame&>(*game).shapley_values();
      const Attribution found = attribute(estimators::find(name), *game, {budget}, replicate);
      ASSERT_TRUE(found.standard_errors.has_value());
      for (std::size_t player = 0; player < exact.size(); ++player) {
        const double error = found.values[player] - exact[player], standard = (*found.standard_errors)[player];
        errors += error * error;
        promised += standard * standard;
        covered += std::abs(error) <= 2.04 * standard;  // t with 31 degrees of freedom, 95 %
        ++all;
      }
    }
    SCOPED_TRACE(message(name, " n=", players));
    // First order only: 10 % on the error scale, 3 points of coverage.
    EXPECT_EQ("", mismatch(1, std::sqrt(promised / errors), discretisation(0.1, 1, 1)));
    EXPECT_EQ("", mismatch(0.95, covered / static_cast<double>(all), discretisation(0.03, 1, 1)));
  }
}

CoalitionSample sample_of(int players, std::int64_t interior, Pairing pairing, std::uint64_t item) {
  Rng rng(41, "minimum norm", static_cast<std::uint32_t>(players), item);
  return sample_coalitions(Sampler::iid, SizeLaw(SizeMass::shapley_kernel, players), interior, pairing, rng);
}

std::vector<const LeastSquares*> least_squares_methods() {
  std::vector<const LeastSquares*> methods;
  for (const auto& estimator : estimators::all())
    if (const auto* solves = dynamic_cast<const LeastSquares*>(estimator.get())) methods.push_back(solves);
  return methods;
}

std::string refused(const Estimator& estimator, const Game& game, Budget budget, std::uint64_t seed) {
  return refusal<InvalidArgument>([&] { attribute(estimator, game, budget, seed); });
}

TEST(MinimumNorm, AgreesWithADensePseudoinverseAndItsRank) {
  int deficient = 0;
  for (const Pairing pairing : {Pairing::none, Pairing::complements})
    for (const int players : {3, 5, 16, 65})
      for (const std::int64_t interior : {2, players / 2, players - 1, 2 * players, 4 * players}) {
        const CoalitionSample sample = sample_of(players, std::max<std::int64_t>(interior, 2), pairing, 0);
        const Eigen::MatrixXd rows = dense_rows(sample);
        Rng rng(42, "targets");
        const Targets targets(sample, rng);
        // Singular values of such designs that are not 0 are above 1e-3 of the largest one, and so are pivots.
        const Pseudoinverse dense(rows, 1e-6);
        const Eigen::VectorXd expected = dense.solve(targets.right);
        const KernelRegression regression(sample.coalitions, sample.weights, "test", Deficiency::minimum_norm);
        EXPECT_EQ("", mismatch(std::vector<double>(expected.begin(), expected.end()), regression.fit(targets.values),
                               rounding(1e5, expected.cwiseAbs().maxCoeff())))
            << "n=" << players << " m=" << rows.rows() << " rank=" << dense.rank();
        const int rank = static_cast<int>(dense.rank());
        if (rank == players - 1) {
          EXPECT_FALSE(regression.deficient_rank().has_value());
          continue;
        }
        ++deficient;
        EXPECT_EQ((MatrixRank{.found = rank, .needed = players - 1}), regression.deficient_rank());
        EXPECT_TRUE(has(refusal<InvalidArgument>(
                            [&] { const KernelRegression refused(sample.coalitions, sample.weights, "test"); }),
                        "rank=" + std::to_string(rank) + " "));
      }
  EXPECT_GE(deficient, 20);
}

// Of an additive game every sample is consistent: its equations hold, and what solves them too differs by a direction
// that is orthogonal to the solution.
TEST(MinimumNorm, SolvesTheSampledEquationsAndIsOrthogonalToWhatTheyLeaveOpen) {
  constexpr int players = 12;
  const CoalitionSample sample = sample_of(players, 9, Pairing::none, 1);
  Rng rng(43, "weights");
  std::vector<double> weights(players), targets;
  double mean = 0;
  for (double& weight : weights) mean += (weight = rng.normal()) / players;
  for (double& weight : weights) weight -= mean;
  for (std::size_t row = 0; row < sample.weights.size(); ++row)
    targets.push_back(coalition_sum(weights, sample.coalitions.row(row)));
  const KernelRegression regression(sample.coalitions, sample.weights, "test", Deficiency::minimum_norm);
  ASSERT_TRUE(regression.deficient_rank().has_value());
  const std::vector<double> found = regression.fit(targets);
  EXPECT_EQ("", mismatch(std::vector<double>(targets.size(), 0.0), regression.residuals(targets, found),
                         rounding(1e5, largest(targets))));
  const Eigen::MatrixXd rows = dense_rows(sample);
  const Eigen::Map<const Eigen::VectorXd> solution(found.data(), players);
  const Eigen::VectorXd seen = Pseudoinverse(rows, 1e-6).solve(rows * solution);  // without what the rows leave open
  EXPECT_EQ("", mismatch(found, std::vector<double>(seen.begin(), seen.end()), rounding(1e5, solution.norm())));
  const Eigen::Map<const Eigen::VectorXd> other(weights.data(), players);
  EXPECT_GT(other.norm(), solution.norm()) << "the game's own weights solve the equations as well";
}

TEST(MinimumNorm, IsGivenOnRequestOnlyAndSaysSo) {
  Rng rng(44);
  const auto game = games::random_unanimity_sum(16, rng);
  for (const LeastSquares* method : least_squares_methods()) {
    const auto variant = method->with_minimum_norm();
    EXPECT_EQ(method->name(), variant->name());
    int refusals = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Budget budget = method->minimum(16);
      const std::string text = refused(*method, *game, budget, seed);
      const Attribution found = attribute(*variant, *game, budget, seed);
      EXPECT_EQ(text != "", found.minimum_norm.has_value()) << method->name() << " seed " << seed;
      if (!found.minimum_norm) continue;
      ++refusals;
      // Of several folds the lowest rank is told, but the first one is refused.
      const int named = std::stoi(text.substr(text.find("rank=") + 5));
      EXPECT_LE(found.minimum_norm->found, named) << text;
      EXPECT_LT(named, found.minimum_norm->needed) << text;
      EXPECT_TRUE(has(text, "--minimum-norm"));
      EXPECT_LT(found.minimum_norm->found, found.minimum_norm->needed);
      EXPECT_FALSE(found.standard_errors.has_value());
      EXPECT_EQ("", mismatch(0, found.efficiency_gap(), rounding(1e3, largest(found.values) + 10)));
    }
    EXPECT_GT(refusals, 0) << method->name();
  }
}

TEST(MinimumNorm, IsTheOrdinarySolutionWhereThatIsDetermined) {
  Rng rng(45);
  const auto game = games::random_unanimity_sum(10, rng);
  for (const LeastSquares* method : least_squares_methods()) {
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
    int refusals = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      refusals += refused(estimator, *game, estimator.minimum(players), seed) != "" ? 1 : 0;
    EXPECT_LT(refusals, seeds / 10) << "n=" << players;
  }
}

// Far below the number of players, where nothing is determined.
TEST(MinimumNorm, WorksFromItsSmallestBudgetOn) {
  for (const LeastSquares* method : least_squares_methods()) {
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
  const auto method = dynamic_cast<const LeastSquares&>(estimators::find("regression_msr_linear")).with_minimum_norm();
  Replicates values;
  for (std::uint64_t seed = 0; seed < replicates; ++seed) {
    const Attribution found = attribute(*method, *game, method->minimum(players), seed);
    EXPECT_TRUE(found.minimum_norm.has_value());
    values.add(found.values);
  }
  for (std::size_t i = 0; i < players; ++i)
    EXPECT_EQ("", mismatch(exact[i], values.mean(i), sampling(values.error(i)))) << "player " << i;
}

}  // namespace
}  // namespace opshap
