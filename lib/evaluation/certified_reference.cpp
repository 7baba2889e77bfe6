#include "evaluation/certified_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/process.hpp"
#include "estimators/paired_regression.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"
#include "evaluation/growing_estimates.hpp"

namespace opshap::evaluation {

namespace {

constexpr int max_exact_players = 24;

/// The most of the witness by slopes.
constexpr int witness_nodes = 8;

/// Of what rounding may make of values: those that are smaller than this part of it are what rounding makes of 0.
constexpr double nothing = 1.0 / 64;

/// An estimate with what the cross-check has to know of it.
struct Part {
  const Estimator& estimator;
  Attribution attribution;
  double degrees;  ///< of its standard errors

  Estimate estimate() const { return {attribution.values, *attribution.standard_errors, degrees}; }
  double variance() const { return std::pow(norm(*attribution.standard_errors), 2); }
};

/// The mean of the two, or the trusted one alone where they do not agree.
CertifiedReference combined(const Part& trusted, const Part& other, const CrossCheck& check, double rounding,
                            const ReferenceSettings& settings) {
  CertifiedReference found{.method = std::string(trusted.estimator.name()), .attribution = trusted.attribution};
  found.rounding = rounding;
  found.cross_check = check;
  Attribution& mean = found.attribution;
  add_cost(mean, other.attribution);
  if (check.agrees()) {
    found.method = "certified";
    const double all = trusted.variance() + other.variance();
    const double weight = all > 0 ? other.variance() / all : 0.5;
    for (std::size_t player = 0; player < mean.values.size(); ++player) {
      mean.values[player] = weight * mean.values[player] + (1 - weight) * other.attribution.values[player];
      (*mean.standard_errors)[player] = std::hypot(weight * (*mean.standard_errors)[player],
                                                   (1 - weight) * (*other.attribution.standard_errors)[player]);
    }
  }
  const double sampling = norm(*mean.standard_errors);
  for (double& error : *mean.standard_errors) error = std::hypot(error, rounding);
  const double size = norm(mean.values), of_rounding = rounding * std::sqrt(static_cast<double>(mean.values.size()));
  found.only_rounding = sampling <= of_rounding;
  found.error = found.only_rounding && size <= of_rounding * nothing
                    ? Measured::undefined("the values are all 0 up to rounding")
                    : relative(norm(*mean.standard_errors), size);
  found.reached = found.error.value ? *found.error.value <= settings.relative_error : found.only_rounding;
  return found;
}

std::int64_t all_coalitions(const Game& game) {
  return game.players() > max_exact_players ? std::numeric_limits<std::int64_t>::max()
                                            : CountedGame(game, {}).all_coalitions();
}

/// A reference that is to be made, and of what.
struct Work {
  const WatchedGame& game;
  const ReferenceSettings& settings;
  std::uint64_t seed;
  const ReferenceEstimators& estimators;

  bool slopes() const { return game.extension() != nullptr; }
  std::unique_ptr<GrowingEstimate> orderings() const { return growing_orderings(game, estimators.orderings, seed); }
  std::unique_ptr<GrowingEstimate> by_regression() const {
    return growing_regression(game, estimators.regression, seed);
  }
  std::unique_ptr<GrowingEstimate> second() const {
    return slopes() ? growing_two_level(game, estimators.two_level, seed) : by_regression();
  }
};

/// Two estimates that grow, and a witness.
class Sampling {
 public:
  explicit Sampling(const Work& work)
      : work_(work),
        orderings_(work.orderings()),
        second_(work.second()),
        first_step_(orderings_->first() + second_->first()) {}

  static std::int64_t minimum(const Work& work) { return work.orderings()->least() + work.second()->least(); }

  /// What all steps cost.
  Attribution spent() const {
    Attribution cost = orderings_->spent();
    add_cost(cost, second_->spent());
    add_cost(cost, left_behind_);
    if (witness_) add_cost(cost, witness_->attribution);
    return cost;
  }

  /// Nothing when enumeration is cheaper.
  std::optional<CertifiedReference> run() {
    Step step = first();
    std::vector<double> known;
    for (int count = 0;; ++count) {
      throw_if_stopped("reference");
      if (all_coalitions(work_.game) <= step.orderings + step.second) return std::nullopt;
      if (step.orderings > 0) orderings_->grow(step.orderings, count, known);
      if (known.empty()) known = orderings_->attribution().values;
      if (step.second > 0) second_->grow(step.second, count, known);
      CertifiedReference found = judged();
      known = found.attribution.values;
      // The directions of the larger error must be known for the check to see anything.
      const double of_orderings = variance(found.estimates[0]), of_second = variance(found.estimates[1]);
      const bool blind = of_second > of_orderings && second_->rounds().size() < 3;
      if ((found.reached || found.only_rounding) && !blind) return found;
      step = blind ? telling() : next(found, of_orderings, of_second);
      if (step.orderings > 0 || step.second > 0) continue;
      found.reached = found.reached && !blind;
      return found;
    }
  }

 private:
  /// Budgets of the two; 0: it does not grow.
  struct Step {
    std::int64_t orderings = 0, second = 0;
  };

  static double variance(const ReferenceEstimate& estimate) {
    return std::pow(norm(*estimate.attribution.standard_errors), 2);
  }

  /// The reference as it is now, and what the witness says of it.
  CertifiedReference judged() {
    const Part orderings{work_.estimators.orderings, orderings_->attribution(), orderings_->degrees()};
    const Part second{second_->estimator(), second_->attribution(), second_->degrees()};
    const double dimension = dimension_of_sum(orderings.variance(), least_dimension(orderings_->rounds()),
                                              second.variance(), least_dimension(second_->rounds()));
    const double rounding = work_.game.rounding();
    const CrossCheck check = cross_check(orderings.estimate(), second.estimate(), dimension, rounding);
    if (!asked_ && (work_.slopes() || !check.agrees())) ask_witness();
    const auto apart = [this](const Part& part) {
      return distance(witness_->attribution.values, part.attribution.values);
    };
    const bool second_trusted = !check.agrees() && witness_ && 2 * apart(second) <= apart(orderings);
    const Part &trusted = second_trusted ? second : orderings, &other = second_trusted ? orderings : second;
    CertifiedReference found = combined(trusted, other, check, rounding, work_.settings);
    for (const Part* part : {&orderings, &second})
      found.estimates.push_back({std::string(part->estimator.name()), part->attribution});
    add_cost(found.attribution, left_behind_);
    if (!witness_) return found;
    add_cost(found.attribution, witness_->attribution);
    Witness& witness = found.witness.emplace(*witness_);
    witness.distance = distance(witness.attribution.values, found.attribution.values);
    witness.agrees = witness.error_bar
                         ? witness.distance <= 3 * std::hypot(*witness.error_bar * norm(witness.attribution.values),
                                                              norm(*found.attribution.standard_errors))
                         : 2 * witness.distance <= apart(other);
    return found;
  }

  /// At most once. A method that cannot answer is no witness.
  void ask_witness() {
    asked_ = true;
    const std::int64_t most = work_.slopes() ? dearest_witness(work_.game) : first_step_;
    if (most > (work_.slopes() ? left() / 4 : left())) return;
    const Estimator& estimator = work_.slopes() ? work_.estimators.slopes_witness : work_.estimators.values_witness;
    try {
      Attribution found =
          attribute(estimator, work_.game, {first_step_}, reference_seed(work_.seed, ReferenceStream::witness, 0));
      if (work_.slopes()) found.evaluations = found.distinct + work_.game.pass_cost() * found.gradients;
      witness_ = {.method = std::string(estimator.name()), .attribution = std::move(found)};
      if (const auto& order = witness_->attribution.second_order) witness_->error_bar = order->error_bar;
    } catch (const NumericalError&) {   // gradients off the corners that are no numbers
    } catch (const InvalidArgument&) {  // a sample that does not determine the values
    }
  }

  /// The first order at four and eight nodes, two points a direction at eight, and v(∅) and v(N).
  static std::int64_t dearest_witness(const WatchedGame& game) {
    const std::int64_t directions = estimators::comb_directions(game.players());
    return 2 + (witness_nodes / 2 + witness_nodes * (1 + 2 * directions)) * game.pass_cost();
  }

  /// What may still be spent. Work that had to begin again in another unit counts, and so do coalitions that came
  /// again.
  std::int64_t left() const {
    return work_.settings.max_evaluations - std::max(work_.game.charged(), spent().evaluations);
  }

  /// The same for both, or what can be afforded.
  Step first() const {
    const std::int64_t spare = work_.settings.max_evaluations - minimum(work_);
    Step step{orderings_->least(), second_->least()};
    step.second += std::clamp<std::int64_t>(second_->first() - step.second, 0, spare / 2);
    const std::int64_t wanted = std::max(step.second, orderings_->first());
    step.orderings += std::clamp<std::int64_t>(wanted - step.orderings, 0, spare / 2);
    return step;
  }

  /// Nothing when it cannot be afforded.
  Step telling() const {
    const std::int64_t budget = second_->telling();
    return budget <= left() ? Step{0, budget} : Step{};
  }

  /// What the error asks for with a fifth to spare, or what can be afforded; nothing when that is hardly more than what
  /// there is.
  Step next(const CertifiedReference& found, double of_orderings, double of_second) {
    const auto orderings_cost = static_cast<double>(orderings_->cost()),
               second_cost = static_cast<double>(second_->cost());
    const bool agree = found.cross_check->agrees();
    const bool by_orderings = agree ? of_orderings * orderings_cost < of_second * second_cost
                                    : found.method == found.estimates.front().method;
    const double cost = by_orderings ? orderings_cost : second_cost, variance = by_orderings ? of_orderings : of_second,
                 other = by_orderings ? of_second : of_orderings;
    const double target = std::pow(work_.settings.relative_error * norm(found.attribution.values), 2);
    const double missing = variance * (1 / target - (agree && other > 0 ? 1 / other : 0));
    const double more = (std::clamp(1.2 * missing, 1.5, 8.0) - 1) * cost;
    if (by_orderings && agree && by_slopes() && more > 4 * second_cost) {
      if (const Step step = without_slopes(); step.second > 0) return step;
    }
    const bool checked = agree && found.witness && found.witness->agrees && found.witness->error_bar &&
                         *found.witness->error_bar <= work_.settings.relative_error;
    const double check = checked ? 0 : std::max(0.0, (cost + more) / 4 - (by_orderings ? second_cost : orderings_cost));
    const auto affordable = static_cast<double>(left());
    const double part = std::min(1.0, affordable / (more + check));
    if (part * more < cost / 4) return {};
    const auto growing = static_cast<std::int64_t>(part * more), checking = static_cast<std::int64_t>(part * check);
    Step step = by_orderings ? Step{growing, checking} : Step{checking, growing};
    if (step.orderings < orderings_->least()) step.orderings = 0;
    if (step.second < second_->least()) {
      const bool enough = static_cast<double>(second_->least()) + part * check <= affordable;
      step.second = !by_orderings && enough ? second_->least() : 0;
    }
    return step;
  }

  bool by_slopes() const { return &second_->estimator() == &work_.estimators.two_level; }

  /// From here on the game is one of values alone, and regression is the second estimate. Nothing when it cannot be
  /// afforded.
  Step without_slopes() {
    std::unique_ptr<GrowingEstimate> regression = work_.by_regression();
    const std::int64_t budget = std::max(regression->first(), orderings_->cost());
    if (budget > left()) return {};
    add_cost(left_behind_, second_->spent());
    second_ = std::move(regression);
    return {0, budget};
  }

  const Work work_;
  std::unique_ptr<GrowingEstimate> orderings_, second_;
  Attribution left_behind_;  ///< what an estimate has cost that is no more part of the reference
  std::int64_t first_step_;  ///< what it costs where it can be afforded
  bool asked_ = false;
  std::optional<Witness> witness_;
};

CertifiedReference exact(const Game& game) {
  CertifiedReference found{.method = "exact", .attribution = attribute(estimators::find("exact"), game, {}, 0)};
  found.attribution.standard_errors.emplace(found.attribution.values.size(), 0.0);
  return found;
}

/// A reference in units as one of the game itself.
CertifiedReference outside(const Scale& scale, CertifiedReference found) {
  const auto leave = [&scale](Attribution& attribution) {
    attribution.values = scale.outside(std::move(attribution.values));
    if (attribution.standard_errors)
      attribution.standard_errors = scale.outside(*std::move(attribution.standard_errors));
    attribution.empty = scale.outside(attribution.empty);
    attribution.grand = scale.outside(attribution.grand);
  };
  leave(found.attribution);
  for (ReferenceEstimate& estimate : found.estimates) leave(estimate.attribution);
  if (found.witness) {
    leave(found.witness->attribution);
    found.witness->distance = scale.outside(found.witness->distance);
  }
  found.rounding = scale.outside(found.rounding);
  return found;
}

CertifiedReference sampled(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                           const ReferenceEstimators& estimators) {
  WatchedGame watched(game);
  for (;;) {
    try {
      Sampling sampling({watched, settings, seed, estimators});
      if (auto found = sampling.run()) return outside(watched.scale(), *std::move(found));
      CertifiedReference found = exact(game);
      add_cost(found.attribution, sampling.spent());
      return found;
    } catch (const WatchedGame::Outgrown& outgrown) {
      watched.rescale(outgrown);
    }
  }
}

}  // namespace

const Estimator& reference_regression() {
  static const std::unique_ptr<Estimator> regression = estimators::paired_regression();
  return *regression;
}

const Estimator& reference_witness() {
  static const std::unique_ptr<Estimator> witness =
      estimators::diagonal_second_order({.nodes = witness_nodes / 2, .most_nodes = witness_nodes});
  return *witness;
}

std::int64_t minimum_reference_evaluations(const Game& game) {
  return Sampling::minimum({WatchedGame(game), {}, 0, {}});
}

CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                                       const ReferenceEstimators& estimators) {
  require(settings.relative_error > 0, "reference: relative_error=", settings.relative_error,
          " (must be positive). Give 0.01.");
  require(settings.exact_players >= 0 && settings.exact_players <= max_exact_players,
          "reference: exact_players=", settings.exact_players,
          " (all 2^n coalitions are enumerated, n <= ", max_exact_players, "). Give 0..", max_exact_players, ".");
  if (game.players() <= settings.exact_players) return exact(game);
  const std::int64_t minimum = minimum_reference_evaluations(game);
  const bool enumerable = game.players() <= max_exact_players && minimum >= std::int64_t{1} << game.players();
  require(enumerable || settings.max_evaluations >= minimum, "reference: max_evaluations=", settings.max_evaluations,
          " (two estimates with standard errors take ", minimum, " for n=", game.players(),
          " players). Raise it, or group the cells into fewer players.");
  return sampled(game, settings, seed, estimators);
}

}  // namespace opshap::evaluation
