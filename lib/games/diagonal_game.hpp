#pragma once

#include <memory>

#include "core/field.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "games/partition_of_unity.hpp"

namespace opshap::games {

/// v(S) = G(u_b + Σ_{i∈S} η_i (u − u_b))(x*): every mask of a partition of unity is a player. With
/// PartitionOfUnity::smoothed_cells, cell_mask_game with soft edges.
///
/// Integrated gradients give player i the masked attribution Attr^{η_i} = ∫₀¹ DG(u_b + t(u − u_b))[η_i (u − u_b)] dt
/// (OperatorSHAP, Definition "Masked pointwise attribution"), and all together G(u)(x*) − G(u_b)(x*), whatever the
/// masks. That is the Aumann–Shapley value of f(a) = G(u_b + Σ_i a_i η_i (u − u_b))(x*), but not a limit of Shapley
/// values: with more masks the game is another one. For that limit see smooth_operator_game. v(∅) is the operator's
/// answer to the baseline.
///
/// Cost of a coalition besides the operator: one addition for each point of each mask's support. Kept, referred to,
/// memory and throws as cell_mask_game; InvalidArgument also when the masks are of another grid than the input, or too
/// many to be players.
std::unique_ptr<Game> diagonal_game(const Operator& op, FieldBatch input, FieldBatch baseline, PartitionOfUnity masks,
                                    Readout readout);

}  // namespace opshap::games
