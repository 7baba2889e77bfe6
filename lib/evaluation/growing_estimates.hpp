#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"

namespace opshap::evaluation {

/// A game in units of a Scale, which counts what it is asked for and remembers the largest value. Refers to the game.
///
/// It asks the game for v(∅) and v(N) before anything else, and keeps them. A number that is too large for the unit
/// throws Outgrown: the work has to begin again, after rescale(). Its extension is the game's slopes.
class WatchedGame final : public Game, public Extension {
 public:
  struct Outgrown {
    int exponent;  ///< of the unit that suits the number
  };

  explicit WatchedGame(const Game& game) : game_(game) {}
  int players() const override { return game_.players(); }
  std::vector<std::int64_t> places() const override { return game_.places(); }
  const Extension* extension() const override { return game_.slopes() == nullptr ? nullptr : this; }
  std::vector<double> gradients(std::span<const double> points) const override;
  std::int64_t pass_cost() const override { return game_.slopes()->pass_cost(); }

  /// Evaluations, and passes by their cost: forward equivalents.
  std::int64_t charged() const { return charged_; }
  /// What rounding alone may change an attribution's value by, in units.
  double rounding() const;
  const Scale& scale() const { return scale_; }
  void rescale(const Outgrown& outgrown);

 private:
  const std::vector<double>& ends() const;
  std::vector<double> scaled(std::vector<double> numbers) const;
  std::vector<double> evaluate(const Coalitions& coalitions) const override;

  const Game& game_;
  mutable std::vector<double> ends_;  ///< v(∅) and v(N)
  mutable Scale scale_;               ///< set by the first number that is not 0
  mutable std::int64_t charged_ = 0;
  mutable double largest_ = 0;
};

/// Adds what `part` cost to `sum`.
void add_cost(Attribution& sum, const Attribution& part);

/// What a reference draws random numbers for.
enum class ReferenceStream : std::uint32_t { orderings, regression, two_level, witness };

std::uint64_t reference_seed(std::uint64_t seed, ReferenceStream stream, int item);

/// The most independent rounds that a step of an estimate comes in: enough to see how many directions its error has.
constexpr int most_rounds = 8;

/// An estimate of the Shapley values that gets better with every step, without bias and with standard errors that hold
/// after each. What it has found so far stays part of it.
class GrowingEstimate {
 public:
  virtual ~GrowingEstimate() = default;

  virtual const Estimator& estimator() const = 0;
  /// The least budget of a step, in forward equivalents.
  virtual std::int64_t least() const = 0;
  /// The least budget of a step whose rounds() tell the directions of the error. At least least().
  virtual std::int64_t telling() const = 0;
  /// What the first step costs where that can be afforded. At least least().
  virtual std::int64_t first() const = 0;
  /// Draws more for a budget of least() or more. `known` is an attribution that adds up to v(N) − v(∅) and does not
  /// depend on what is drawn now: the nearer it is to the truth, the smaller the error may become.
  virtual void grow(std::int64_t budget, int step, const std::vector<double>& known) = 0;
  /// Budgets of all steps, for comparing what estimates get for them.
  virtual std::int64_t cost() const = 0;
  /// What it has cost the game.
  virtual const Attribution& spent() const = 0;
  /// Values with standard errors, and its cost.
  virtual Attribution attribution() const = 0;
  /// Degrees of freedom of the standard errors.
  virtual double degrees() const = 0;
  /// Means of the rounds of the step that had the most of them, the last of these.
  virtual const std::vector<std::vector<double>>& rounds() const = 0;
};

/// Antithetic pairs of orderings, pooled over all steps. Budgets are whole pairs of 2(n − 1), four at the least, and ∅
/// and N once a round beside them. Refers to the game and the estimator, which must give standard errors.
std::unique_ptr<GrowingEstimate> growing_orderings(const WatchedGame& game, const Estimator& estimator,
                                                   std::uint64_t seed);

/// Runs of the two-level estimator, pooled over the steps with weights in proportion to their budgets, which do not
/// depend on what was found: the mean stays unbiased. A step has as many runs as have twice the least budget of a run
/// each, or three if they can be had, up to most_rounds. Refers to the game and the estimator, which must give standard
/// errors.
std::unique_ptr<GrowingEstimate> growing_two_level(const WatchedGame& game, const Estimator& estimator,
                                                   std::uint64_t seed);

/// Rounds of an estimator without bias that is linear in the game, on the game less what is known of it: `known` as an
/// additive game. Given what is known, each round has the Shapley values as its mean, whatever is known. So the pooled
/// mean has no bias, and the spread of a step's rounds about their mean is an honest error. Rounds are three at the
/// least. Weights are in proportion to the budgets. Refers to the game and the estimator.
std::unique_ptr<GrowingEstimate> growing_regression(const WatchedGame& game, const Estimator& estimator,
                                                    std::uint64_t seed);

}  // namespace opshap::evaluation
