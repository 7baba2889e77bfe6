#pragma once

#include <filesystem>

#include "runs/run.hpp"

namespace opshap::runs {

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
