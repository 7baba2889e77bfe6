#pragma once

#include <cstdint>
#include <vector>

namespace opshap::estimators {

/// How a budget is spent on the two levels.
struct TwoLevelPlan {
  std::int64_t samples =
      2;  ///< level 1: pairs of coalitions at which each player's marginal contributions are evaluated
  std::int64_t stride = 1;  ///< level 0 has samples·stride pairs, and level 1 every stride-th of them for a player

  std::int64_t pairs() const { return samples * stride; }
  /// In evaluations: a pass at both coalitions of a pair, their values, and two evaluations a sample of each player.
  std::int64_t cost(int players, std::int64_t pass_cost) const {
    return pairs() * (2 * pass_cost + 2) + 2 * samples * players;
  }
};

/// The plan with the least (slopes / stride + corrections) / samples that costs at most `evaluations`, where the two
/// are the variances of one pair at level 0 and of one sample at level 1, means over the players. Both 0: the cheapest
/// plan. The cheapest plan must be affordable.
TwoLevelPlan best_two_level_plan(int players, std::int64_t pass_cost, std::int64_t evaluations, double slopes,
                                 double corrections);

/// Weights ℓ_k(t) with Σ_k ℓ_k(t) f(t_k) = f(t) for every polynomial f of degree K − 1, [K]. The nodes are distinct.
std::vector<double> interpolation_weights(const std::vector<double>& nodes, double t);

}  // namespace opshap::estimators
