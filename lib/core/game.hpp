#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/coalitions.hpp"

namespace opshap {

/// The unit in which the values of a game are worked on: a power of two near their size. Squares of scaled values
/// neither overflow nor underflow, and scaling changes no digit of a normal double.
///
/// A game is scaled once, where it enters (attribute(), certified_reference(), certify()). What leaves is in the game's
/// own unit again. So the results for 2^k times a game are 2^k times the results for the game, to the bit, as long as
/// all numbers are normal doubles.
class Scale {
 public:
  /// A number of so many units or more is too large for the unit: its fourth power would overflow.
  static constexpr int most_bits = 200;

  /// No unit yet.
  Scale() = default;
  /// The unit 2^exponent.
  explicit Scale(int exponent) : exponent_(exponent) {}

  /// Takes the size of the largest of these numbers as the unit where there is none yet and one of them is not 0.
  ///
  /// Returns the exponent of a unit that suits the numbers where one of them has 2^most_bits units or more. Then the
  /// work has to begin again with that unit. Shape: any. The numbers must be finite.
  std::optional<int> see(std::span<const double> numbers);

  /// A number of the game in units.
  double inside(double number) const;
  std::vector<double> inside(std::vector<double> numbers) const;
  /// A number in units as a number of the game. Infinite where no double is large enough.
  double outside(double number) const;
  std::vector<double> outside(std::vector<double> numbers) const;

 private:
  std::optional<int> exponent_;
};

/// The power of two below the largest of the numbers, as its exponent; none when all are 0. The numbers must be finite.
std::optional<int> largest_exponent(std::span<const double> numbers);

/// A smooth function F: [0,1]^n → R with F(0) = v(∅) and F(1) = v(N) of a game v, by its gradients.
class Extension {
 public:
  virtual ~Extension() = default;
  /// ∂F/∂a_i at each point a of the cube: [B, n] for points [B, n], row-major. One reverse pass a point.
  ///
  /// Throws InvalidArgument for a point off the diagonal where everywhere() is false.
  virtual std::vector<double> gradients(std::span<const double> points) const = 0;
  /// Whether it has gradients off the diagonal, too.
  virtual bool everywhere() const { return true; }
  /// Whether its gradients are known to jump somewhere, as those of an operator with the activation ReLU do. Then
  /// differences of them say little of how F is curved, and error bars made of them do not hold.
  virtual bool has_kinks() const { return false; }
  /// Whether it is the multilinear extension itself, E v(S_a). Then the mean of its gradients along the diagonal is the
  /// Shapley value (Owen 1972), up to the quadrature.
  virtual bool multilinear() const { return false; }
  /// What a pass costs, in coalitions: 3 for a reverse pass, 6 for one of two branches.
  virtual std::int64_t pass_cost() const { return 3; }
};

/// The points (t, …, t) of the cube, [T, n].
std::vector<double> on_diagonal(std::span<const double> nodes, int players);
/// t of each of the points. Throws InvalidArgument, starting with `who`, for one off the diagonal.
std::vector<double> nodes_of_diagonal(std::string_view who, std::span<const double> points, int players);
/// The points 1_S of the cube, [B, n].
std::vector<double> corners(const Coalitions& coalitions);

/// A cooperative game v: 2^N → R. Immutable, deterministic, and safe to call from several threads.
class Game {
 public:
  virtual ~Game() = default;
  /// n >= 1.
  virtual int players() const = 0;
  /// How the values are computed, in words, where that is worth reporting: "engine, avx512"; else empty.
  virtual std::string path() const { return {}; }
  /// v(S) for each row, [B]. Always a batch: one call should carry all coalitions that are known to be wanted.
  /// Throws InvalidArgument for coalitions of another number of players.
  std::vector<double> values(const Coalitions& coalitions) const;
  /// A smooth extension of this game, F(1_S) = v(S), or nullptr when it has none.
  virtual const Extension* extension() const { return nullptr; }
  /// The closure of this game's multilinear extension a ↦ E v(S_a), S_a holding each player i with probability a_i
  /// independently, or nullptr when it has none. The game's random inner quantities are replaced by their means, so it
  /// differs from the multilinear extension where those fluctuate.
  virtual const Extension* mean_field() const { return nullptr; }
  /// What to ask for slopes at coalitions: the closure where there is one, since a hard mask is far from the diagonal
  /// and it knows both states of a cell; else the extension where it has gradients everywhere, else nullptr.
  const Extension* slopes() const;
  /// A number for each player, [n]: players that are near each other have numbers that differ in their lowest bits. The
  /// index on a line; in the plane the bits of the indices, interleaved.
  virtual std::vector<std::int64_t> places() const;
  /// The players that may change a value, in order. The others are known to change none beyond rounding, as a cell
  /// whose input is the baseline: their Shapley values are 0. All players where nothing is known.
  virtual std::vector<int> active_players() const;

 private:
  /// What values() returns, for coalitions of this game's players.
  virtual std::vector<double> evaluate(const Coalitions& coalitions) const = 0;
};

/// A game whose Shapley values are known in closed form: the oracle of the tests.
class SolvedGame : public Game {
 public:
  /// [n].
  virtual std::vector<double> shapley_values() const = 0;
  /// The diagonal formula ∫₀¹ ∂_i f(t, …, t) dt of the game's extension f to the unit cube, [n] (Aumann and Shapley
  /// 1974); nothing where f has no gradient on the diagonal or is not the integral of one.
  virtual std::optional<std::vector<double>> aumann_shapley_values() const { return std::nullopt; }
  /// The leading term of φ minus the Aumann–Shapley value as the players become ever smaller cells, [n], where it is
  /// known. For f three times differentiable it is ∫₀¹ [(½−t) ∂_ii f + ½t(1−t) Σ_j ∂_ijj f](t, …, t) dt, O(1/n) of the
  /// value: Taylor's formula for the mean of ∂_i f over coalitions that each player joins with probability t.
  virtual std::optional<std::vector<double>> discretisation_error() const { return std::nullopt; }
};

/// The most distinct coalitions that may be evaluated, ∅ and N among them. A reverse pass that a budget pays for counts
/// as Extension::pass_cost() of them.
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
  /// Game::extension()'s gradients at points of the cube, [B, n]. Throws InvalidArgument, starting with `who`, when the
  /// game has none.
  std::vector<double> extension_gradients(std::string_view who, std::span<const double> points);
  /// The same of Game::mean_field().
  std::vector<double> mean_field_gradients(std::string_view who, std::span<const double> points);
  /// The same of Game::slopes(), charged to the budget by Extension::pass_cost().
  std::vector<double> charged_gradients(std::string_view who, std::span<const double> points);
  /// Of a pass of those.
  std::int64_t pass_cost() const;
  std::vector<std::int64_t> places() const { return game_.places(); }

  std::int64_t distinct() const { return distinct_; }
  std::int64_t evaluations() const { return evaluations_; }
  std::int64_t gradients() const { return gradients_; }
  /// Distinct coalitions, and all passes by their cost.
  std::int64_t forward_equivalents() const { return distinct_ + passes_cost_; }
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
  const Extension& slopes(std::string_view who) const;
  void charge(std::int64_t fresh, std::int64_t passes = 0);
  /// Counts and times one gradient a point, and refuses those that are not finite.
  std::vector<double> gradients_of(const Extension& extension, std::span<const double> points);

  const Game& game_;
  Budget budget_;
  Units units_;
  Scale scale_;
  std::vector<double> ends_;
  std::unordered_map<std::vector<std::uint64_t>, double, RowHash> known_;
  std::int64_t distinct_ = 0, evaluations_ = 0, gradients_ = 0, passes_cost_ = 0, charged_passes_ = 0;
  double seconds_ = 0;
};

}  // namespace opshap
