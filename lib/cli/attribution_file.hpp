#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/game.hpp"

namespace opshap::cli {

/// An attribution somebody wrote down, as `opshap attribute --json` prints it.
struct StoredAttribution {
  std::string method;          ///< "unknown" when the file does not say
  std::vector<double> values;  ///< [n]
};

/// Reads {"values":[n numbers], ...}; "method", "players", "empty" and "grand" are optional and the last three must be
/// those of the game. "-" is standard input. Throws DataError naming the key, also for an attribution of another game.
StoredAttribution read_attribution(const std::filesystem::path& path, const Game& game);

}  // namespace opshap::cli
