#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = min_i |S ∩ H_i|/n_i: the part of all sets of gloves, one for each hand i, that S can complete; hand i is
/// spread over n_i equal cells, and the players are the cells of hand 0, then of hand 1, ... (Shapley and Shubik 1969).
///
/// Shapley values by the multilinear extension with binomial laws (Owen 1972): O(n²) for a few hands. With refinement
/// hand i of three gets ¼ + (1/2π) arcsin(σ_i²/√((σ_i²+σ_j²)(σ_i²+σ_k²))), σ_i² ∝ 1/n_i: it depends on how the hands
/// are refined relative to each other. Throws InvalidArgument unless there is a hand, every hand has a glove, and there
/// are at most Coalitions::max_players in all.
std::unique_ptr<SolvedGame> glove_market(std::vector<int> gloves);

/// Three hands, or as many as there are players.
std::unique_ptr<Game> random_glove_market(int players, Rng& rng);

}  // namespace opshap::games
