#pragma once

#include <memory>

#include "core/field.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "games/partition_of_unity.hpp"

namespace opshap::games {

/// v(S) = G(u_b + Σ_i μ_i(S) η_i (u − u_b))(x*) with μ_i(S) = ∫_S η_i/∫η_i: the game of the paper's theorems
/// (OperatorSHAP, Definition "Smooth operator games").
///
/// The masks η_i are fixed while the players' cells are refined; a coalition counts only by how much of each mask it
/// holds. v = f∘μ with f(a) = G(u_b + Σ_i a_i η_i (u − u_b))(x*), so integrated gradients are its Aumann–Shapley value,
/// the diagonal formula φ(B_k) = Σ_i μ_i(B_k) ∫₀¹ DG(u_b + t(u − u_b))[η_i (u − u_b)] dt, and the Shapley values of
/// finer and finer partitions converge to that. Neither holds for cell_mask_game, whose masks are hard, nor for
/// diagonal_game, whose masks belong to the players. v(∅) is the operator's answer to the baseline.
///
/// Cost of a coalition besides the operator: one addition for each mask that is not 0 on a member's cells, and one for
/// each point of each mask's support. Kept, referred to, memory and throws as cell_mask_game; InvalidArgument also when
/// the masks are of another grid than the input.
std::unique_ptr<Game> smooth_operator_game(const Operator& op, FieldBatch input, FieldBatch baseline,
                                           PartitionOfUnity masks, const Partition& partition, Readout readout);

}  // namespace opshap::games
