#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/estimator.hpp"

namespace opshap::estimators {

/// What `diagonal_second_order` can be told.
struct SecondOrderOptions {
  /// Of Gauss–Legendre's rule to begin with. They are doubled until the first order adds up to v(N) − v(∅).
  int nodes = 4;
  int most_nodes = 64;  ///< beyond so many a gap is no matter of the quadrature
  /// At each node, a power of two of at most as many as players. None: comb_directions(n).
  std::optional<int> directions = std::nullopt;
  bool all_directions = false;  ///< as many as players, whatever `directions` says
  /// Corrects the mean field in place of integrated gradients.
  bool mean_field = false;
  /// The relative error that the asker bears. A tenth of it may be the quadrature's.
  double tolerance = 0.05;
};

/// The power of two from n/4 on, at least 4 and at most 32: fewer directions alias neighbours, and more cost more than
/// they tell.
int comb_directions(int players);

/// Gradients that a correction with these options takes, where its nodes are not doubled.
std::int64_t gradients_of(const SecondOrderOptions& options, int players);

/// Integrated gradients, or the mean field, with the correction of order 1/n for the fluctuation of a random coalition
/// about the diagonal.
///
/// Taylor's formula for E ∂_iF(1_S), S holding each player with probability t, gives
///   φ_i ≈ ∫₀¹ ∂_iF dt + ∫₀¹ [½t(1−t) Σ_j ∂_ijjF + (½−t) ∂_iiF] dt,
/// all at (t, …, t) (SolvedGame::discretisation_error has it in closed form). Both terms come from two gradients along
/// a direction z ∈ {±1}^n: with ε = ½min(t, 1−t) and g± = ∇F(t ± εz), g = ∇F(t), the mean over directions of
///   ½t(1−t)(g₊ + g₋ − 2g)/ε² + (½−t) z⊙(g₊ − g₋)/(2ε).
/// Random directions leave terms of pairs of players. Directions that are the rows of a Hadamard matrix, repeated from
/// tooth to tooth of a comb over the players' places and times one random sign a player, leave those of players in the
/// same place of different teeth alone. Nodes t and 1−t share their signs, so a game without interactions of three
/// players has its Shapley values whatever the directions.
///
/// What is left of pairs are the aliases of one place. The quarters of a comb's rows, with signs, give the part of the
/// correction c that comes from players at a quarter and at half of a tooth's length: E₁ and E₂ are their squares. The
/// squares of the aliases at a whole length are taken to go on as they do, N² = E₂ min(1, E₂/E₁), cut to ‖c‖². What is
/// added is λc with λ = 1 − N²/‖c‖²: where interactions do not fade with distance, c is noise. What the values miss of
/// v(N) − v(∅) is given to all players in equal parts. With all directions there are no aliases and λ = 1, and
/// polynomials up to degree three are exact.
///
/// Error bars: r = √(‖c‖² − N²)/‖first order‖ is that of the first order; that of the values is √(δ² + (3r²)² + (r/4)²)
/// with δ = N/‖values‖: the next order, and what is left where it is not small. What the quadrature misses enters both
/// by its least size, the distance to the attributions that add up: a game with steps has no gradients that would tell.
/// Where all values are 0 the bars are infinite, since nothing tells a constant game from one without gradients.
///
/// Cost: nodes·(1 + 2·directions) gradients, plus v(∅) and v(N). reports/second_order compares it with other ways to
/// spend as many gradients.
/// Throws InvalidArgument for a game without gradients off the diagonal, for nodes outside 1..1000, and for directions
/// that are no power of two or more than players.
std::unique_ptr<Estimator> diagonal_second_order(const SecondOrderOptions& options);

}  // namespace opshap::estimators
