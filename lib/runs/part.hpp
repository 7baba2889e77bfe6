#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace opshap::runs {

/// One of `of` parts of a work, which processes on one machine or on many do side by side. The numbers do not depend on
/// how many there are: every unit of a work draws from random streams of its own.
struct Part {
  std::int64_t index = 0, of = 1;

  bool whole() const { return of == 1; }
  /// Whether a unit of the work belongs to this part: every of-th does, so that costly units, which lie side by side,
  /// are shared out.
  bool has(std::int64_t unit) const { return unit % of == index; }
  /// Where the part works: `run` itself for the whole, else parts/<index>-of-<of> in it.
  std::filesystem::path folder(const std::filesystem::path& run) const;

  /// "2/4" to {2, 4}. `who` starts the messages. Throws InvalidArgument for a text of another form and for an index
  /// that is not below the number.
  static Part parse(const std::string& who, const std::string& text);
  bool operator==(const Part&) const = default;
};

/// {index, of}.
nlohmann::ordered_json to_json(const Part& part);

}  // namespace opshap::runs
