#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/game.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// The Shapley values of v(S) = f(Σ_{k∈S} w_k) for integer w_k and any f: exact sums over the law of Σ_{j≠k} w_j
/// Bernoulli(t), integrated over t by the Gauss–Legendre rule that is exact for their degree n − 1 (the multilinear
/// extension, Owen 1972).
///
/// Cost: O(n² W) time and O(nW) memory with W = Σ|w_k|: n = 512, W = 2048 takes a second.
std::vector<double> shapley_values_on_integers(std::span<const int> cells, const std::function<double(double)>& f);

/// The same cells as a measure. Throws InvalidArgument for no cells, |w_k| > 10⁶, or Σ|w_k| · n beyond 2^28, the memory
/// of shapley_values_on_integers.
Measure measure_of_integers(std::span<const int> cells, std::string_view who);

/// v(S) = 1 where μ(S) >= q, else 0, for integer cells: the weighted majority game (Shapley and Shubik 1954), an
/// operator with a step.
///
/// Shapley values by shapley_values_on_integers. With refinement they converge to μ_k/μ(Ω) for 0 < q < μ(Ω) (Aumann and
/// Shapley 1974, theorem A on bv'NA), but the game is not in pNA: its gradient is 0 almost everywhere, integrated
/// gradients give 0 to all, and there is no diagonal formula. Throws InvalidArgument unless the quota is finite, and as
/// measure_of_integers.
std::unique_ptr<SolvedGame> weighted_voting(std::vector<int> weights, double quota);

/// v(S) = max_{k∈S} c_k: the runway that the largest aircraft needs, or the essential supremum of a field over S.
///
/// Everyone shares each part of the runway with all who need it: in order of cost, φ_(k) = Σ_{l≤k} (c_(l) −
/// c_(l−1))/(n−l+1) (Littlechild and Owen 1973). Cost O(n log n). Refined with cell density ρ, a region's share tends
/// to ∫ρ(x) ∫₀^{c(x)} dc/P_ρ(c' >= c) dx, which depends on ρ. Throws InvalidArgument unless there
/// are 1..Coalitions::max_players costs, finite and >= 0.
std::unique_ptr<SolvedGame> airport_game(std::vector<double> costs);

/// v(S) = min_i |S ∩ H_i|/n_i: the part of all sets of gloves, one for each hand i, that S can complete; hand i is
/// spread over n_i equal cells, and the players are the cells of hand 0, then of hand 1, ... (Shapley and Shubik 1969).
///
/// Shapley values by the multilinear extension with binomial laws (Owen 1972): O(n²) for a few hands. With refinement
/// hand i of three gets ¼ + (1/2π) arcsin(σ_i²/√((σ_i²+σ_j²)(σ_i²+σ_k²))), σ_i² ∝ 1/n_i: it depends on how the hands
/// are refined relative to each other. Throws InvalidArgument unless there is a hand, every hand has a glove, and there
/// are at most Coalitions::max_players in all.
std::unique_ptr<SolvedGame> glove_market(std::vector<int> gloves);

}  // namespace opshap::games
