#pragma once

#include <vector>

#include "core/field.hpp"
#include "operators/torch.hpp"
#include "training/resolution_batches.hpp"

namespace opshap::training {

/// The samples of each group at its resolution: one tensor [points, samples, C] per group, undefined for an empty
/// group. Groups with `queries`, one for each sample, get their coordinates as further channels
/// (explainers::with_query).
std::vector<torch::Tensor> at_resolutions(const FieldBatch& fields, const std::vector<ResolutionGroup>& groups,
                                          const torch::TensorOptions& options,
                                          const std::vector<std::vector<std::int64_t>>& queries = {});

/// The members of a batch, [points, B, C].
torch::Tensor select(const std::vector<torch::Tensor>& groups, const Batch& batch);

/// The group's grid: that many points on every axis.
std::vector<int> grid(const FieldBatch& fields, int points);

/// One sample of the data set at a resolution, as a batch of one.
FieldBatch at_resolution(const FieldBatch& fields, std::int64_t sample, int points);

}  // namespace opshap::training
