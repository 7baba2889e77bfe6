#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
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

/// The number that is all of the text, as std::from_chars() reads it. Nothing where the text is something else.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The fewest digits from which number_of() reads the same number.
std::string shortest(double number);

/// A whole number as people write one: "1000", "1e3", "1.5e3", "2^10". Nothing where the text is something else, is not
/// whole, is negative, or does not fit into 64 bits.
std::optional<std::uint64_t> whole_number(std::string_view text);

}  // namespace opshap
