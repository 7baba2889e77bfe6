#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"
#include "games/measure.hpp"

namespace opshap::games {

inline constexpr int max_product_factors = 8;

/// v(S) = Π_l μ_l(S) for m measures of the same cells.
///
/// Shapley values from the mixed moments of the measures of a random coalition without k, integrated by a
/// Gauss–Legendre rule that is exact for them (Owen 1972). Cost: O(n 3^m m). Interactions of up to m players.
/// Aumann–Shapley value (1/m) Σ_l μ_l(B_k) Π_{l'≠l} μ_l'(Ω), equal to the Shapley value for m <= 2. Throws
/// InvalidArgument unless 1 <= m <= 8 and all measures have equally many cells.
std::unique_ptr<SolvedGame> product_of_measures(std::vector<Measure> factors);

/// Three measures, two of them signed.
std::unique_ptr<Game> random_product_of_measures(int players, Rng& rng);

}  // namespace opshap::games
