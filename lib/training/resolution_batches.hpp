#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario.hpp"
#include "data/dataset.hpp"

namespace opshap::training {

/// Samples of one part of a data set that are served at one resolution, always the same one (the paper's
/// FixedResolutionBatchSampler).
struct ResolutionGroup {
  Resolution resolution;
  std::vector<std::int64_t> samples;  ///< indices in the data set, ascending
};

/// One group per resolution; a group may be empty. Throws InvalidArgument when the data set's slots do not fit the list
/// or no stride gets to a resolution.
std::vector<ResolutionGroup> resolution_groups(const data::Dataset& data, data::Split part,
                                               const std::vector<Resolution>& resolutions);

/// Positions within one group that make one optimiser step.
struct Batch {
  std::size_t group = 0;
  std::vector<std::int64_t> members;  ///< positions in ResolutionGroup::samples
};

/// An epoch's batches: each sample once, a batch holds one resolution, all in random order that depends on seed and
/// epoch alone.
std::vector<Batch> epoch_batches(const std::vector<ResolutionGroup>& groups, int batch, std::uint64_t seed,
                                 std::int64_t epoch);

/// The groups' samples in order, in batches of that size: for validation.
std::vector<Batch> ordered_batches(const std::vector<ResolutionGroup>& groups, int batch);

}  // namespace opshap::training
