#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/comparison_run.hpp"
#include "reporting/method_comparison.hpp"

namespace opshap::cli {

/// The schema of the manifest of a suite's folder, and of its leaderboard.json.
inline constexpr std::string_view leaderboard_schema = "opshap.leaderboard/1";

/// The groups of games that have ranks of their own.
inline const std::string group_of_closed_forms = "closed forms", group_of_operators = "operators";

/// A game of a suite that has been played.
struct BoardGame {
  std::string name;   ///< of its folder: "unanimity_sum_n16"
  std::string group;  ///< group_of_closed_forms or group_of_operators
  int players = 1;
  const evaluation::ComparisonRun* run;
};

/// What was written of a leaderboard.
struct WrittenBoard {
  nlohmann::ordered_json object;  ///< leaderboard.json
  std::string ranks;              ///< those of each class of access, as Markdown
  std::filesystem::path page;
};

/// Whether a folder is that of a suite: its manifest.json says so. Throws DataError for a manifest that is no JSON.
bool is_leaderboard(const std::filesystem::path& folder);

/// Writes leaderboard.json, tables/ and report.html of a suite that was played into its `folder`, which has its
/// manifest.json.
WrittenBoard write_leaderboard(const std::filesystem::path& folder, const std::vector<BoardGame>& games,
                               const std::optional<reporting::MethodChanges>& changes);

/// The same from the rows in the folders of the games alone, packed or not; nothing is played. Changes since a baseline
/// are not in it. `page` is where the page goes; empty for report.html in the folder. Throws DataError for a manifest
/// of the wrong types, for a game without its rows or truth.json, and for rows that have changed since they were
/// written.
WrittenBoard rebuild_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& page = {});

/// Writes into `keep` what a repository keeps of a suite: manifest.json, of each game manifest.json, truth.json and
/// results.jsonl.gz, and what rebuild_leaderboard() writes. Throws as that, and InvalidArgument when `keep` is the
/// suite's own folder, holds another suite, or holds files without being that of a suite.
WrittenBoard keep_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& keep,
                              const std::filesystem::path& page = {});

}  // namespace opshap::cli
