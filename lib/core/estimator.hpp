#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/game.hpp"
#include "core/measured.hpp"
#include "core/rng.hpp"

namespace opshap {

/// How many equations of a system are independent, and how many would determine its solution.
struct MatrixRank {
  int found = 0;
  int needed = 0;
  bool operator==(const MatrixRank&) const = default;
};

/// What a correction of integrated gradients or of the mean field did, and how far off both are.
struct SecondOrder {
  std::vector<double> first_order;   ///< [n], what was corrected; it adds up but for the quadrature
  std::vector<double> correction;    ///< [n], what was added to the first order
  double error_bar = 0;              ///< of the values, relative to their norm; infinite where this is 0
  double first_order_error_bar = 0;  ///< of what was corrected, relative to its norm; infinite where this is 0
  /// What the aliases of the directions may have of the correction, relative to the norm of what was corrected.
  /// Infinite where this is 0.
  double spread = 0;
  int nodes = 0;       ///< of the quadrature
  int directions = 0;  ///< at each node
};

/// A method that was tried for an attribution, and what it told.
struct Step {
  std::string method;
  Measured error_bar;                    ///< of its values, relative to their norm
  double seconds = 0;                    ///< beyond the steps before it, whose work it uses
  std::int64_t forward_equivalents = 0;  ///< of the work that these seconds were spent on
};

/// What each player contributed, and what it cost to find out.
///
/// Values are per cell (they add up to v(N) − v(∅) where the method is efficient), never densities; a density is value
/// / volume.
struct Attribution {
  std::vector<double> values;                          ///< [n]
  std::optional<std::vector<double>> standard_errors;  ///< [n], where the method has them
  /// Independent samples that the standard errors are made of, where they may be few: orderings, or one more than the
  /// degrees of freedom that they have. 0: not counted.
  std::int64_t error_samples = 0;
  double empty = 0;  ///< v(∅)
  double grand = 0;  ///< v(N)
  /// Where the sample does not determine the values: they are the minimum-norm solution of equations of this rank.
  std::optional<MatrixRank> minimum_norm;
  bool exact = false;                       ///< equal to the Shapley value up to rounding, whatever the game
  std::optional<SecondOrder> second_order;  ///< where the method corrects a first order
  /// The methods that were tried for it, where there may be several. The last one has answered. What the attribution
  /// cost is what all of them cost.
  std::vector<Step> steps;

  std::int64_t distinct = 0;     ///< distinct coalitions evaluated, ∅ and N among them: what a budget limits
  std::int64_t evaluations = 0;  ///< coalitions asked for, repetitions included
  std::int64_t gradients = 0;    ///< reverse passes
  /// Distinct coalitions, and passes by Extension::pass_cost(). ∅ and N count once, whatever the steps.
  std::int64_t forward_equivalents = 0;
  double game_seconds = 0;       ///< wall time inside the game
  double estimator_seconds = 0;  ///< wall time of everything else

  /// Σ values − (v(N) − v(∅)).
  double efficiency_gap() const;
};

/// What an estimator may ask a game for. Methods of different access are compared only when the reader is told.
enum class Access {
  values,    ///< coalition values alone: a black box
  gradient,  ///< gradients of the operator
};

enum class Bias {
  none,       ///< the mean of the estimate is the Shapley value, at every budget
  vanishing,  ///< the bias goes to 0 as the budget grows
  lasting,    ///< it estimates something else (integrated gradients: the Aumann–Shapley value)
};

enum class Efficiency {
  exact,       ///< the values add up to v(N) − v(∅) up to rounding, on every sample
  quadrature,  ///< up to a quadrature error
  none,
};

/// Whether an estimator may refuse a budget of its minimum() or more.
enum class Refusal {
  never,
  /// Least squares refuses a sample whose coalitions do not determine the solution: InvalidArgument "<name>: rank=…".
  /// The coalitions decide this, and the game does not. The minimum-norm solution answers the same sample.
  by_rank,
};

inline constexpr double exact_rate = std::numeric_limits<double>::infinity();

/// What an estimator promises; properties/ and convergence/ hold every registered one to it. "Exact" is up to rounding
/// and on every sample.
struct Guarantees {
  Access access = Access::values;
  Bias bias = Bias::none;
  Efficiency efficiency = Efficiency::exact;
  double mse_rate = 1;  ///< E|φ̂ − φ|² = O(budget^-rate); infinity when exact, 0 when it does not converge to φ
  bool learns = false;  ///< it fits more than a number a player, so the error falls faster than mse_rate until the fit
                        ///< is as good as it gets
  bool exact_on_additive = false;      ///< on v(S) = Σ_{i∈S} w_i
  bool exact_on_two_additive = false;  ///< when no interaction involves more than two players
  bool zero_for_null_player = false;   ///< a player that never changes the value gets exactly 0
  bool zero_on_even = false;           ///< v(S) = v(N∖S) for all S gives 0 for all players
  bool same_on_dual = false;           ///< v and its dual v(N) − v(N∖S) get the same values from the same sample
  bool linear = false;                 ///< on the same sample, the estimate is linear in v
  bool exact_at_full_budget = false;   ///< a budget of 2^n gives the Shapley value
  /// Bias and mse_rate are promises about all samples. With Refusal::by_rank the refused samples count with their
  /// minimum-norm solutions. The mean of the accepted samples alone may be off, in proportion to the odds of a refusal.
  Refusal refusal = Refusal::never;

  /// Whether the estimator spends the budget that it is given. Exact methods and quadratures of gradients take what
  /// they need.
  bool uses_budget() const { return mse_rate != exact_rate && (access == Access::values || mse_rate > 0); }
};

/// A method that estimates Shapley values of a game from a limited number of its values.
///
/// Immutable. Adding one: a file in lib/estimators and a line in lib/estimators/registry.def.
class Estimator {
 public:
  virtual ~Estimator() = default;
  /// Registry key.
  virtual std::string_view name() const = 0;
  /// One line for `opshap list estimators`: what it is and where it comes from.
  virtual std::string_view summary() const = 0;
  virtual Guarantees guarantees() const = 0;
  /// The smallest budget the method can work with for n players.
  virtual Budget minimum(int players) const = 0;

  /// Fills values, standard errors, v(∅), v(N) and `exact`. Called through attribute(), which has checked the budget
  /// and does the book-keeping.
  virtual Attribution estimate(CountedGame& game, Rng& rng) const = 0;
};

/// Runs an estimator on a game: checks the budget, counts and caches evaluations, measures time.
///
/// A budget of 2^n or more is cut to 2^n. Methods that do not use one get what they need.
/// Throws InvalidArgument when the budget is below the minimum, NumericalError when the game gives a value that is not
/// finite.
Attribution attribute(const Estimator& estimator, const Game& game, Budget budget, std::uint64_t seed);

}  // namespace opshap
