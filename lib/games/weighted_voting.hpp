#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = 1 where μ(S) >= q, else 0, for integer cells: the weighted majority game (Shapley and Shubik 1954), an
/// operator with a step.
///
/// Shapley values by shapley_values_on_integers. With refinement they converge to μ_k/μ(Ω) for 0 < q < μ(Ω) (Aumann and
/// Shapley 1974, theorem A on bv'NA), but the game is not in pNA: its gradient is 0 almost everywhere, integrated
/// gradients give 0 to all, and there is no diagonal formula. Throws InvalidArgument unless the quota is finite, and as
/// measure_of_integers.
std::unique_ptr<SolvedGame> weighted_voting(std::vector<int> weights, double quota);

/// Weights 1..4 and a quota between 1/4 and 3/4 of their total.
std::unique_ptr<Game> random_weighted_voting(int players, Rng& rng);

}  // namespace opshap::games
