#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = max_{k∈S} c_k: the runway that the largest aircraft needs, or the essential supremum of a field over S.
///
/// Everyone shares each part of the runway with all who need it: in order of cost, φ_(k) = Σ_{l≤k} (c_(l) −
/// c_(l−1))/(n−l+1) (Littlechild and Owen 1973). Cost O(n log n). Refined with cell density ρ, a region's share tends
/// to ∫ρ(x) ∫₀^{c(x)} dc/P_ρ(c' >= c) dx, which depends on ρ. Throws InvalidArgument unless there
/// are 1..Coalitions::max_players costs, finite and >= 0.
std::unique_ptr<SolvedGame> airport_game(std::vector<double> costs);

/// Costs multiples of 1/32 in (0, 2], some of them equal.
std::unique_ptr<Game> random_airport_game(int players, Rng& rng);

}  // namespace opshap::games
