#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace opshap {

/// A whole number as people write one: "1000", "1e3", "1.5e3", "2^10". Nothing where the text is something else, is not
/// whole, is negative, or does not fit into 64 bits.
std::optional<std::uint64_t> whole_number(std::string_view text);

}  // namespace opshap
