#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/coalitions.hpp"

namespace opshap {

class DifferentiableGame;

/// A cooperative game v: 2^N → R. Immutable, deterministic, and safe to call from several threads.
class Game {
 public:
  virtual ~Game() = default;
  /// n >= 1.
  virtual int players() const = 0;
  /// v(S) for each row, [B]. Always a batch: one call should carry all coalitions that are known to be wanted.
  virtual std::vector<double> values(const Coalitions& coalitions) const = 0;
  /// This game with its gradients, or nullptr when it has none.
  virtual const DifferentiableGame* differentiable() const { return nullptr; }
};

/// A game whose Shapley values are known in closed form: the oracle of the tests.
class SolvedGame : public Game {
 public:
  /// [n].
  virtual std::vector<double> shapley_values() const = 0;
  /// The diagonal formula ∫₀¹ ∂_i f(t, …, t) dt of the game's extension f to the unit cube, [n] (Aumann and Shapley 1974); nothing where f has no
  /// gradient on the diagonal or is not the integral of one.
  virtual std::optional<std::vector<double>> aumann_shapley_values() const { return std::nullopt; }
  /// The leading term of φ minus the Aumann–Shapley value as the players become ever smaller cells, [n], where it is known. For f three times
  /// differentiable it is ∫₀¹ [(½−t) ∂_ii f + ½t(1−t) Σ_j ∂_ijj f](t, …, t) dt, O(1/n) of the value: Taylor's formula for the mean of ∂_i f over
  /// coalitions that each player joins with probability t.
  virtual std::optional<std::vector<double>> discretisation_error() const { return std::nullopt; }
};

/// A game that extends smoothly to the unit cube, f: [0,1]^n → R with f(1_S) = v(S), and has gradients on the diagonal.
class DifferentiableGame : public Game {
 public:
  const DifferentiableGame* differentiable() const final { return this; }
  /// ∂f/∂a_i at a = (t, …, t), for each t: [T, n] row-major. One reverse pass a node.
  virtual std::vector<double> diagonal_gradients(std::span<const double> nodes) const = 0;
};

}  // namespace opshap
