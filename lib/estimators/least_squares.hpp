#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"

namespace opshap::estimators {

/// What becomes of a least-squares problem whose equations are too few, or too much alike, to determine its solution.
enum class Deficiency {
  refuse,        ///< InvalidArgument with its rank and the one it needs
  minimum_norm,  ///< of all solutions the one of least length; Attribution::minimum_norm says so
};

/// An estimator that solves a least-squares problem over the coalitions it draws. Exact where all may be evaluated.
class LeastSquares final : public Estimator {
 public:
  struct Method {
    std::string_view name, summary;
    /// Where every solution is the only one; what all of these estimators promise goes without saying.
    Guarantees promises;
    /// Only (v(S) − v(N∖S))/2 enters: even games give 0, a game and its dual the same, and pairs of players are exact.
    bool of_odd_half = false;
    std::function<std::int64_t(int players, Deficiency deficiency)> minimum;
    /// For a budget that does not allow all coalitions.
    std::function<Attribution(CountedGame& game, Deficiency deficiency, Rng& rng)> estimate;
  };

  explicit LeastSquares(Method method, Deficiency deficiency = Deficiency::refuse)
      : method_(std::move(method)), deficiency_(deficiency) {}

  /// The same method with Deficiency::minimum_norm. It works with smaller budgets, and promises to be exact on no
  /// family of games.
  std::unique_ptr<Estimator> with_minimum_norm() const {
    return std::make_unique<LeastSquares>(method_, Deficiency::minimum_norm);
  }

  std::string_view name() const override { return method_.name; }
  std::string_view summary() const override { return method_.summary; }
  Guarantees guarantees() const override;
  Budget minimum(int players) const override { return {method_.minimum(players, deficiency_)}; }
  Attribution estimate(CountedGame& game, Rng& rng) const override;

 private:
  Method method_;
  Deficiency deficiency_;
};

/// Σ_S w_S 1_S 1_Sᵀ, [n, n], both triangles.
///
/// Rows of equal weight must be next to each other: within such a run an entry is a number of common members, counted
/// 64 coalitions at a time. Cost: n²/2 · m/64 word operations, with AVX-512 where the processor counts bits in it. The
/// same on any number of threads.
std::vector<double> weighted_gram(const Coalitions& coalitions, std::span<const double> weights);

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
