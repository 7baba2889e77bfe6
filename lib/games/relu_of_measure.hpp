#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// v(S) = max(μ(S) − q, 0) for integer cells: absolutely continuous but not differentiable, and still in pNA.
///
/// Shapley values by shapley_values_on_integers. Aumann–Shapley value μ_k (L − q)⁺/L for 0 <= q and L = μ(Ω) > 0;
/// discretisation error with C = q/L − ½, unless the kink is at 0 or L. Throws InvalidArgument unless the kink is
/// finite, and as measure_of_integers.
std::unique_ptr<SolvedGame> relu_of_measure(std::vector<int> cells, double kink);

/// Cells 1..4 with a kink between 1/4 and 3/4 of their total.
std::unique_ptr<Game> random_relu_of_measure(int players, Rng& rng);

}  // namespace opshap::games
