#pragma once

#include <filesystem>
#include <vector>

#include "runs/part.hpp"

namespace opshap::runs {

/// Puts together what the parts of a run did (runs/part.hpp). Afterwards the run's folder is as if one process had done
/// all of it: the run's own command without --shard goes on from there.
///
/// Parts are looked for in parts/ of `run` and of each folder in `others`, which are copies of the run from other
/// machines and stay as they are; parts/ of `run` is removed at the end. units/ and results.jsonl are joined in the
/// order of the parts. Any other file must be the same in all of them. The run's manifest.json books the parts and adds
/// their seconds to its stages; a run that has none gets that of part 0. A call that was killed can be made again,
/// wherever it was killed. Returns the number of parts.
///
/// Throws DataError for folders without parts and for manifests or units that are damaged. Throws InvalidArgument for a
/// part that is missing, not finished, there twice, or of another number of parts, settings, seed, commit or numerical
/// libraries, and for a unit that two parts did differently. All of them name the part.
std::int64_t merge_parts(const std::filesystem::path& run, const std::vector<std::filesystem::path>& others = {});

}  // namespace opshap::runs
