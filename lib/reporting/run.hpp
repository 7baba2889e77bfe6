#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reporting/results.hpp"

namespace opshap::reporting {

/// A run as the report sees it: its manifest, in words, and its rows. One run is one profile; runs are never mixed. Its evaluation may be unfinished: then
/// rows of whole resolutions are missing.
struct Run {
  std::filesystem::path folder;
  std::string profile, pde, command, commit, started;
  std::uint64_t seed = 0;
  bool dirty = false;                                            ///< the commit had uncommitted changes
  std::vector<std::pair<std::string, double>> seconds;           ///< stage, wall time
  std::vector<std::pair<std::string, std::string>> environment;  ///< key, value in words
  std::vector<std::pair<std::string, std::string>> settings;     ///< key, value in words
  std::vector<std::string> resumed;                              ///< when, and by which commit, one sentence each
  std::vector<std::string> departures;                           ///< from the paper, one sentence each
  bool comparable_with_paper = false;
  std::vector<int> resolutions;  ///< of the settings
  std::string manifest;          ///< manifest.json as it is
  Results results;

  double total_seconds() const;
  /// Resolutions of the settings that have no attributions yet, ascending.
  std::vector<int> missing_resolutions() const;
};

/// Reads manifest.json and the rows of a run folder. Throws DataError when the manifest is missing, malformed or of
/// another schema, or has rows of no attribution at all.
Run read_run(const std::filesystem::path& folder);

}  // namespace opshap::reporting
