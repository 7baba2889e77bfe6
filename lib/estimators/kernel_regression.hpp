#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "estimators/least_squares.hpp"

namespace opshap::estimators {

/// The least-squares problem min Σ_S w_S (y_S − Σ_{i∈S} x_i)² subject to Σ_i x_i = 0, factorised once for many
/// right-hand sides.
///
/// With r_S = 1_S − (s/n)·1 the constraint solves itself, since the r_S sum to 0; the matrix G = Σ_S w_S r_S r_Sᵀ is a
/// multiple of the identity for the full Shapley kernel (Charnes et al. 1988) and well conditioned for samples of a few
/// n coalitions. Solved by Cholesky with one step of refinement on the residuals of the rows (corrected seminormal
/// equations, Björck 1987). Cost: the Gram matrix, n³/3, and 2·m·n a solve. Memory: n². Where x is not determined and
/// the minimum-norm solution is asked for, it is that of the eigenvectors of G with eigenvalues beyond rounding: 9n³
/// more.
class KernelRegression {
 public:
  static constexpr int max_players = 16384;

  /// Keeps a reference to the coalitions; equal weights must be next to each other. `who` starts the messages.
  /// Throws InvalidArgument when the coalitions do not determine x, naming their rank, unless the solution of least
  /// norm is asked for; or for more than 16384 players.
  KernelRegression(const Coalitions& coalitions, std::span<const double> weights, std::string_view who,
                   Deficiency deficiency = Deficiency::refuse);

  /// The rank of the coalitions where it is too low, of n−1.
  const std::optional<MatrixRank>& deficient_rank() const { return deficient_rank_; }

  /// x for the targets y, [n]; where it is not determined the one with the least Σ x_i².
  std::vector<double> fit(std::span<const double> targets) const;
  /// y_S − Σ_{i∈S} x_i, [m].
  std::vector<double> residuals(std::span<const double> targets, std::span<const double> x) const;
  /// G⁻¹ Σ_k c_k r_{S_k} over the listed rows: how x answers when their weighted targets change by c. Rows may repeat.
  std::vector<double> response(std::span<const std::size_t> rows, std::span<const double> changes) const;

 private:
  std::vector<double> solve(std::vector<double> moments) const;

  const Coalitions& coalitions_;
  std::vector<double> weights_;
  /// Column-major: the Cholesky factor of G + τ 11ᵀ/n, [n, n], lower triangle; or F with F Fᵀ the pseudoinverse of G,
  /// [n, rank].
  std::vector<double> factor_;
  std::optional<MatrixRank> deficient_rank_;
};

}  // namespace opshap::estimators
