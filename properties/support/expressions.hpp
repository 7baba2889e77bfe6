#pragma once

#include <string>
#include <vector>

namespace opshap {

// Regular expressions of ECMAScript on texts. std::regex takes four seconds to compile wherever it is used, so it is
// used in expressions.cpp alone. An expression is read once.

/// Whether an expression is found anywhere in a text.
bool has_match(const std::string& text, const std::string& expression);

/// What a group of an expression has found, wherever the expression is found in a text: 0 for all of it, -1 for what
/// lies between. A group that took no part gives an empty text.
std::vector<std::string> found_by(const std::string& expression, const std::string& text, int group = 1);

/// A text with another in the place of whatever an expression finds; "$1" is what its first group has found.
std::string substituted(const std::string& text, const std::string& expression, const std::string& by);

}  // namespace opshap
