#include <algorithm>
#include <cstddef>
#include <mutex>
#include <numeric>

#include "estimators/kernel_regression.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "estimators/regression_msr.hpp"
#include "estimators/sample_targets.hpp"

namespace opshap::estimators {

namespace {

/// v(S) = Σ_{i∈S} x_i.
class Linear final : public SolvedGame {
 public:
  explicit Linear(std::vector<double> x) : x_(std::move(x)) {}
  int players() const override { return static_cast<int>(x_.size()); }
  std::vector<double> shapley_values() const override { return x_; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size());
    for (std::size_t row = 0; row < values.size(); ++row) {
      for (std::size_t player = 0; player < x_.size(); ++player)
        values[row] += coalitions.contains(row, static_cast<int>(player)) ? x_[player] : 0.0;
    }
    return values;
  }

 private:
  std::vector<double> x_;
};

/// The regression of kernel_shap_paired with its bias taken out: its solution on four fifths of the draws is a proxy
/// for the last fifth, five times over.
///
/// Source: Witter, Liu, Musco (2025), with least squares for the proxy. As the proxy is efficient and only halves v(S)
/// − v(N∖S) enter, games of pairwise interactions are explained exactly. All coalitions weigh the same in the fit: what
/// the sizes' law draws is then what it comes close to, and under this law the variance of the correction is
/// proportional to the mean square of what is left. Cost: five times that of KernelRegression. Unbiased at every budget
/// when the minimum-norm solution stands in for a fit that the sample does not determine: any proxy that has not seen
/// the fold will do. Without it the method refuses such samples, and the mean of the others is unbiased up to the odds
/// of a refusal, because acceptance depends on all folds.
class RegressionMsrLinear final : public LeastSquares {
 public:
  explicit RegressionMsrLinear(Deficiency deficiency = Deficiency::refuse) : LeastSquares(deficiency) {}

  std::string_view name() const override { return "regression_msr_linear"; }
  std::string_view summary() const override {
    return "least squares corrected by its residuals on held-out folds (Witter, Liu, Musco 2025)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::none,
            .exact_on_additive = determined(),
            .exact_on_two_additive = determined(),
            .zero_on_even = true,
            .same_on_dual = true,
            .linear = true,
            .exact_at_full_budget = true,
            .refusal = refusal()};
  }
  /// n−1 pairs outside each fold, and some to spare, since independent draws repeat themselves: without these most
  /// samples of few players are too low in rank, with these less than one in ten. Whether the pairs are independent
  /// shows only when they are drawn.
  Budget minimum(int players) const override {
    if (!determined()) return smallest_budget(folds);
    const std::int64_t pairs = (std::int64_t{folds.count} * (players - 1) + folds.count - 2) / (folds.count - 1);
    return {2 + 2 * (pairs + spare_pairs)};
  }

  std::unique_ptr<Estimator> with_minimum_norm() const override {
    return std::make_unique<RegressionMsrLinear>(Deficiency::minimum_norm);
  }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    std::mutex folds_meet;
    std::optional<MatrixRank> lowest_rank;
    const auto fit = [&](const SampledGains& gains, std::span<const double> weights) {
      CoalitionSample seen(gains.sample.coalitions.players(), Pairing::complements);
      std::vector<double> targets;
      for (std::size_t row = 0; row < weights.size(); ++row) {
        if (weights[row] == 0) continue;
        seen.coalitions.append(gains.sample.coalitions.row(row));
        targets.push_back((gains.gains[2 * row] - gains.gains[2 * row + 1]) / 2);
      }
      seen.weights.assign(targets.size(), 1.0);
      const double share = gains.gain / seen.coalitions.players();
      subtract_equal_shares(targets, seen, share);
      const KernelRegression regression(seen.coalitions, seen.weights, name(), deficiency());
      if (const auto& rank = regression.deficient_rank()) {
        const std::scoped_lock lock(folds_meet);
        if (!lowest_rank || rank->found < lowest_rank->found) lowest_rank = rank;
      }
      std::vector<double> x = regression.fit(targets);
      for (double& value : x) value += share;
      return std::make_unique<Linear>(std::move(x));
    };
    Attribution attribution = regression_msr(game, Sampler::iid, SizeMass::square_root, folds, fit, name(), rng);
    attribution.minimum_norm = lowest_rank;
    return attribution;
  }

 private:
  static constexpr Folds folds{5};
  static constexpr std::int64_t spare_pairs = 12;
};

}  // namespace

std::unique_ptr<Estimator> regression_msr_linear() { return std::make_unique<RegressionMsrLinear>(); }

}  // namespace opshap::estimators
