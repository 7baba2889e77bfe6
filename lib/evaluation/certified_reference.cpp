#include "evaluation/certified_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "estimators/least_squares.hpp"

namespace opshap::evaluation {

namespace {

/// Roundings between the game's values and an attribution: the condition of the regression is up to some hundreds.
constexpr double roundings_of_a_gap = 256;

/// What each estimate of a game with slopes may cost in the first step, in forward equivalents, where that is enough.
constexpr std::int64_t first_budget = 4096;

/// The most independent rounds that a step comes in: enough to see how many directions the error has.
constexpr int most_rounds = 8;

/// A game in units of a Scale, which counts what it is asked for and remembers the largest value. Refers to the game.
///
/// It asks the game for v(∅) and v(N) when it is made, and keeps them. A number that is too large for the unit throws
/// Outgrown: the work has to begin again, after rescale().
class WatchedGame final : public Game, public Extension {
 public:
  struct Outgrown {
    int exponent;  ///< of the unit that suits the number
  };

  explicit WatchedGame(const Game& game) : game_(game) {
    Coalitions both(game.players());
    both.append_empty();
    both.append_grand();
    ends_ = CountedGame(game, {2}).values(both);
    scale_.see(ends_);
  }
  int players() const override { return game_.players(); }
  const Extension* extension() const override { return game_.slopes() == nullptr ? nullptr : this; }
  std::vector<double> gradients(std::span<const double> points) const override {
    charged_ += static_cast<std::int64_t>(points.size()) / players() * pass_cost();
    return scaled(game_.slopes()->gradients(points));
  }
  std::int64_t pass_cost() const override { return game_.slopes()->pass_cost(); }

  /// Evaluations, and passes by their cost: forward equivalents.
  std::int64_t charged() const { return charged_; }
  /// What rounding alone may change an attribution's value by, in units.
  double rounding() const { return roundings_of_a_gap * std::numeric_limits<double>::epsilon() * largest_; }
  const Scale& scale() const { return scale_; }
  void rescale(const Outgrown& outgrown) {
    scale_ = Scale(outgrown.exponent);
    largest_ = 0;
  }

 private:
  std::vector<double> scaled(std::vector<double> numbers) const {
    for (const double number : numbers) {
      if (!std::isfinite(number)) return numbers;  // whoever asked refuses it by name
    }
    if (const std::optional<int> exponent = scale_.see(numbers)) throw Outgrown{*exponent};
    return scale_.inside(std::move(numbers));
  }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    charged_ += static_cast<std::int64_t>(coalitions.size());
    const bool ends =
        coalitions.size() == 2 && coalitions.cardinality(0) == 0 && coalitions.cardinality(1) == players();
    const std::vector<double> values = scaled(ends ? ends_ : game_.values(coalitions));
    for (const double value : values) largest_ = std::max(largest_, std::abs(value));
    return values;
  }

  const Game& game_;
  std::vector<double> ends_;  ///< v(∅) and v(N)
  mutable Scale scale_;       ///< set by the first number that is not 0
  mutable std::int64_t charged_ = 0;
  mutable double largest_ = 0;
};

/// Adds what `part` cost to `sum`.
void add_cost(Attribution& sum, const Attribution& part) {
  sum.distinct += part.distinct;
  sum.evaluations += part.evaluations;
  sum.gradients += part.gradients;
  sum.forward_equivalents += part.forward_equivalents;
  sum.game_seconds += part.game_seconds;
  sum.estimator_seconds += part.estimator_seconds;
}

/// What a reference draws random numbers for.
enum class ReferenceStream : std::uint32_t { orderings, regression, two_level };

std::uint64_t reference_seed(std::uint64_t seed, ReferenceStream stream, int item) {
  return Rng(seed, "reference", static_cast<std::uint32_t>(stream), static_cast<std::uint64_t>(item)).bits64();
}

/// Keeps the means of a step's rounds unless an earlier step had more of them.
void keep(std::vector<std::vector<double>>& kept, std::vector<std::vector<double>> fresh) {
  if (fresh.size() >= kept.size()) kept = std::move(fresh);
}

/// Antithetic pairs of orderings, pooled over any number of steps. Refers to the game and the estimator.
class GrowingOrderings {
 public:
  GrowingOrderings(const Game& game, const Estimator& estimator, std::uint64_t seed)
      : game_(game),
        estimator_(estimator),
        seed_(seed),
        pair_cost_(2 * (std::int64_t{game.players()} - 1)),
        squares_(static_cast<std::size_t>(game.players()), 0.0) {
    sum_.values.resize(squares_.size());
  }

  /// Adds so many pairs, less what is left over when rounds of equal size are made of them.
  void grow(std::int64_t fresh_pairs, int step) {
    const int rounds = static_cast<int>(std::min<std::int64_t>(most_rounds, fresh_pairs));
    std::vector<std::vector<double>> means;
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t pairs = fresh_pairs / rounds;
      const Attribution part = attribute(estimator_, game_, {2 + pairs * pair_cost_},
                                         reference_seed(seed_, ReferenceStream::orderings, step * most_rounds + round));
      add(part, pairs);
      means.push_back(part.values);
    }
    keep(rounds_, std::move(means));
  }

  std::int64_t pair_cost() const { return pair_cost_; }
  std::int64_t pairs() const { return pairs_; }
  std::int64_t cost() const { return pairs_ * pair_cost_; }
  const Attribution& spent() const { return sum_; }
  /// Degrees of freedom of the standard errors.
  double degrees() const { return static_cast<double>(pairs_ - 1); }
  /// Means of the last step's rounds, or of an earlier one's that had more.
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  /// Two pairs or more.
  Attribution attribution() const {
    Attribution found = sum_;
    const auto count = static_cast<double>(pairs_);
    found.standard_errors.emplace();
    for (const double squares : squares_) found.standard_errors->push_back(std::sqrt(squares / (count * (count - 1))));
    return found;
  }

 private:
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

  const Game& game_;
  const Estimator& estimator_;
  std::uint64_t seed_;
  std::int64_t pair_cost_, pairs_ = 0;
  Attribution sum_;
  std::vector<double> squares_;  ///< of the deviations of independent pairs
  std::vector<std::vector<double>> rounds_;
};

/// Runs of the two-level estimator, pooled over any number of steps with weights in proportion to their budgets, which
/// do not depend on what was found: the mean stays unbiased. Refers to the game and the estimator.
class GrowingTwoLevel {
 public:
  GrowingTwoLevel(const Game& game, const Estimator& estimator, std::uint64_t seed)
      : game_(game), estimator_(estimator), seed_(seed), variances_(static_cast<std::size_t>(game.players()), 0.0) {
    sum_.values.resize(variances_.size());
  }

  /// A budget for one run, or for three where that is no more than a first step: so many tell the directions of their
  /// error.
  static std::int64_t least(const Estimator& estimator, int players) {
    const std::int64_t one = one_run(estimator, players);
    return 3 * one <= first_budget ? 3 * one : one;
  }
  std::int64_t least() const { return least(estimator_, game_.players()); }
  /// Adds runs that may cost so many forward equivalents together: as many as have twice the least budget of a run
  /// each, or three if they can be had, up to most_rounds. At least least().
  void grow(std::int64_t budget, int step) {
    const std::int64_t one = one_run(estimator_, game_.players());
    const std::int64_t wanted = std::max(budget / (2 * one), budget >= 3 * one ? std::int64_t{3} : std::int64_t{1});
    const int rounds = static_cast<int>(std::min<std::int64_t>(wanted, most_rounds));
    const auto weight = static_cast<double>(budget / rounds);
    std::vector<std::vector<double>> means;
    for (int round = 0; round < rounds; ++round) {
      Attribution part = attribute(estimator_, game_, {budget / rounds},
                                   reference_seed(seed_, ReferenceStream::two_level, step * most_rounds + round));
      for (std::size_t player = 0; player < variances_.size(); ++player) {
        sum_.values[player] += weight * part.values[player];
        variances_[player] += std::pow(weight * (*part.standard_errors)[player], 2);
      }
      sum_.empty = part.empty;
      sum_.grand = part.grand;
      degrees_ += degrees_of(part);
      part.evaluations = part.distinct + game_.slopes()->pass_cost() * part.gradients;
      add_cost(sum_, part);
      means.push_back(std::move(part.values));
    }
    cost_ += rounds * (budget / rounds);
    keep(rounds_, std::move(means));
  }
  /// What three runs take, so that rounds() tells the directions of their error.
  std::int64_t three_runs() const { return 3 * one_run(estimator_, game_.players()); }

  /// Budgets of all runs.
  std::int64_t cost() const { return cost_; }
  const Attribution& spent() const { return sum_; }
  /// Degrees of freedom of the standard errors, at the least: a run has one less than it has samples of each player.
  double degrees() const { return degrees_; }
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  Attribution attribution() const {
    Attribution found = sum_;
    const auto all = static_cast<double>(cost_);
    found.standard_errors.emplace();
    for (std::size_t player = 0; player < variances_.size(); ++player) {
      found.values[player] /= all;
      found.standard_errors->push_back(std::sqrt(variances_[player]) / all);
    }
    return found;
  }

 private:
  /// A quarter more than the least budget, which leaves level 0 hardly any pairs.
  static std::int64_t one_run(const Estimator& estimator, int players) {
    return estimator.minimum(players).coalitions * 5 / 4;
  }
  /// The least budget pays for what a run begins with and two samples of each player. What a run evaluates beyond what
  /// it begins with are two values a sample of each player, and at most two values a pair of passes.
  double degrees_of(const Attribution& run) const {
    const std::int64_t of_sample = 2 * std::int64_t{game_.players()};
    const std::int64_t begins_with = estimator_.minimum(game_.players()).coalitions - 2 * of_sample;
    const std::int64_t samples = (run.evaluations - run.gradients - begins_with) / of_sample;
    return static_cast<double>(std::max<std::int64_t>(samples - 1, 1));
  }

  const Game& game_;
  const Estimator& estimator_;
  std::uint64_t seed_;
  std::int64_t cost_ = 0;
  double degrees_ = 0;
  Attribution sum_;                ///< its values are weighted sums
  std::vector<double> variances_;  ///< of these
  std::vector<std::vector<double>> rounds_;
};

/// Of the standard errors of the regression, which are over 32 random groups.
constexpr double regression_degrees = 31;
constexpr int max_exact_players = 24;
/// The fewest that tell how many directions their errors have: four rounds of one.
constexpr std::int64_t least_pairs = 4;

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

/// The mean of the two, or the first one alone where they do not agree or the second one has no standard errors yet.
/// `dimension` is that of the cross-check.
CertifiedReference combined(const Part& trusted, const Part& other, double dimension, double rounding,
                            const ReferenceSettings& settings) {
  CertifiedReference found{.method = std::string(trusted.estimator.name()), .attribution = trusted.attribution};
  found.rounding = rounding;
  for (const Part* part : {&trusted, &other})
    found.estimates.push_back({std::string(part->estimator.name()), part->attribution});
  Attribution& mean = found.attribution;
  add_cost(mean, other.attribution);
  if (other.attribution.standard_errors)
    found.cross_check = cross_check(trusted.estimate(), other.estimate(), dimension, rounding);
  if (found.cross_check && found.cross_check->agrees()) {
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
};

/// Orderings and regression: what a game of values alone can have.
class ByRegression {
 public:
  explicit ByRegression(const Work& work) : work_(work), orderings_(work.game, work.estimators.orderings, work.seed) {}

  static std::int64_t minimum(const Game& game) { return step_cost(0, first_step(game.players())); }

  /// What all steps cost.
  Attribution spent() const {
    Attribution cost = orderings_.spent();
    add_cost(cost, fit_);
    return cost;
  }

  /// Nothing when enumeration is cheaper.
  std::optional<CertifiedReference> run() {
    int step = 0;
    for (std::int64_t now = first_step(work_.game.players());; ++step) {
      throw_if_stopped("reference");
      if (all_coalitions(work_.game) <= step_cost(orderings_.cost(), now)) return std::nullopt;
      const std::int64_t fresh = now / orderings_.pair_cost() - orderings_.pairs();
      orderings_.grow(fresh / most_rounds * most_rounds, step);
      const Attribution discarded =
          std::exchange(fit_, attribute(work_.estimators.regression, work_.game, {2 + now / 2},
                                        reference_seed(work_.seed, ReferenceStream::regression, step)));
      add_cost(fit_, discarded);
      const CertifiedReference found =
          combined({work_.estimators.orderings, orderings_.attribution(), orderings_.degrees()},
                   {work_.estimators.regression, fit_, regression_degrees}, effective_dimension(orderings_.rounds()),
                   work_.game.rounding(), work_.settings);
      const bool complete = fit_.standard_errors.has_value();
      if ((found.reached || found.only_rounding) && complete) return found;
      // How many times too large the error is. It has no bound where nothing is known of the values' size.
      const double missing =
          found.error.value.value_or(std::numeric_limits<double>::infinity()) / work_.settings.relative_error;
      const std::int64_t before = std::exchange(now, next(now, complete ? missing : 2));
      if (now > before) continue;
      require(complete, "reference: max_evaluations=", work_.settings.max_evaluations, " (",
              work_.estimators.regression.name(), " has no standard errors yet). Raise it.");
      return found;
    }
  }

 private:
  /// Evaluations of the orderings in the first step: eight pairs, and enough for a regression on half of them to know
  /// its error.
  static std::int64_t first_step(int players) {
    return std::max<std::int64_t>(2 * most_rounds * (std::int64_t{players} - 1), 1024);
  }

  /// Of a step that raises the orderings' evaluations from `before` to `now`; each attribute() looks at ∅ and N again.
  static std::int64_t step_cost(std::int64_t before, std::int64_t now) {
    return now - before + 2 * most_rounds + now / 2 + 2;
  }

  /// The budget of the next step: what the error asks for with a fifth to spare, at least twice and at most eight times
  /// this one; or what can be afforded; or this one when that is hardly more.
  std::int64_t next(std::int64_t now, double missing) const {
    const double factor = std::clamp(1.2 * missing * missing, 2.0, 8.0);
    const auto wanted = static_cast<std::int64_t>(factor * static_cast<double>(now));
    const std::int64_t left = work_.settings.max_evaluations - work_.game.charged();
    const std::int64_t affordable = (left + orderings_.cost() - 2 * most_rounds - 2) / 3 * 2;
    const std::int64_t taken = std::min(wanted, affordable);
    return 4 * taken < 5 * now ? now : taken;
  }

  const Work work_;
  GrowingOrderings orderings_;
  Attribution fit_;  ///< of the last step, with the cost of all
};

/// Orderings and the two-level estimator: what a game with slopes can have.
class BySlopes {
 public:
  explicit BySlopes(const Work& work)
      : work_(work),
        orderings_(work.game, work.estimators.orderings, work.seed),
        two_level_(work.game, work.estimators.two_level, work.seed) {}

  static std::int64_t minimum(const Game& game, const ReferenceEstimators& estimators) {
    const std::int64_t pair_cost = 2 * (std::int64_t{game.players()} - 1);
    return Step{least_pairs, GrowingTwoLevel::least(estimators.two_level, game.players())}.cost(pair_cost);
  }

  /// What all steps cost.
  Attribution spent() const {
    Attribution cost = orderings_.spent();
    add_cost(cost, two_level_.spent());
    return cost;
  }

  /// Nothing when enumeration is cheaper.
  std::optional<CertifiedReference> run() {
    Step step = first();
    for (int count = 0;; ++count) {
      throw_if_stopped("reference");
      if (all_coalitions(work_.game) <= step.cost(orderings_.pair_cost())) return std::nullopt;
      if (step.pairs > 0) orderings_.grow(step.pairs, count);
      if (step.budget > 0) two_level_.grow(step.budget, count);
      const Part orderings{work_.estimators.orderings, orderings_.attribution(), orderings_.degrees()};
      const Part two_level{work_.estimators.two_level, two_level_.attribution(), two_level_.degrees()};
      const double dimension = dimension_of_sum(orderings.variance(), least_dimension(orderings_.rounds()),
                                                two_level.variance(), least_dimension(two_level_.rounds()));
      CertifiedReference found = combined(orderings, two_level, dimension, work_.game.rounding(), work_.settings);
      // The directions of the larger error must be known for the check to see anything.
      const bool blind = two_level.variance() > orderings.variance() && two_level_.rounds().size() < 3;
      if ((found.reached || found.only_rounding) && !blind) return found;
      step = blind ? three_runs() : next(found, orderings.variance(), two_level.variance());
      if (step.pairs > 0 || step.budget > 0) continue;
      found.reached = found.reached && !blind;
      return found;
    }
  }

 private:
  struct Step {
    std::int64_t pairs = 0;   ///< of orderings
    std::int64_t budget = 0;  ///< of the two-level estimator
    /// Each attribute() of orderings looks at ∅ and N again.
    std::int64_t cost(std::int64_t pair_cost) const {
      return pairs * pair_cost + 2 * std::min<std::int64_t>(pairs, most_rounds) + budget;
    }
  };

  /// The same for both, or what can be afforded.
  Step first() const {
    const std::int64_t spare = work_.settings.max_evaluations - minimum(work_.game, work_.estimators);
    Step step{least_pairs, two_level_.least()};
    step.budget += std::clamp<std::int64_t>(first_budget - step.budget, 0, spare / 2);
    const std::int64_t more = std::min(step.budget, spare / 2 + least_pairs * orderings_.pair_cost());
    step.pairs = std::max(least_pairs, more / (orderings_.pair_cost() + 2));
    return step;
  }

  /// Nothing when it cannot be afforded.
  Step three_runs() const {
    const std::int64_t budget = two_level_.three_runs();
    return work_.game.charged() + budget <= work_.settings.max_evaluations ? Step{0, budget} : Step{};
  }

  /// What the error asks for with a fifth to spare, or what can be afforded; nothing when that is hardly more than what
  /// there is.
  Step next(const CertifiedReference& found, double of_orderings, double of_two_level) const {
    const auto pairs_cost = static_cast<double>(orderings_.cost()),
               slopes_cost = static_cast<double>(two_level_.cost());
    const bool agree = found.cross_check->agrees();
    const bool by_orderings = !agree || of_orderings * pairs_cost < of_two_level * slopes_cost;
    const double cost = by_orderings ? pairs_cost : slopes_cost, variance = by_orderings ? of_orderings : of_two_level,
                 other = by_orderings ? of_two_level : of_orderings;
    const double target = std::pow(work_.settings.relative_error * norm(found.attribution.values), 2);
    const double missing = variance * (1 / target - (agree && other > 0 ? 1 / other : 0));
    const double more = (std::clamp(1.2 * missing, 1.5, 8.0) - 1) * cost;
    const double check = std::max(0.0, (cost + more) / 4 - (by_orderings ? slopes_cost : pairs_cost));
    const auto left = static_cast<double>(work_.settings.max_evaluations - work_.game.charged() - 2 * most_rounds);
    const double part = std::min(1.0, left / (more + check));
    if (part * more < cost / 4) return {};
    Step step{static_cast<std::int64_t>(part * (by_orderings ? more : check)) / orderings_.pair_cost(),
              static_cast<std::int64_t>(part * (by_orderings ? check : more))};
    if (step.budget < two_level_.least()) {
      const bool affordable = static_cast<double>(two_level_.least()) + part * check <= left;
      step.budget = !by_orderings && affordable ? two_level_.least() : 0;
    }
    return step;
  }

  const Work work_;
  GrowingOrderings orderings_;
  GrowingTwoLevel two_level_;
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
  found.rounding = scale.outside(found.rounding);
  return found;
}

template <typename Sampling>
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

std::int64_t minimum_reference_evaluations(const Game& game) {
  return game.slopes() == nullptr ? ByRegression::minimum(game) : BySlopes::minimum(game, {});
}

CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                                       const ReferenceEstimators& estimators) {
  require(settings.relative_error > 0, "reference: relative_error=", settings.relative_error,
          " (must be positive). Give 0.01.");
  require(settings.exact_players >= 0 && settings.exact_players <= max_exact_players,
          "reference: exact_players=", settings.exact_players,
          " (all 2^n coalitions are enumerated, n <= ", max_exact_players, "). Give 0..", max_exact_players, ".");
  if (game.players() <= settings.exact_players) return exact(game);
  const bool slopes = game.slopes() != nullptr;
  require(slopes || game.players() <= estimators::KernelRegression::max_players, "reference: players=", game.players(),
          " (the regression solves an n x n system, n <= ", estimators::KernelRegression::max_players,
          "). Group the cells into fewer players.");
  const std::int64_t minimum = minimum_reference_evaluations(game);
  const bool enumerable = game.players() <= max_exact_players && minimum >= std::int64_t{1} << game.players();
  require(enumerable || settings.max_evaluations >= minimum, "reference: max_evaluations=", settings.max_evaluations,
          " (two estimates with standard errors take ", minimum, " for n=", game.players(),
          " players). Raise it, or group the cells into fewer players.");
  return slopes ? sampled<BySlopes>(game, settings, seed, estimators)
                : sampled<ByRegression>(game, settings, seed, estimators);
}

}  // namespace opshap::evaluation
