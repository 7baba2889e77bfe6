#include "estimators/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "estimators/exact.hpp"
#include "estimators/members.hpp"

namespace opshap::estimators {

Guarantees LeastSquares::guarantees() const {
  const bool determined = deficiency_ == Deficiency::refuse;
  Guarantees promised = method_.promises;
  promised.exact_on_additive = determined;
  promised.exact_on_two_additive = determined && (method_.of_odd_half || promised.exact_on_two_additive);
  promised.zero_on_even = promised.same_on_dual = method_.of_odd_half;
  promised.exact_at_full_budget = true;
  promised.refusal = determined ? Refusal::by_rank : Refusal::never;
  return promised;
}

Attribution LeastSquares::estimate(CountedGame& game, Rng& rng) const {
  return can_enumerate(game) ? enumerate_all(game) : method_.estimate(game, deficiency_, rng);
}

namespace {

/// Players per side of a tile: 4 + 4 columns are loaded for 16 counts, which fit the registers.
constexpr std::size_t tile = 4;

using TileCounts = std::array<std::uint64_t, tile * tile>;
using Columns = std::array<const std::uint64_t*, tile>;
using CountTile = void (*)(const Columns& a, const Columns& b, std::size_t words, TileCounts& counts);

/// One source for all instruction sets; it is inlined into the functions below and compiled for each.
[[gnu::always_inline]] inline void count_tile(const Columns& a, const Columns& b, std::size_t words,
                                              TileCounts& counts) {
  const std::uint64_t *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
  for (std::size_t j = 0; j < tile; ++j) {
    const std::uint64_t* bj = b[j];
    std::uint64_t c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    for (std::size_t word = 0; word < words; ++word) {
      c0 += static_cast<std::uint64_t>(__builtin_popcountll(a0[word] & bj[word]));
      c1 += static_cast<std::uint64_t>(__builtin_popcountll(a1[word] & bj[word]));
      c2 += static_cast<std::uint64_t>(__builtin_popcountll(a2[word] & bj[word]));
      c3 += static_cast<std::uint64_t>(__builtin_popcountll(a3[word] & bj[word]));
    }
    counts[j] = c0;
    counts[tile + j] = c1;
    counts[2 * tile + j] = c2;
    counts[3 * tile + j] = c3;
  }
}

void count_tile_anywhere(const Columns& a, const Columns& b, std::size_t words, TileCounts& counts) {
  count_tile(a, b, words, counts);
}

#ifdef __x86_64__
[[gnu::target("popcnt")]] void count_tile_popcnt(const Columns& a, const Columns& b, std::size_t words,
                                                 TileCounts& counts) {
  count_tile(a, b, words, counts);
}

[[gnu::target("popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq,prefer-vector-width=512")]] void count_tile_avx512(
    const Columns& a, const Columns& b, std::size_t words, TileCounts& counts) {
  count_tile(a, b, words, counts);
}
#endif

CountTile best_count_tile() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return count_tile_avx512;
  if (__builtin_cpu_supports("popcnt")) return count_tile_popcnt;
#endif
  return count_tile_anywhere;
}

}  // namespace

std::vector<double> weighted_gram(const Coalitions& coalitions, std::span<const double> weights) {
  const auto n = static_cast<std::size_t>(coalitions.players());
  std::vector<double> gram(n * n, 0.0);
  const CountTile count = best_count_tile();
  const std::size_t tiles = (n + tile - 1) / tile;
  for (std::size_t first = 0, last = 0; first < weights.size(); first = last) {
    last = first + 1;
    while (last < weights.size() && weights[last] == weights[first]) ++last;
    const CoalitionColumns columns(coalitions, first, last - first);
    // Beyond the last player the last one is counted again and not used.
    const auto columns_of = [&](std::size_t of_tile) {
      Columns pointers;
      for (std::size_t k = 0; k < tile; ++k)
        pointers[k] = columns.column(static_cast<int>(std::min(of_tile * tile + k, n - 1))).data();
      return pointers;
    };
    parallel_for(tiles, [&](std::size_t row_tile) {
      const Columns a = columns_of(row_tile);
      TileCounts counts;
      for (std::size_t column_tile = row_tile; column_tile < tiles; ++column_tile) {
        count(a, columns_of(column_tile), columns.words_per_column(), counts);
        for (std::size_t i = row_tile * tile; i < std::min(n, (row_tile + 1) * tile); ++i) {
          for (std::size_t j = column_tile * tile; j < std::min(n, (column_tile + 1) * tile); ++j) {
            gram[i * n + j] +=
                weights[first] * static_cast<double>(counts[(i - row_tile * tile) * tile + (j - column_tile * tile)]);
          }
        }
      }
    });
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) gram[i * n + j] = gram[j * n + i];
  }
  return gram;
}

namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

Eigen::Index index(std::size_t size) { return static_cast<Eigen::Index>(size); }

/// Below this share of the largest eigenvalue (or pivot) one counts as 0. Samples that determine x stay above 1e-8,
/// rounding noise below 1e-12.
constexpr double negligible = 1e-11;

/// G = P A P with A = Σ w 1_S 1_Sᵀ and P = I − 11ᵀ/n: the mean of each row, of each column, and of all are taken out.
std::vector<double> projected_gram(const Coalitions& coalitions, std::span<const double> weights) {
  std::vector<double> gram = weighted_gram(coalitions, weights);
  const Eigen::Index n = coalitions.players();
  Matrix matrix(gram.data(), n, n);
  const Eigen::VectorXd means = matrix.rowwise().mean();
  const double mean = means.mean();
  for (Eigen::Index j = 0; j < n; ++j) matrix.col(j) -= (means.array() + (means[j] - mean)).matrix();
  return gram;
}

using Eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

/// How many eigenvalues of G are more than rounding. At most n−2: it is asked for only when a factorisation has found G
/// singular.
Eigen::Index deficient_rank_of(const Eigenvalues& eigen) {
  const Eigen::VectorXd& values = eigen.eigenvalues();
  return std::min((values.array() > negligible * values.maxCoeff()).count(), values.size() - 2);
}

/// F, [n, rank] column-major, with F Fᵀ the pseudoinverse of G.
std::vector<double> pseudoinverse_root(std::vector<double> gram, Eigen::Index n) {
  const Eigenvalues eigen(Matrix(gram.data(), n, n));
  const Eigen::Index rank = deficient_rank_of(eigen);
  gram.resize(static_cast<std::size_t>(n * rank));
  // The eigenvalues increase.
  Matrix(gram.data(), n, rank) =
      eigen.eigenvectors().rightCols(rank) * eigen.eigenvalues().tail(rank).cwiseSqrt().cwiseInverse().asDiagonal();
  return gram;
}

void subtract_mean(std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
}

}  // namespace

KernelRegression::KernelRegression(const Coalitions& coalitions, std::span<const double> weights, std::string_view who,
                                   Deficiency deficiency)
    : coalitions_(coalitions), weights_(weights.begin(), weights.end()) {
  const int players = coalitions.players();
  require(players <= max_players, who, ": players=", players, " (an n x n system is solved, n <= ", max_players,
          "). Group the cells into fewer players, or use permutation_antithetic.");
  factor_ = projected_gram(coalitions, weights);
  Matrix matrix(factor_.data(), players, players);
  // G has the direction 1 in its kernel; raised to the mean of the other eigenvalues it changes no solution that sums
  // to 0.
  matrix.array() += matrix.trace() / players / players;
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(matrix);
  const bool determined = cholesky.info() == Eigen::Success && cholesky.rcond() > negligible;
  if (determined) return;
  factor_ = projected_gram(coalitions, weights);
  if (deficiency == Deficiency::refuse) {
    const Eigenvalues eigen(Matrix(factor_.data(), players, players), Eigen::EigenvaluesOnly);
    throw InvalidArgument(message(who, ": rank=", deficient_rank_of(eigen), " (needs ", players - 1,
                                  " independent ones among the ", weights.size(),
                                  " sampled). Raise the budget, or take the minimum-norm solution (--minimum-norm)."));
  }
  factor_ = pseudoinverse_root(std::move(factor_), players);
  deficient_rank_ = {.found = static_cast<int>(factor_.size() / static_cast<std::size_t>(players)),
                     .needed = players - 1};
}

std::vector<double> KernelRegression::solve(std::vector<double> moments) const {
  subtract_mean(moments);
  const Eigen::Index n = index(moments.size());
  const Eigen::Map<const Eigen::MatrixXd> factor(factor_.data(), n, index(factor_.size()) / n);
  Vector x(moments.data(), n);
  if (deficient_rank_) {
    x = factor * (factor.transpose() * x).eval();
  } else {
    factor.triangularView<Eigen::Lower>().solveInPlace(x);
    factor.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  }
  subtract_mean(moments);
  return moments;
}

std::vector<double> KernelRegression::fit(std::span<const double> targets) const {
  std::vector<double> x(static_cast<std::size_t>(coalitions_.players()), 0.0);
  for (int step = 0; step < 2; ++step) {
    const std::vector<double> left = residuals(targets, x);
    std::vector<double> moments(x.size(), 0.0);
    for (std::size_t row = 0; row < left.size(); ++row) {
      const double pull = weights_[row] * left[row];
      for_each_member(coalitions_.row(row), [&](std::size_t player) { moments[player] += pull; });
    }
    const std::vector<double> change = solve(std::move(moments));
    for (std::size_t player = 0; player < x.size(); ++player) x[player] += change[player];
  }
  subtract_mean(x);
  return x;
}

std::vector<double> KernelRegression::residuals(std::span<const double> targets, std::span<const double> x) const {
  std::vector<double> left(targets.begin(), targets.end());
  for (std::size_t row = 0; row < left.size(); ++row) left[row] -= coalition_sum(x, coalitions_.row(row));
  return left;
}

std::vector<double> KernelRegression::response(std::span<const std::size_t> rows,
                                               std::span<const double> changes) const {
  std::vector<double> moments(static_cast<std::size_t>(coalitions_.players()), 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k)
    for_each_member(coalitions_.row(rows[k]), [&](std::size_t player) { moments[player] += changes[k]; });
  return solve(std::move(moments));
}

}  // namespace opshap::estimators
