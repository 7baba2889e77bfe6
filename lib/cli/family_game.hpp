#pragma once

#include <cstdint>
#include <string>

#include "cli/game_options.hpp"

namespace opshap::cli {

/// The random member number `seed` of a family of the games registry. Throws InvalidArgument for an unknown family and
/// for one that is made from an operator, with a message that starts with `who`.
NamedGame family_game(const std::string& who, const std::string& family, int players, std::uint64_t seed);

}  // namespace opshap::cli
