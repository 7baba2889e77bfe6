#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "core/game.hpp"

namespace opshap::games {

/// A game from JSON, in one of two forms:
///
///     {"players": n, "values": [2^n numbers]}
///     {"players": n, "terms": [{"coalition": [i, ...], "coefficient": c}, ...], "empty": v(∅)}
///
/// In the first, bit i of an index is player i. The second is a sum of unanimity games; "empty" is optional.
///
/// Strict: unknown, missing or repeated keys, wrong lengths and numbers that are not finite are errors. Memory is
/// proportional to the text. `who` starts the messages. Throws DataError naming the key.
std::unique_ptr<Game> parse_game(std::string_view json, std::string_view who);

/// parse_game of a whole file; "-" is standard input. Throws DataError.
std::unique_ptr<Game> read_game(const std::filesystem::path& path);

}  // namespace opshap::games
