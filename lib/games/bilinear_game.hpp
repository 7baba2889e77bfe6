#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// v(S) = Σ_r μ_r(S) ν_r(S) = ∬_{S×S} κ for the kernel κ = Σ_r μ_r ⊗ ν_r: μ₁μ₂, the square (L 1_S h)(x*)² of a linear
/// operator, its energy ∫(L 1_S h)².
///
/// φ_k = ½ Σ_r (μ_r(B_k) ν_r(Ω) + ν_r(B_k) μ_r(Ω)), and so are the Aumann–Shapley value and integrated gradients with
/// one node: no interaction involves more than two players, so nothing depends on the refinement. Throws
/// InvalidArgument for no terms, or measures of different cells.
std::unique_ptr<SolvedGame> bilinear_game(std::vector<std::pair<Measure, Measure>> terms);

/// Two terms of signed measures.
std::unique_ptr<Game> random_bilinear_game(int players, Rng& rng);

}  // namespace opshap::games
