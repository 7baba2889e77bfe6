#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opshap {

/// The candidate that `name` begins, or else the closest one in Levenshtein distance; empty when nothing is near: more
/// than a third of the letters would have to change.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// " Did you mean NEAREST?", or nothing where no candidate is near: for the end of a message.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

/// Throws InvalidArgument: "KIND: name=NAME (not registered). Did you mean NEAREST? There are A, B, C." A long list is
/// left to `opshap list KINDs`.
[[noreturn]] void throw_unknown_name(std::string_view kind, std::string_view name,
                                     const std::vector<std::string>& candidates);

/// Whether what a file calls something can be the name of one file or folder: one component of a path, without control
/// characters, at most 200 bytes, and not a name that begins with a dot.
bool is_plain_name(std::string_view name);

}  // namespace opshap
