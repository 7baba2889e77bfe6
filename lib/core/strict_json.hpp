#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace opshap {

/// What a JSON text may have at most, so that no text can take more than a few times its own size.
struct JsonLimits {
  int depth = 64;                            ///< objects and arrays inside each other
  std::size_t keys = 10000;                  ///< of one object
  std::size_t bytes = std::size_t{1} << 32;  ///< of the text
};

/// The JSON text that came from outside: a file, or a message of another program.
///
/// Json is nlohmann::json or nlohmann::ordered_json. Throws DataError("who: json (why). What to do.") for what is no
/// JSON, for a text beyond the limits and for a key that is given twice in one object. What Python, PowerShell and
/// others write by mistake is named: NaN, Infinity, UTF-16.
template <typename Json>
Json strict_json(std::string_view text, std::string_view who, const JsonLimits& limits = {});

}  // namespace opshap
