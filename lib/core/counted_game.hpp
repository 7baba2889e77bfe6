#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/game.hpp"
#include "core/scale.hpp"

namespace opshap {

/// The most distinct coalitions that may be evaluated, ∅ and N among them. A reverse pass that a budget pays for counts
/// as CoalitionSlopes::pass_cost() of them.
struct Budget {
  std::int64_t coalitions = 0;
};

/// In which unit a CountedGame gives values and gradients.
enum class Units {
  given,  ///< the game's own
  scaled,  ///< those of a Scale: the larger one of v(∅) and v(N) lies in [1, 2), or else the first number that is not 0
};

/// The door between an estimator and a game: counts, caches, scales, and holds the estimator to its budget.
///
/// A coalition is evaluated once however often it is asked for; asking for more distinct ones than the budget allows
/// throws std::logic_error, since an estimator must plan for its budget. A value that is not finite throws
/// NumericalError naming the coalition. With Units::scaled the door asks for v(∅) and v(N) before anything else, and
/// keeps them; they are part of the budget, and count as evaluations when the estimator asks for them.
class CountedGame {
 public:
  /// A number is too large for the unit of the door. After restart() the estimator may begin again.
  struct Outgrown {
    int exponent;  ///< of the unit that suits it
  };

  CountedGame(const Game& game, Budget budget, Units units = Units::given);

  /// Begins again in another unit: nothing has been asked for yet, but what is known stays known.
  void restart(const Outgrown& outgrown);
  /// The unit of the door.
  const Scale& scale() const { return scale_; }
  /// v(∅) and v(N) in the game's own unit. With Units::scaled only, and not evaluated again.
  const std::vector<double>& ends();

  int players() const { return game_.players(); }
  Budget budget() const { return budget_; }
  /// 2^n, or the largest std::int64_t when that is more.
  std::int64_t all_coalitions() const;

  /// v(S) for each row. Rows seen before cost nothing.
  std::vector<double> values(const Coalitions& coalitions);
  double empty();
  double grand();
  /// v of all 2^n coalitions, index bit i = player i. Not cached; for n <= 24 and a budget of 2^n only.
  std::vector<double> table();
  /// [T, n] as DifferentiableGame::diagonal_gradients. Throws InvalidArgument when the game has no gradients.
  std::vector<double> diagonal_gradients(std::span<const double> nodes);
  /// [T, n] as MeanField::mean_field_gradients. Throws InvalidArgument when the game has no mean-field closure.
  std::vector<double> mean_field_gradients(std::span<const double> nodes);
  /// [B, n] as CoalitionSlopes::coalition_slopes, charged to the budget. Throws InvalidArgument when the game has none.
  std::vector<double> coalition_slopes(const Coalitions& coalitions);
  /// [T, n] as CoalitionSlopes::mean_slopes, charged to the budget. Throws the same.
  std::vector<double> mean_slopes(std::span<const double> nodes);
  /// CoalitionSlopes::pass_cost(). Throws the same.
  std::int64_t pass_cost() const;

  std::int64_t distinct() const { return distinct_; }
  std::int64_t evaluations() const { return evaluations_; }
  std::int64_t gradients() const { return gradients_; }
  /// What has been charged to the budget: distinct coalitions, and passes by their cost.
  std::int64_t charged() const { return distinct_ + charged_passes_; }
  double seconds() const { return seconds_; }

 private:
  struct RowHash {
    std::size_t operator()(const std::vector<std::uint64_t>& row) const;
  };

  std::vector<double> evaluate(const Coalitions& coalitions);
  /// v(S) for each row in the game's own unit, each distinct one evaluated once.
  std::vector<double> known_values(const Coalitions& coalitions);
  /// v(∅) and v(N) set the unit, where there is to be one.
  void ask_for_ends();
  /// Numbers of the game in the unit of the door. Throws Outgrown.
  std::vector<double> scaled(std::vector<double> numbers);
  const CoalitionSlopes& slopes() const;
  void charge(std::int64_t fresh, std::int64_t passes = 0);
  /// Counts and times one gradient per node, and refuses those that are not finite.
  std::vector<double> gradients_at(std::size_t nodes, const std::function<std::vector<double>()>& gradients);

  const Game& game_;
  Budget budget_;
  Units units_;
  Scale scale_;
  std::vector<double> ends_;
  std::unordered_map<std::vector<std::uint64_t>, double, RowHash> known_;
  std::int64_t distinct_ = 0, evaluations_ = 0, gradients_ = 0, charged_passes_ = 0;
  double seconds_ = 0;
};

}  // namespace opshap
