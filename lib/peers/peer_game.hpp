#pragma once

#include <filesystem>
#include <memory>

#include "core/game.hpp"

namespace opshap::peers {

/// A program in any language as a game: the protocol opshap-peer/1 with the roles reversed. From the peer's side:
///
///     →  hello      protocol, name, version, role: "game", players, gradients: true where it has them, max_batch
///     ←  eval       id, count + coalitions          →  values     id, count + float64[count]
///     ←  grad       id, count + float64 nodes       →  gradients  id, count + float64[count, n]
///     →  fail       id, reason: in place of either
///     ←  bye
///
/// Coalitions are sent in batches of at most max_batch rows (4096 where the greeting does not say). A game with
/// gradients is a DifferentiableGame. Evaluating throws Failure when the program fails or takes longer than
/// limits.seconds for a batch; it is not started again. Threads wait for each other. Throws the same here, DataError
/// for a folder without a plugin, and InvalidArgument for a plugin that is no game.
std::unique_ptr<Game> peer_game(const std::filesystem::path& folder);

}  // namespace opshap::peers
