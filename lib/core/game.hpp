#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/coalitions.hpp"

namespace opshap {

class CoalitionSlopes;
class DifferentiableGame;
class MeanField;

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
  /// This game with its gradients, or nullptr when it has none.
  virtual const DifferentiableGame* differentiable() const { return nullptr; }
  /// The mean-field closure of this game, or nullptr when it has none.
  virtual const MeanField* mean_field() const { return nullptr; }
  /// The slopes of a smooth extension of this game at its coalitions, or nullptr when it has none.
  virtual const CoalitionSlopes* slopes() const { return nullptr; }

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

/// A game that extends smoothly to the unit cube, f: [0,1]^n → R with f(1_S) = v(S), and has gradients on the diagonal.
class DifferentiableGame : public Game {
 public:
  const DifferentiableGame* differentiable() const final { return this; }
  /// ∂f/∂a_i at a = (t, …, t), for each t: [T, n] row-major. One reverse pass a node.
  virtual std::vector<double> diagonal_gradients(std::span<const double> nodes) const = 0;
};

/// A closure F: [0,1]^n → R of a game's multilinear extension a ↦ E v(S_a), S_a holding each player i with probability
/// a_i independently.
///
/// F(0) = v(∅) and F(1) = v(N). The game's random inner quantities are replaced by their means, so F differs from the
/// extension where those fluctuate.
class MeanField {
 public:
  virtual ~MeanField() = default;
  /// ∂F/∂a_i at a = (t, …, t), for each t: [T, n] row-major. One reverse pass a node.
  virtual std::vector<double> mean_field_gradients(std::span<const double> nodes) const = 0;
};

/// The slopes of a smooth extension F: [0,1]^n → R of a game, F(1_S) = v(S), at coalitions: a guess at all marginal
/// contributions of a coalition by one reverse pass.
class CoalitionSlopes {
 public:
  virtual ~CoalitionSlopes() = default;
  /// ∂F/∂a_i at a = 1_S, about v(S ∪ i) − v(S ∖ i), for each row: [B, n] row-major. One reverse pass a coalition.
  virtual std::vector<double> coalition_slopes(const Coalitions& coalitions) const = 0;
  /// ∂F/∂a_i at a = (t, …, t), for each t: [T, n] row-major. One reverse pass a node.
  virtual std::vector<double> mean_slopes(std::span<const double> nodes) const = 0;
  /// What a pass costs, in coalitions: 3 for a reverse pass, 6 for one of two branches.
  virtual std::int64_t pass_cost() const = 0;
};

}  // namespace opshap
