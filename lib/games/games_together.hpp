#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/coalitions.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap::games {

/// The engine of the cell-mask games of several scenarios with the same domain, players and readout, or nullptr where
/// the operator has none for them together. Memory: what the engine keeps of each input. Throws as cell_mask_game(),
/// and InvalidArgument for scenarios that differ.
std::unique_ptr<CoalitionEngine> engine_together(const Operator& op, std::span<const Scenario> scenarios);

/// v(S) of these games: of all coalitions each game has as many, those of the first one first. An operator that has
/// engines for one input alone is asked for each game. One without any engine gets the masked fields in batches of
/// Operator::preferred_batch, whose fields may come from several games. Throws as engine_together(), and
/// InvalidArgument for coalitions of other players or that cannot be shared out evenly.
std::vector<double> values_together(const Operator& op, std::span<const Scenario> scenarios,
                                    const Coalitions& coalitions);

/// Calls work(b, game) with the game of each scenario, at most 64 of them at once, on a thread each. What the games are
/// asked is asked of the operator together: when each work that has not ended waits for an answer, one call has the
/// coalitions of all and one the fields of weights at which they want slopes. So a method that asks its game for little
/// at a time does not leave a device or the processor's other cores idle.
///
/// The operator is called by the calling thread alone. Answers are those of cell_mask_game() to rounding, and the same
/// each time. A game may be asked by the thread that it was given to. Throws as engine_together(), and what a work
/// throws, when all have ended; of several the first scenario's.
void play_together(const Operator& op, std::span<const Scenario> scenarios,
                   const std::function<void(std::size_t b, const Game& game)>& work);

}  // namespace opshap::games
