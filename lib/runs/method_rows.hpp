#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runs/answer.hpp"

namespace opshap::runs {

/// One attribution of a game by one method at one budget, compared with the truth (schema opshap.method/1). Scores are
/// those of every metric that needs no coalitions.
struct MethodRow : Answer {
  static constexpr std::string_view schema = "opshap.method/1";

  std::string game;  ///< "unanimity_sum", "game.json"
  int players = 0;
  std::string truth;       ///< "closed form", "exact", "certified", "permutation_antithetic"
  double truth_error = 0;  ///< ‖standard errors‖₂/‖values‖₂ of the truth; 0 for the first two
  std::int64_t repeat = 0;
  /// Why the method cannot but be right here, which makes the row a check and not a score: "guarantee" (for games of
  /// this interaction order), "all coalitions" (the budget allows every one), "rounding" (the error is no more than
  /// that). Empty otherwise.
  std::string exact;
  /// How a program ended that has no attribution to give ("timeout", "crash"); its run did not finish.
  std::optional<std::string> failure = std::nullopt;
};

/// One line of JSON without the newline. Throws NumericalError for a number that is not finite.
std::string to_json_line(const MethodRow& row);

/// The rows of a file, of which a last line cut short is left out; none when there is no such file.
/// Throws DataError naming file and line for a line it cannot read.
std::vector<MethodRow> read_method_rows(const std::filesystem::path& file);

}  // namespace opshap::runs
