#include "estimators/kernel_regression.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "estimators/coalition_gram.hpp"
#include "estimators/members.hpp"

namespace opshap::estimators {

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

Eigen::Index deficient_rank_of(std::vector<double> gram, Eigen::Index n) {
  return deficient_rank_of(Eigenvalues(Matrix(gram.data(), n, n), Eigen::EigenvaluesOnly));
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
    throw InvalidArgument(message(who, ": rank=", deficient_rank_of(std::move(factor_), players), " (needs ",
                                  players - 1, " independent ones among the ", weights.size(),
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
  for (std::size_t row = 0; row < left.size(); ++row) {
    double sum = 0;
    for_each_member(coalitions_.row(row), [&](std::size_t player) { sum += x[player]; });
    left[row] -= sum;
  }
  return left;
}

std::vector<double> KernelRegression::response(std::span<const std::size_t> rows,
                                               std::span<const double> changes) const {
  std::vector<double> moments(static_cast<std::size_t>(coalitions_.players()), 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for_each_member(coalitions_.row(rows[k]), [&](std::size_t player) { moments[player] += changes[k]; });
  }
  return solve(std::move(moments));
}

}  // namespace opshap::estimators
