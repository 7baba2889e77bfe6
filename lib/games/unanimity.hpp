#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/game.hpp"

namespace opshap::games {

/// v(S) = value where S = N, else 0: worth something only if every cell is there. φ_k = value/n whatever the cells'
/// sizes.
///
/// A region gets its share of the number of cells, so the limit is that of the refinement, not of the game; 1[λ(S) =
/// λ(Ω)] jumps at the end of the diagonal. Throws InvalidArgument unless players is in 1..Coalitions::max_players and
/// the value is finite.
std::unique_ptr<SolvedGame> unanimity_game(int players, double value);

/// c·u_T: worth c to every coalition that contains T.
struct UnanimityTerm {
  std::vector<int> coalition;  ///< T, each player once, in any order
  double coefficient = 0;      ///< c
};

/// v(S) = v(∅) + Σ_{T ⊆ S} c_T, with φ_i = Σ_{T ∋ i} c_T/|T| (Shapley 1953). Every game is one: the c_T are its Möbius
/// coefficients.
///
/// The game has gradients: those of its multilinear extension f(a) = v(∅) + Σ_T c_T Π_{i∈T} a_i, whose integral along
/// the diagonal is φ (Owen 1972); f is its own mean-field closure. A term with T = ∅ adds to v(∅). Cost: for 64
/// coalitions, one word operation per member of each T and one addition per coalition that contains T. Throws
/// InvalidArgument for a player outside 0..players-1, a player twice in a T, or a coefficient that is not finite.
std::unique_ptr<SolvedGame> unanimity_sum(int players, std::vector<UnanimityTerm> terms, double empty = 0);

/// v(S) = v(∅) + Σ_{i∈S} w_i, the game of a linear operator; φ = w. Gradients as unanimity_sum.
std::unique_ptr<SolvedGame> additive_game(std::span<const double> weights, double empty = 0);

}  // namespace opshap::games
