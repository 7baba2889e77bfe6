#include "evaluation/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/estimator.hpp"
#include "core/stop.hpp"
#include "estimators/registry.hpp"

namespace opshap {

namespace {

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// Mean and sum of squared deviations of independent pairs, pooled from rounds that report their mean and standard error.
class PooledPairs {
 public:
  explicit PooledPairs(std::size_t players) : mean_(players, 0.0), squares_(players, 0.0) {}

  void add(const Attribution& round, double pairs) {
    const double total = pairs_ + pairs;
    for (std::size_t player = 0; player < mean_.size(); ++player) {
      const double within = pairs * (pairs - 1) * std::pow((*round.standard_errors)[player], 2);
      const double shift = round.values[player] - mean_[player];
      squares_[player] +=
          within + shift * shift * pairs_ * pairs / total;  // Chan, Golub, LeVeque (1979), pairwise update
      mean_[player] += shift * pairs / total;
    }
    pairs_ = total;
  }

  const std::vector<double>& mean() const { return mean_; }
  std::vector<double> standard_errors() const {
    std::vector<double> errors;
    for (const double squares : squares_) errors.push_back(std::sqrt(squares / (pairs_ * (pairs_ - 1))));
    return errors;
  }

 private:
  std::vector<double> mean_, squares_;
  double pairs_ = 0;
};

Reference sampled_reference(const Game& game, const EvaluationSettings& settings, std::uint64_t seed) {
  const Estimator& estimator = estimators::find("permutation_antithetic");
  const std::int64_t pair_cost = 2 * (game.players() - 1);
  const std::int64_t affordable = std::max<std::int64_t>(2, (settings.reference_budget - 2) / pair_cost);
  PooledPairs pooled(static_cast<std::size_t>(game.players()));
  Reference reference{.method = "permutation_antithetic", .attribution = {}, .error = 0};
  Attribution& sum = reference.attribution;
  for (std::int64_t done = 0; done < affordable;) {
    throw_if_stopped("reference");
    // Rounds as large as all before: the error is looked at often enough and the operator gets large batches.
    std::int64_t pairs = std::min(std::max<std::int64_t>(2, done), affordable - done);
    if (affordable - done - pairs == 1) ++pairs;  // one pair alone has no standard error
    const Attribution round = attribute(estimator, game, {2 + pairs * pair_cost},
                                        Rng(seed, "reference", 0, static_cast<std::uint64_t>(done)).bits64());
    pooled.add(round, static_cast<double>(pairs));
    done += pairs;
    sum.empty = round.empty;
    sum.grand = round.grand;
    sum.distinct += round.distinct;
    sum.evaluations += round.evaluations;
    sum.game_seconds += round.game_seconds;
    sum.estimator_seconds += round.estimator_seconds;
    sum.values = pooled.mean();
    sum.standard_errors = pooled.standard_errors();
    reference.error = norm(*sum.standard_errors) / norm(sum.values);
    if (reference.error <= settings.reference_error) break;
  }
  return reference;
}

}  // namespace

Reference reference(const Game& game, const EvaluationSettings& settings, std::uint64_t seed) {
  if (game.players() > settings.exact_players) return sampled_reference(game, settings, seed);
  Attribution exact = attribute(estimators::find("exact"), game, {}, seed);
  exact.standard_errors.emplace(exact.values.size(), 0.0);
  return {.method = "exact", .attribution = std::move(exact), .error = 0};
}

}  // namespace opshap
