#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace opshap {

/// How often a text has a part. Occurrences do not overlap.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// Whether a text has each of these parts. A failure shows the first part that it lacks, and the text.
inline testing::AssertionResult has(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    if (text.find(part) == std::string_view::npos)
      return testing::AssertionFailure() << "wanted: " << part << "\ngot: " << text;
  return testing::AssertionSuccess() << "got: " << text;
}
inline testing::AssertionResult has(std::string_view text, std::string_view part) { return has(text, {part}); }

/// The parts of a text between separators: its lines, if no other one is named.
inline std::vector<std::string> parts_of(const std::string& text, char separator = '\n') {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);) parts.push_back(part);
  return parts;
}

/// A text with some bits of a byte flipped.
inline std::string flipped(std::string text, std::size_t at, int bits) {
  text[at] = static_cast<char>(text[at] ^ bits);
  return text;
}

/// What an error of the kind E says, "" when there is none. Errors of other kinds pass through.
template <typename E = Error, typename Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace opshap
