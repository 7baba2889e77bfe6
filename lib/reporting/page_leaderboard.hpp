#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reporting/leaderboard.hpp"
#include "reporting/method_changes.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// All that the page of a leaderboard shows, ready to be set.
struct LeaderboardContents {
  std::string suite, summary;
  const Leaderboard& board;
  std::vector<DrawnFigure> curves;                          ///< error against budget, a figure for each game
  std::vector<std::pair<std::string, std::string>> facts;   ///< of the first screen: commit, repeats, machine
  std::vector<std::pair<std::string, std::string>> origin;  ///< command, settings and environment
  Table peers;                                              ///< programs with their versions; may have no rows
  std::optional<MethodChanges> changes = {};                ///< since a baseline
};

/// report.html of a suite: ranks by what methods see, changes since a baseline, error against budget game by game,
/// costs, runs without an answer, versions. One page that needs nothing else. Every text that is not ours is escaped.
std::string leaderboard_page(const LeaderboardContents& contents);

}  // namespace opshap::reporting
