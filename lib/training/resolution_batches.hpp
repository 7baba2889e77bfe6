#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario.hpp"
#include "data/dataset.hpp"

namespace opshap::training {

/// Samples of one part of a data set that are served on one domain at one resolution, always the same one (the paper's
/// FixedResolutionBatchSampler).
struct ResolutionGroup {
  Resolution resolution;
  std::size_t domain = 0;             ///< number of the domain (data::SampleFields)
  int windows = 1;                    ///< so many samples, one after the other, are windows of one trajectory
  std::vector<std::int64_t> samples;  ///< indices in the data set, ascending
};

/// One group per resolution; a group may be empty. Where the samples are on several meshes, one group for each mesh
/// that has samples of this part, at the one resolution that there is. Throws InvalidArgument when the data set's slots
/// do not fit the list or no stride gets to a resolution.
std::vector<ResolutionGroup> resolution_groups(const data::Dataset& data, data::Split part,
                                               const std::vector<Resolution>& resolutions);

/// Positions within one group that make one optimiser step.
struct Batch {
  std::size_t group = 0;
  std::vector<std::int64_t> members;  ///< positions in ResolutionGroup::samples
};

/// An epoch's batches: each sample once, a batch holds one group, all in random order that depends on seed and epoch
/// alone. Of a trajectory it is one window, drawn at random from a stream of seed, epoch and the trajectory's samples
/// (the paper's random t0).
std::vector<Batch> epoch_batches(const std::vector<ResolutionGroup>& groups, int batch, std::uint64_t seed,
                                 std::int64_t epoch);

/// The groups' samples in order, in batches of that size: for validation.
std::vector<Batch> ordered_batches(const std::vector<ResolutionGroup>& groups, int batch);

}  // namespace opshap::training
