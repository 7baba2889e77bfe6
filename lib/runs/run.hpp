#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scenario.hpp"
#include "runs/results.hpp"

namespace opshap::runs {

/// The schema of the manifests that a report is made from.
inline constexpr std::string_view manifest_schema = "opshap.manifest/1";

/// What a sitting and others used of the machine while it ran, in seconds.
struct Load {
  double wall = 0;
  double own = 0;     ///< processor time of the sitting
  double others = 0;  ///< processor time of all other processes
  int processors = 1;
};

/// One start of the command that made the run. A run that was stopped and resumed has several, and one that was done in
/// parts has those of its parts.
struct Sitting {
  std::string time, commit;
  bool dirty = false;                                            ///< the commit had uncommitted changes
  std::vector<std::pair<std::string, std::string>> environment;  ///< key, value in words
  std::optional<Load> load = std::nullopt;                       ///< rows of before and sittings that were killed: none
  /// "" when the environment does not have the key.
  std::string value(std::string_view key) const;
  /// The share of the machine's processor time that other processes took: 0 where nothing ran beside it. None where the
  /// sitting did not record it or took no time.
  std::optional<double> others_share() const;
};

/// A run as the report sees it: its manifest, in words, and its rows. One run is one profile; runs are never mixed. Its
/// evaluation may be unfinished: then rows of whole resolutions are missing.
struct Run {
  std::filesystem::path folder;
  std::string profile, pde, command;
  std::string commit;  ///< of the first sitting
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, double>> seconds;  ///< stage, wall time
  std::vector<Sitting> sittings;                        ///< its parts' among them, in the order of time; at least one
  std::vector<std::pair<std::string, std::string>> settings;  ///< key, value in words
  std::vector<std::string> departures;                        ///< from the paper, one sentence each
  bool comparable_with_paper = false;
  std::string imported_from;            ///< where the data are from, in words; empty for data of our generator
  std::vector<Resolution> resolutions;  ///< of the settings: those of the training
  std::vector<Resolution> unseen;       ///< those that are evaluated besides
  std::vector<std::string> left_out;    ///< files of rows that a kept folder does not have: "fields.jsonl"
  std::string manifest;                 ///< manifest.json as it is
  /// Its references are in float32, so that a run and what is kept of it have one report.
  Results results;

  double total_seconds() const;
  /// Resolutions of the settings that have no attributions yet, ascending.
  std::vector<Resolution> missing_resolutions() const;
};

/// Reads manifest.json and the rows of a run folder. Throws DataError when the manifest is missing, malformed or of
/// another schema, when there are no rows of an attribution, when rows are of another problem than the manifest, and
/// when rows were changed, removed or added since they were written.
Run read_run(const std::filesystem::path& folder);

}  // namespace opshap::runs
