#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/coalitions.hpp"
#include "core/rng.hpp"

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

  static constexpr std::int64_t fewest_nodes = 16;  ///< where there are so many pairs
  static constexpr std::int64_t largest_node = 64;  ///< more pairs in a node gain little
  /// Of how many pairs each node is, in order; they add up to pairs(). Nodes are of whole samples, or whole parts of a
  /// sample where its `stride` pairs are too many for a node: so a player has as many corrections at each node, or one
  /// at some nodes and none at the others.
  std::vector<std::int64_t> nodes() const;
};

/// M coalitions that each player joins with probability t, and M that it joins with probability 1 − t. Those of the
/// pair m are in the rows 2m and 2m + 1.
///
/// The M coalitions of a side are a Latin hypercube (McKay, Beckman, Conover 1979): a player joins where its uniform
/// number is below t, and its M numbers lie in the M equal parts of [0, 1], in an order of its own. The other side has
/// the opposite of each player's M memberships, in another order of its own. So a player is in M of the 2M coalitions,
/// and what is linear in the memberships, alike on both sides, has no error. What is quadratic has independent errors
/// on the two sides, where those of a coalition and its complement would be the same. Each coalition alone is one of
/// independent players, so means over a node have no bias. M = 1: a coalition and its complement.
struct NodeSample {
  Coalitions coalitions;     ///< [2M]
  std::vector<int> mirrors;  ///< [n, M]: the pair on the other side in which the player is what it is not in this one

  int pairs() const { return static_cast<int>(coalitions.size() / 2); }
  /// The row on the second side whose membership of the player is the opposite of that in the row 2·pair.
  std::size_t opposite(int pair, int player) const {
    return static_cast<std::size_t>(2 * mirrors[static_cast<std::size_t>(player * pairs() + pair)] + 1);
  }
};

/// Draws a node. Cost: 3·M·n random numbers.
NodeSample draw_node(int players, int pairs, double t, Rng& rng);

/// The plan with the least (slopes / stride + corrections) / samples that costs at most `evaluations`, where the two
/// are the variances of one pair at level 0 and of one sample at level 1, means over the players. Both 0: the cheapest
/// plan. The cheapest plan must be affordable.
TwoLevelPlan best_two_level_plan(int players, std::int64_t pass_cost, std::int64_t evaluations, double slopes,
                                 double corrections);

/// Weights ℓ_k(t) with Σ_k ℓ_k(t) f(t_k) = f(t) for every polynomial f of degree K − 1, [K]. The nodes are distinct.
std::vector<double> interpolation_weights(const std::vector<double>& nodes, double t);

}  // namespace opshap::estimators
