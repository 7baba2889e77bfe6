#pragma once

#include <memory>

#include "core/game.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap::games {

/// v(S) = G(u_b + 1_S (u − u_b))(x*): the cells of the players in S show the input, the others the baseline; the game
/// of every experiment of the paper.
///
/// v(∅) is the operator's answer to the baseline, not 0. All channels of a cell are masked together. Gradients are of
/// f(a) = G(u_b + Σ_i a_i 1_i (u − u_b))(x*). The mean-field closure is the operator's, with the inclusion probability
/// of a player at all points of its cells. The scenario's input and baseline are batches of one on the same domain.
/// They are kept. The operator is referred to and must outlive the game. Values come from Operator::coalition_engine
/// where there is one. The first question prepares it, so a game that is asked for nothing costs next to nothing.
/// Memory: one batch of its or of Operator::preferred_batch fields, however many coalitions are asked for. Throws
/// InvalidArgument when shapes, partition or query do not fit, DataError when a field has a value that is not finite.
std::unique_ptr<Game> cell_mask_game(const Operator& op, Scenario scenario);

}  // namespace opshap::games
