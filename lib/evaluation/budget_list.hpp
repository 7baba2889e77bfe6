#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace opshap::evaluation {

/// Budgets from text, increasing and without repetitions, for a game of n players:
///
///     128,256,1e3       numbers
///     2^7               a power
///     2n,4n,n           multiples of the number of players
///     2^7..2^15         doubling from the first up to the second; either may be any of the forms above, "2n..2^12"
///
/// Commas separate parts of any form. Throws InvalidArgument naming the part that has none of these forms, is below 1
/// or beyond 2^62, or runs down.
std::vector<std::int64_t> parse_budgets(std::string_view text, int players);

/// One budget of these forms, but for ranges. `who` starts the message: "attribute: --budget".
std::int64_t parse_budget(std::string_view who, std::string_view text, int players);

}  // namespace opshap::evaluation
