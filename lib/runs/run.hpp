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
  std::string imported_from;              ///< where the data are from, in words; empty for data of our generator
  std::vector<std::string> import_notes;  ///< what the import says of them, sentence by sentence
  std::vector<Resolution> resolutions;    ///< of the settings: those of the training
  std::vector<Resolution> unseen;         ///< those that are evaluated besides
  std::vector<std::string> left_out;      ///< files of rows that a kept folder does not have: "fields.jsonl"
  std::string manifest;                   ///< manifest.json as it is
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

/// "opshap reproduce --out runs/a (seed 42, commit ee3d8fc0f7bd)": where the numbers in a folder are from, by its
/// manifest.json. Empty where there is none. Throws DataError for one that is damaged.
std::string origin(const std::filesystem::path& folder);

/// Writes into `folder` what a repository keeps of a run, which is all that `opshap report` needs for claims and
/// tables.
///
///   config.resolved.toml, log.jsonl, training.jsonl   as they are
///   results.jsonl.gz                                  the rows of results.jsonl, packed
///   references.jsonl.gz                               the run's references in float32 (in_float32()), packed
///   backbone/, explainer/, explainers/NAME/           summary.json and metrics.jsonl of each training
///   manifest.json                                     that of the run. Its `rows` are the sums of what is kept, and
///                                                     left_out names the files of rows that are not kept
///
/// Weights are never written, nor are data, other attributions and fields. A file that the run does not have is left
/// out. Equal runs give equal bytes. A folder that was written before is written anew.
///
/// Throws InvalidArgument when the folder is that of the run, holds another run, or holds files without being that of a
/// run, and when it has unpacked rows of the run.
void keep_run(const Run& run, const std::filesystem::path& folder);

/// Writes into `keep` what a repository keeps of a comparison or of the suite that has it: manifest.json, and
/// truth.json and results.jsonl.gz where there are such rows. Throws as keep_run().
void keep_comparison(const std::filesystem::path& folder, const std::filesystem::path& keep);

/// Writes references.jsonl.gz as keep_run() does; nothing for a run that has not stored its references.
void keep_references(const Results& results, const std::filesystem::path& folder);

}  // namespace opshap::runs
