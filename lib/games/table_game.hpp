#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "core/game.hpp"

namespace opshap::games {

/// The most players of a table: 2^30 values take 8 GiB.
inline constexpr int max_table_game_players = 30;

/// A game given by all its 2^n values; bit i of the index says whether player i is in.
///
/// Throws InvalidArgument unless 1 <= players <= 30 and there are 2^players values.
std::unique_ptr<Game> table_game(int players, std::vector<double> values);

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
