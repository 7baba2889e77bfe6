#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"

namespace opshap::evaluation {

/// A game in units of a Scale, which counts what it is asked for and remembers the largest value. Refers to the game.
///
/// It asks the game for v(∅) and v(N) when it is made, and keeps them. A number that is too large for the unit throws
/// Outgrown: the work has to begin again, after rescale().
class WatchedGame final : public Game, public CoalitionSlopes {
 public:
  struct Outgrown {
    int exponent;  ///< of the unit that suits the number
  };

  explicit WatchedGame(const Game& game);
  int players() const override { return game_.players(); }
  const CoalitionSlopes* slopes() const override { return game_.slopes() == nullptr ? nullptr : this; }
  std::vector<double> coalition_slopes(const Coalitions& coalitions) const override;
  std::vector<double> mean_slopes(std::span<const double> nodes) const override;
  std::int64_t pass_cost() const override { return game_.slopes()->pass_cost(); }

  /// Evaluations, and passes by their cost: forward equivalents.
  std::int64_t charged() const { return charged_; }
  /// What rounding alone may change an attribution's value by, in units.
  double rounding() const;
  const Scale& scale() const { return scale_; }
  void rescale(const Outgrown& outgrown);

 private:
  std::vector<double> scaled(std::vector<double> numbers) const;
  std::vector<double> evaluate(const Coalitions& coalitions) const override;

  const Game& game_;
  std::vector<double> ends_;  ///< v(∅) and v(N)
  mutable Scale scale_;       ///< set by the first number that is not 0
  mutable std::int64_t charged_ = 0;
  mutable double largest_ = 0;
};

/// Adds what `part` cost to `sum`.
void add_cost(Attribution& sum, const Attribution& part);

/// What a reference draws random numbers for.
enum class ReferenceStream : std::uint32_t { orderings, regression, two_level };
std::uint64_t reference_seed(std::uint64_t seed, ReferenceStream stream, int item);

/// What each estimate of a game with slopes may cost in the first step, in forward equivalents, where that is enough.
inline constexpr std::int64_t first_budget = 4096;

/// The most independent rounds that a step comes in: enough to see how many directions the error has.
inline constexpr int most_rounds = 8;

/// Antithetic pairs of orderings, pooled over any number of steps. Refers to the game and the estimator.
class GrowingOrderings {
 public:
  GrowingOrderings(const Game& game, const Estimator& estimator, std::uint64_t seed);

  /// Adds so many pairs, less what is left over when rounds of equal size are made of them.
  void grow(std::int64_t fresh_pairs, int step);

  std::int64_t pair_cost() const { return pair_cost_; }
  std::int64_t pairs() const { return pairs_; }
  std::int64_t cost() const { return pairs_ * pair_cost_; }
  const Attribution& spent() const { return sum_; }
  /// Degrees of freedom of the standard errors.
  double degrees() const { return static_cast<double>(pairs_ - 1); }
  /// Means of the last step's rounds, or of an earlier one's that had more.
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  /// Two pairs or more.
  Attribution attribution() const;

 private:
  void add(const Attribution& round, std::int64_t pairs);

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
  GrowingTwoLevel(const Game& game, const Estimator& estimator, std::uint64_t seed);

  /// A budget for one run, or for three where that is no more than a first step: so many tell the directions of their
  /// error.
  static std::int64_t least(const Estimator& estimator, int players);
  std::int64_t least() const { return least(estimator_, game_.players()); }
  /// Adds runs that may cost so many forward equivalents together: as many as have twice the least budget of a run
  /// each, or three if they can be had, up to most_rounds. At least least().
  void grow(std::int64_t budget, int step);
  /// What three runs take, so that rounds() tells the directions of their error.
  std::int64_t three_runs() const { return 3 * one_run(estimator_, game_.players()); }

  /// Budgets of all runs.
  std::int64_t cost() const { return cost_; }
  const Attribution& spent() const { return sum_; }
  /// Degrees of freedom of the standard errors, at the least: a run has one less than it has samples of each player.
  double degrees() const { return degrees_; }
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  Attribution attribution() const;

 private:
  /// A quarter more than the least budget, which leaves level 0 hardly any pairs.
  static std::int64_t one_run(const Estimator& estimator, int players);
  double degrees_of(const Attribution& run) const;

  const Game& game_;
  const Estimator& estimator_;
  std::uint64_t seed_;
  std::int64_t cost_ = 0;
  double degrees_ = 0;
  Attribution sum_;                ///< its values are weighted sums
  std::vector<double> variances_;  ///< of these
  std::vector<std::vector<double>> rounds_;
};

}  // namespace opshap::evaluation
