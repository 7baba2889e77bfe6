#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opshap {

/// The candidate closest to `name` in Levenshtein distance; empty when there are no candidates.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// Throws InvalidArgument: "KIND: name=NAME (not registered). Did you mean NEAREST? `opshap list KINDs` prints all."
[[noreturn]] void throw_unknown_name(std::string_view kind, std::string_view name,
                                     const std::vector<std::string>& candidates);

}  // namespace opshap
