#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// v(S) = min(μ₁(S), μ₂(S)) for two measures of the same total.
///
/// φ_k = ½(μ₁ + μ₂)(B_k) at every refinement: the dual game is the maximum, and a game and its dual have the same
/// Shapley values. There is no diagonal formula, since the minimum has its kink on the whole diagonal. Throws
/// InvalidArgument unless the totals agree to 10⁻¹² and the cells are the same.
std::unique_ptr<SolvedGame> minimum_of_measures(Measure first, Measure second);

/// v(S) = max(μ(S) − q, 0) for integer cells: absolutely continuous but not differentiable, and still in pNA.
///
/// Shapley values by shapley_values_on_integers. Aumann–Shapley value μ_k (L − q)⁺/L for 0 <= q and L = μ(Ω) > 0;
/// discretisation error with C = q/L − ½, unless the kink is at 0 or L. Throws InvalidArgument unless the kink is
/// finite, and as measure_of_integers.
std::unique_ptr<SolvedGame> relu_of_measure(std::vector<int> cells, double kink);

/// v(S) = 1 where μ(S) > 0, else 0, for a signed measure with integer cells and μ(Ω) = 0: of unbounded variation,
/// without any value.
///
/// Shapley values by shapley_values_on_integers. The sums hover around the jump for every t, so with refinement they
/// grow without bound: φ_k ≈ μ_k √(π/(2M₂)), M₂ = Σ μ_j². Throws InvalidArgument unless the cells add up to 0, and as
/// measure_of_integers.
std::unique_ptr<SolvedGame> sign_of_measure(std::vector<int> cells);

/// v(S) = v(∅) + value where the cell is in S: an operator that reads its input at one point, such as advection or a
/// reaction without diffusion.
///
/// All the value is that cell's, however small it is: the density is value/|B| there, 0 elsewhere, and has no limit.
/// Throws InvalidArgument unless cell is one of the players.
std::unique_ptr<SolvedGame> point_mass_game(int players, int cell, double value, double empty = 0);

}  // namespace opshap::games
