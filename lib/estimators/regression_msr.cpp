#include "estimators/regression_msr.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/sample_reuse.hpp"

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

Fitted fit_without(const SampledGains& gains, std::span<const double> weights, const FitProxy& fit) {
  const std::unique_ptr<SolvedGame> proxy = fit(gains, weights);
  return {proxy->shapley_values(), proxy->values(gains.coalitions), gain_of(*proxy)};
}

/// (r(S) − r(N∖S))/2.
double odd_residual(const SampledGains& gains, const Fitted& proxy, std::size_t row) {
  const std::size_t set = 2 * row, complement = set + 1;
  return (gains.gains[set] - proxy.values[set] - gains.gains[complement] + proxy.values[complement]) / 2;
}

}  // namespace

Budget smallest_budget(Folds folds) { return {2 + 2 * std::int64_t{folds.count}}; }

Attribution regression_msr(CountedGame& game, Sampler sampler, SizeMass mass, Folds folds, const FitProxy& fit,
                           std::string_view who, Rng& rng) {
  require(folds.count >= 1, who, ": folds=", folds.count, " (needs 1 or more). Give 1, 2, 5 or 10.");
  require(folds.count == 1 || sampler == Sampler::iid, who, ": folds=", folds.count,
          " (parts of a sample are independent for independent draws only). Use one fold, or the iid sampler.");
  if (can_enumerate(game)) return enumerate_all(game);
  Attribution attribution;
  attribution.empty = game.empty();
  attribution.grand = game.grand();
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
    proxies[fold] = fit_without(gains, training, fit);
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

}  // namespace opshap::estimators
