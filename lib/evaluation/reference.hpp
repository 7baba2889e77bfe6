#pragma once

#include <cstdint>
#include <string>

#include "core/attribution.hpp"
#include "core/game.hpp"
#include "evaluation/settings.hpp"

namespace opshap {

/// What attributions are compared with, and how well it is known itself.
struct Reference {
  std::string method;       ///< "exact" or "permutation_antithetic"
  Attribution attribution;  ///< standard errors are 0 for "exact"
  double error = 0;         ///< ‖standard errors‖₂ / ‖values‖₂
};

/// Exact Shapley values up to settings.exact_players, else antithetic permutations until settings.reference_error or settings.reference_budget is reached.
///
/// Rounds of independent pairs are pooled: the mean over all pairs with the standard error over all pairs. At least two pairs are run whatever the budget,
/// since a reference without its own error is none. Cost: as said by the settings; 2(n−1) coalitions a pair.
Reference reference(const Game& game, const EvaluationSettings& settings, std::uint64_t seed);

}  // namespace opshap
