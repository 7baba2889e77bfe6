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

}  // namespace opshap::training
