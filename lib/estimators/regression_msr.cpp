#include "estimators/regression_msr.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/estimator.hpp"
#include "core/threads.hpp"
#include "estimators/exact.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/msr.hpp"

namespace opshap::estimators {

namespace {

/// v(N) − v(∅) of a proxy.
double gain_of(const SolvedGame& proxy) {
  Coalitions ends(proxy.players());
  ends.append_empty();
  ends.append_grand();
  const std::vector<double> values = proxy.values(ends);
  return values[1] - values[0];
}

/// One proxy, and what it says of all coalitions of the sample.
struct Fitted {
  std::vector<double> shapley_values;  ///< [n]
  std::vector<double> values;          ///< [2m]
  double gain = 0;
};

/// (r(S) − r(N∖S))/2.
double odd_residual(const SampledGains& gains, const Fitted& proxy, std::size_t row) {
  const std::size_t set = 2 * row, complement = set + 1;
  return (gains.gains[set] - proxy.values[set] - gains.gains[complement] + proxy.values[complement]) / 2;
}

}  // namespace

Attribution regression_msr(CountedGame& game, Sampler sampler, SizeMass mass, Folds folds, const FitProxy& fit,
                           std::string_view who, Rng& rng) {
  require(folds.count >= 1, who, ": folds=", folds.count, " (needs 1 or more). Give 1, 2, 5 or 10.");
  require(folds.count == 1 || sampler == Sampler::iid, who, ": folds=", folds.count,
          " (parts of a sample are independent for independent draws only). Use one fold, or the iid sampler.");
  if (can_enumerate(game)) return enumerate_all(game);
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};
  const auto n = static_cast<std::size_t>(game.players());
  SampledGains gains{.sample = sample_coalitions(sampler, SizeLaw(mass, game.players()), game.budget().coalitions - 2,
                                                 Pairing::complements, rng),
                     .coalitions = Coalitions(game.players()),
                     .gains = {},
                     .gain = attribution.grand - attribution.empty};
  const CoalitionSample& sample = gains.sample;
  gains.coalitions = all_coalitions(sample);
  gains.gains = game.values(gains.coalitions);
  for (double& value : gains.gains) value -= attribution.empty;

  // How much each fold's draws weigh: of row j in fold k, weight[k][j].
  const auto count = static_cast<std::size_t>(folds.count);
  std::vector<std::vector<double>> weight(count);
  if (count == 1) {
    weight[0] = sample.weights;
  } else {
    require(sample.draws.size() >= count, who, ": draws=", sample.draws.size(), " (needs one for each of ", count,
            " folds). Raise the budget.");
    for (auto& of_fold : weight) of_fold.assign(sample.weights.size(), 0.0);
    for (std::size_t draw = 0; draw < sample.draws.size(); ++draw)
      weight[draw % count][sample.draws[draw].row] += sample.draws[draw].weight;
  }

  std::vector<Fitted> proxies(count);
  parallel_for(count, [&](std::size_t fold) {
    std::vector<double> training(sample.weights.size(), 0.0);
    for (std::size_t other = 0; other < count; ++other) {
      if (other == fold && count > 1) continue;
      for (std::size_t row = 0; row < training.size(); ++row) training[row] += weight[other][row];
    }
    const std::unique_ptr<SolvedGame> proxy = fit(gains, training);
    proxies[fold] = {proxy->shapley_values(), proxy->values(gains.coalitions), gain_of(*proxy)};
  });

  // reuse_sample multiplies by the weight of the row, of which these are the parts.
  std::vector<double> residuals(sample.weights.size(), 0.0);
  attribution.values.assign(n, 0.0);
  for (std::size_t fold = 0; fold < count; ++fold) {
    const Fitted& proxy = proxies[fold];
    // Draws of this fold stand for all: there are draws/(draws of the fold) times as many, and K such estimates are
    // averaged.
    const std::size_t draws_here = (sample.draws.size() + count - 1 - fold) / count;
    const double scale = count == 1 ? 1
                                    : static_cast<double>(sample.draws.size()) / static_cast<double>(draws_here) /
                                          static_cast<double>(count);
    for (std::size_t row = 0; row < residuals.size(); ++row) {
      if (weight[fold][row] == 0) continue;
      residuals[row] += scale * weight[fold][row] / sample.weights[row] * odd_residual(gains, proxy, row);
    }
    const double missing = (gains.gain - proxy.gain) / static_cast<double>(n);
    for (std::size_t player = 0; player < n; ++player)
      attribution.values[player] += (proxy.shapley_values[player] + missing) / static_cast<double>(count);
  }
  const std::vector<double> correction = reuse_sample(sample, residuals);
  for (std::size_t player = 0; player < n; ++player) attribution.values[player] += correction[player];
  return attribution;
}

namespace {

/// What a proxy may be fitted with at the least: a pair for each fold.
std::int64_t smallest_budget(Folds folds) { return 2 + 2 * std::int64_t{folds.count}; }

/// v(S) = Σ_{i∈S} x_i.
class Linear final : public SolvedGame {
 public:
  explicit Linear(std::vector<double> x) : x_(std::move(x)) {}
  int players() const override { return static_cast<int>(x_.size()); }
  std::vector<double> shapley_values() const override { return x_; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    for (std::size_t row = 0; row < coalitions.size(); ++row) values.push_back(coalition_sum(x_, coalitions.row(row)));
    return values;
  }

 private:
  std::vector<double> x_;
};

constexpr Folds folds_of_linear{5};

std::int64_t minimum_of_linear(int players, Deficiency deficiency) {
  if (deficiency == Deficiency::minimum_norm) return smallest_budget(folds_of_linear);
  // n−1 pairs outside each fold, and some to spare, since independent draws repeat themselves: without these most
  // samples of few players are too low in rank, with these less than one in ten. Whether the pairs are independent
  // shows only when they are drawn.
  constexpr std::int64_t folds = folds_of_linear.count, spare_pairs = 12;
  const std::int64_t pairs = (folds * (players - 1) + folds - 2) / (folds - 1);
  return 2 + 2 * (pairs + spare_pairs);
}

Attribution estimate_linear(CountedGame& game, Deficiency deficiency, Rng& rng) {
  constexpr std::string_view name = "regression_msr_linear";
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
    const KernelRegression regression(seen.coalitions, seen.weights, name, deficiency);
    if (const auto& rank = regression.deficient_rank()) {
      const std::scoped_lock lock(folds_meet);
      if (!lowest_rank || rank->found < lowest_rank->found) lowest_rank = rank;
    }
    std::vector<double> x = regression.fit(targets);
    for (double& value : x) value += share;
    return std::make_unique<Linear>(std::move(x));
  };
  Attribution attribution = regression_msr(game, Sampler::iid, SizeMass::square_root, folds_of_linear, fit, name, rng);
  attribution.minimum_norm = lowest_rank;
  return attribution;
}

}  // namespace

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
std::unique_ptr<Estimator> regression_msr_linear() {
  return std::make_unique<LeastSquares>(LeastSquares::Method{
      .name = "regression_msr_linear",
      .summary = "least squares corrected by its residuals on held-out folds (Witter, Liu, Musco 2025)",
      .promises = {.bias = Bias::none, .linear = true},
      .of_odd_half = true,
      .minimum = minimum_of_linear,
      .estimate = estimate_linear});
}

namespace {

/// regression_msr() with tree_proxy().
class RegressionMsrTree final : public Estimator {
 public:
  RegressionMsrTree(std::string_view name, std::string_view summary, Sampler sampler, SizeMass mass, Folds folds)
      : name_(name), summary_(summary), sampler_(sampler), mass_(mass), folds_(folds) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  Guarantees guarantees() const override {
    return {.bias = folds_.count == 1 ? Bias::vanishing : Bias::none, .learns = true, .exact_at_full_budget = true};
  }
  Budget minimum(int) const override { return {smallest_budget(folds_)}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    return regression_msr(game, sampler_, mass_, folds_, tree_proxy(), name_, rng);
  }

 private:
  std::string_view name_, summary_;
  Sampler sampler_;
  SizeMass mass_;
  Folds folds_;
};

}  // namespace

FitProxy tree_proxy(const Boosting& boosting) {
  return [boosting](const SampledGains& gains, std::span<const double> weights) -> std::unique_ptr<SolvedGame> {
    Coalitions coalitions(gains.coalitions.players());
    coalitions.reserve(gains.coalitions.size() + 2);
    coalitions.append_empty();
    coalitions.append_grand();
    std::vector<double> targets{0, gains.gain};
    for (std::size_t row = 0; row < weights.size(); ++row) {
      if (weights[row] == 0) continue;
      for (const std::size_t of_pair : {2 * row, 2 * row + 1}) {
        coalitions.append(gains.coalitions.row(of_pair));
        targets.push_back(gains.gains[of_pair]);
      }
    }
    return std::make_unique<BoostedTrees>(BoostedTrees::fit(coalitions, targets, boosting));
  };
}

/// Boosted trees with a correction by their residuals, on pairs drawn independently with sizes ∝ 1/√(s(n−s)).
///
/// Source: Witter, Liu, Musco (2025). With five folds each residual is that of trees that have not seen its coalition,
/// and the estimate has no bias; with one fold it is biased as long as the trees come close to the values they were
/// fitted to. The trees see v(S) − v(∅), so a constant changes nothing. Cost: a fit of XGBoost a fold, about 1.5 s each
/// for 8192 coalitions of 1024 players.
std::unique_ptr<Estimator> regression_msr_tree() {
  return std::make_unique<RegressionMsrTree>(
      "regression_msr_tree", "boosted trees corrected by their residuals on held-out folds (Witter, Liu, Musco 2025)",
      Sampler::iid, SizeMass::square_root, Folds{5});
}

std::unique_ptr<Estimator> regression_msr_tree_in_sample() {
  return std::make_unique<RegressionMsrTree>(
      "regression_msr_tree_in_sample",
      "regression_msr_tree with residuals of the coalitions fitted to, hence biased (Witter, Liu, Musco 2025)",
      Sampler::iid, SizeMass::square_root, Folds{1});
}

/// What the library shapiq calls RegressionMSR in its versions 1.5.0 to 1.6.0, for comparisons with tables that were
/// made with it.
///
/// Pairs from the Shapley kernel, small sizes taken whole, the rest drawn until the budget of distinct coalitions is
/// used; trees and residuals on the same coalitions. Such trees come within a few percent of the values they were
/// fitted to, so little is left to correct. Its sampler and the reuse of the coalitions both bias it. XGBoost's later
/// default, hist, is used, as in those versions with XGBoost 2 or later. Source: shapiq 1.6.0,
/// src/shapiq/approximator/proxy/regressionmsr.py and proxyshap.py. Cost: one fit of XGBoost.
std::unique_ptr<Estimator> regression_msr_shapiq_1_6() {
  return std::make_unique<RegressionMsrTree>(
      "regression_msr_shapiq_1_6",
      "RegressionMSR as in shapiq 1.5.0 to 1.6.0: Shapley-kernel sizes, residuals in-sample, biased",
      Sampler::shapiq_compatible, SizeMass::shapley_kernel, Folds{1});
}

}  // namespace opshap::estimators
