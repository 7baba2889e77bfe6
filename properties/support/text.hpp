#pragma once

#include <cstddef>
#include <string>

namespace opshap {

/// How often a text has a part. Occurrences do not overlap.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace opshap
