#include "evaluation/certified_reference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/stop.hpp"
#include "estimators/kernel_regression.hpp"
#include "estimators/registry.hpp"

namespace opshap::evaluation {

namespace {

/// A step's orderings come in so many independent rounds: enough to see how many directions their error has.
constexpr int rounds = 8;
/// Of the standard errors of the regression, which are over 32 random groups.
constexpr double regression_degrees = 31;
/// Roundings between the game's values and an attribution: the condition of the regression is up to some hundreds.
constexpr double roundings = 256;
constexpr int max_exact_players = 24;

enum Purpose : std::uint32_t { orderings_stream, regression_stream };

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// Passes coalitions on, counts them and remembers the largest value.
class WatchedGame final : public Game {
 public:
  explicit WatchedGame(const Game& game) : game_(game) {}
  int players() const override { return game_.players(); }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values = game_.values(coalitions);
    double largest = largest_;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (double known = largest_; largest > known && !largest_.compare_exchange_weak(known, largest);) {
    }
    evaluations_ += static_cast<std::int64_t>(values.size());
    return values;
  }
  std::int64_t evaluations() const { return evaluations_; }
  double rounding() const { return roundings * std::numeric_limits<double>::epsilon() * largest_; }

 private:
  const Game& game_;
  mutable std::atomic<std::int64_t> evaluations_{0};
  mutable std::atomic<double> largest_{0};
};

void add_cost(Attribution& sum, const Attribution& part) {
  sum.distinct += part.distinct;
  sum.evaluations += part.evaluations;
  sum.game_seconds += part.game_seconds;
  sum.estimator_seconds += part.estimator_seconds;
}

/// Mean and sum of squared deviations of independent pairs of orderings, pooled from rounds that report their mean and
/// standard error.
class PooledPairs {
 public:
  explicit PooledPairs(std::size_t players) : squares_(players, 0.0) { sum_.values.resize(players); }

  void add(const Attribution& round, std::int64_t pairs) {
    const auto before = static_cast<double>(pairs_), fresh = static_cast<double>(pairs), total = before + fresh;
    for (std::size_t player = 0; player < squares_.size(); ++player) {
      const double within = pairs > 1 ? fresh * (fresh - 1) * std::pow((*round.standard_errors)[player], 2) : 0;
      const double shift = round.values[player] - sum_.values[player];
      squares_[player] += within + shift * shift * before * fresh / total;  // Chan, Golub, LeVeque (1979)
      sum_.values[player] += shift * fresh / total;
    }
    pairs_ += pairs;
    sum_.empty = round.empty;
    sum_.grand = round.grand;
    add_cost(sum_, round);
  }

  std::int64_t pairs() const { return pairs_; }
  const Attribution& cost() const { return sum_; }
  /// Two pairs or more.
  Attribution attribution() const {
    Attribution found = sum_;
    const auto count = static_cast<double>(pairs_);
    found.standard_errors.emplace();
    for (const double squares : squares_) found.standard_errors->push_back(std::sqrt(squares / (count * (count - 1))));
    return found;
  }

 private:
  Attribution sum_;
  std::vector<double> squares_;
  std::int64_t pairs_ = 0;
};

/// Evaluations of the orderings in the first step: eight pairs, and enough for a regression on half of them to know its
/// error.
std::int64_t first_step(int players) { return std::max<std::int64_t>(16 * (std::int64_t{players} - 1), 1024); }

/// Of a step that raises the orderings' evaluations from `before` to `now`; each attribute() looks at ∅ and N again.
std::int64_t step_cost(std::int64_t before, std::int64_t now) { return now - before + 2 * rounds + now / 2 + 2; }

class Sampling {
 public:
  Sampling(const Game& game, const ReferenceSettings& settings, std::uint64_t seed, const Estimator& regression)
      : game_(game),
        settings_(settings),
        seed_(seed),
        regression_(regression),
        pair_cost_(2 * (std::int64_t{game.players()} - 1)),
        pairs_(static_cast<std::size_t>(game.players())) {}

  /// What all steps cost.
  Attribution spent() const {
    Attribution cost = pairs_.cost();
    add_cost(cost, fit_);
    return cost;
  }

  /// Nothing when enumeration is cheaper.
  std::optional<CertifiedReference> run() {
    std::int64_t all = CountedGame(game_, {}).all_coalitions();
    if (game_.players() > max_exact_players) all = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t now = first_step(game_.players());; ++step_) {
      throw_if_stopped("reference");
      if (all <= step_cost(pairs_.pairs() * pair_cost_, now)) return std::nullopt;
      step(now);
      const CertifiedReference found = combined();
      const bool complete = fit_.standard_errors.has_value();
      if (found.reached && complete) return found;
      const std::int64_t before = std::exchange(now, next(now, complete ? found.error / settings_.relative_error : 2));
      if (now > before) continue;
      require(complete, "reference: max_evaluations=", settings_.max_evaluations, " (", regression_.name(),
              " has no standard errors yet). Raise it.");
      return found;
    }
  }

 private:
  void step(std::int64_t evaluations) {
    const std::int64_t fresh = (evaluations / pair_cost_ - pairs_.pairs()) / rounds;
    if (fresh > 0) round_means_.clear();
    for (int round = 0; fresh > 0 && round < rounds; ++round) {
      const std::uint64_t item = static_cast<std::uint64_t>(step_) * rounds + static_cast<std::uint64_t>(round);
      const Attribution part = attribute(estimators::find("permutation_antithetic"), game_, {2 + fresh * pair_cost_},
                                         Rng(seed_, "reference", orderings_stream, item).bits64());
      pairs_.add(part, fresh);
      round_means_.push_back(part.values);
    }
    const Attribution discarded = std::exchange(
        fit_, attribute(regression_, game_, {2 + evaluations / 2},
                        Rng(seed_, "reference", regression_stream, static_cast<std::uint64_t>(step_)).bits64()));
    add_cost(fit_, discarded);
  }

  /// The budget of the next step: what the error asks for with a fifth to spare, at least twice and at most eight times
  /// this one; or what can be afforded; or this one when that is hardly more.
  std::int64_t next(std::int64_t now, double missing) const {
    const double factor = std::clamp(1.2 * missing * missing, 2.0, 8.0);
    const auto wanted = static_cast<std::int64_t>(factor * static_cast<double>(now));
    const std::int64_t left = settings_.max_evaluations - game_.evaluations();
    const std::int64_t affordable = (left + pairs_.pairs() * pair_cost_ - 2 * rounds - 2) / 3 * 2;
    const std::int64_t taken = std::min(wanted, affordable);
    return 4 * taken < 5 * now ? now : taken;
  }

  CertifiedReference combined() const {
    CertifiedReference found{.method = "certified", .attribution = pairs_.attribution()};
    found.rounding = game_.rounding();
    found.orderings = found.attribution;
    found.regression = fit_;
    Attribution& mean = found.attribution;
    add_cost(mean, fit_);
    if (fit_.standard_errors) {
      found.cross_check = cross_check({mean.values, *mean.standard_errors, static_cast<double>(pairs_.pairs() - 1)},
                                      {fit_.values, *fit_.standard_errors, regression_degrees},
                                      effective_dimension(round_means_), found.rounding);
    }
    if (found.cross_check && found.cross_check->agrees()) {
      const double orderings = std::pow(norm(*mean.standard_errors), 2);
      const double regression = std::pow(norm(*fit_.standard_errors), 2);
      const double weight = orderings + regression > 0 ? regression / (orderings + regression) : 0.5;
      for (std::size_t player = 0; player < mean.values.size(); ++player) {
        mean.values[player] = weight * mean.values[player] + (1 - weight) * fit_.values[player];
        (*mean.standard_errors)[player] =
            std::hypot(weight * (*mean.standard_errors)[player], (1 - weight) * (*fit_.standard_errors)[player]);
      }
    } else {
      found.method = "permutation_antithetic";
    }
    const double sampling = norm(*mean.standard_errors);
    for (double& error : *mean.standard_errors) error = std::hypot(error, found.rounding);
    const double error = norm(*mean.standard_errors);
    found.error = error > 0 ? error / norm(mean.values) : 0;
    found.reached = found.error <= settings_.relative_error ||
                    sampling <= found.rounding * std::sqrt(static_cast<double>(mean.values.size()));
    return found;
  }

  WatchedGame game_;
  const ReferenceSettings& settings_;
  std::uint64_t seed_;
  const Estimator& regression_;
  std::int64_t pair_cost_;
  PooledPairs pairs_;
  Attribution fit_;  ///< of the last step, with the cost of all
  std::vector<std::vector<double>> round_means_;
  int step_ = 0;
};

CertifiedReference exact(const Game& game) {
  CertifiedReference found{.method = "exact", .attribution = attribute(estimators::find("exact"), game, {}, 0)};
  found.attribution.standard_errors.emplace(found.attribution.values.size(), 0.0);
  return found;
}

}  // namespace

std::int64_t minimum_reference_evaluations(int players) { return step_cost(0, first_step(players)); }

CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed) {
  return certified_reference(game, settings, seed, estimators::find("kernel_shap_paired"));
}

CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                                       const Estimator& regression) {
  require(settings.relative_error > 0, "reference: relative_error=", settings.relative_error,
          " (must be positive). Give 0.01.");
  require(settings.exact_players >= 0 && settings.exact_players <= max_exact_players,
          "reference: exact_players=", settings.exact_players,
          " (all 2^n coalitions are enumerated, n <= ", max_exact_players, "). Give 0..", max_exact_players, ".");
  if (game.players() > settings.exact_players) {
    require(game.players() <= estimators::KernelRegression::max_players, "reference: players=", game.players(),
            " (the regression solves an n x n system, n <= ", estimators::KernelRegression::max_players,
            "). Group the cells into fewer players.");
    const std::int64_t minimum = minimum_reference_evaluations(game.players());
    const bool enumerable = game.players() <= max_exact_players && minimum >= std::int64_t{1} << game.players();
    require(enumerable || settings.max_evaluations >= minimum, "reference: max_evaluations=", settings.max_evaluations,
            " (two estimates with standard errors take ", minimum, " for n=", game.players(),
            " players). Raise it, or group the cells into fewer players.");
    Sampling sampling(game, settings, seed, regression);
    if (auto found = sampling.run()) return *std::move(found);
    CertifiedReference found = exact(game);
    add_cost(found.attribution, sampling.spent());
    return found;
  }
  return exact(game);
}

}  // namespace opshap::evaluation
