#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.hpp"
#include "core/attribution.hpp"
#include "core/blocks.hpp"

namespace opshap::cli {

/// An attribution as one JSON object. Keys: method, players, values, standard_errors (null when the method has none),
/// empty, grand, efficiency_gap, distinct, evaluations, gradients, seed, seconds {game, estimator}, exact, minimum_norm
/// (null, or the rank and needed_rank of a system that does not determine the values), path (how the game was computed,
/// Game::path, where it tells).
nlohmann::ordered_json attribution_json(const Globals& globals, const std::string& method,
                                        const Attribution& attribution, const std::string& path);

/// Prints attributions of several inputs or queries, [B][Q], on standard output: with --json one object whose values
/// are [B][n], or [B][Q][n] with several queries, as are standard_errors, and whose empty, grand, efficiency_gap,
/// distinct, evaluations and gradients are [B] or [B][Q]. Otherwise a line for each input and query. `blocks` as in
/// print_attribution().
void print_attributions(const Globals& globals, const std::string& method,
                        const std::vector<std::vector<Attribution>>& attributions,
                        const std::vector<std::int64_t>& queries, const std::string& path,
                        const std::optional<MeshBlocks>& blocks = std::nullopt);

/// Prints an attribution on standard output: attribution_json() with --json, else the largest values as a table and
/// what they cost. Where the players are the blocks of a mesh, `blocks` says which ones: the JSON has the keys blocks
/// (how many there are) and block_of_player [players] too.
void print_attribution(const Globals& globals, const std::string& method, const Attribution& attribution,
                       const std::string& path, const std::optional<MeshBlocks>& blocks = std::nullopt);

}  // namespace opshap::cli
