#include "training/samples.hpp"

#include "core/scenario.hpp"
#include "explainers/operator_shap.hpp"
#include "operators/network.hpp"

namespace opshap::training {

std::vector<torch::Tensor> at_resolutions(const FieldBatch& fields, const std::vector<ResolutionGroup>& groups,
                                          const torch::TensorOptions& options,
                                          const std::vector<std::vector<std::int64_t>>& queries) {
  std::vector<torch::Tensor> tensors;
  for (std::size_t number = 0; number < groups.size(); ++number) {
    const ResolutionGroup& group = groups[number];
    std::vector<torch::Tensor> samples;
    for (std::size_t member = 0; member < group.samples.size(); ++member) {
      FieldBatch field = at_resolution(fields.one(group.samples[member]), group.resolution);
      if (number < queries.size() && !queries[number].empty())
        field = explainers::with_query(field, {queries[number][member]});
      samples.push_back(operators::to_tensor(field, 0, 1, options));
    }
    tensors.push_back(samples.empty() ? torch::Tensor() : torch::cat(samples, 1));
  }
  return tensors;
}

torch::Tensor select(const std::vector<torch::Tensor>& groups, const Batch& batch) {
  return groups[batch.group].index_select(
      1, torch::tensor(batch.members, groups[batch.group].options().dtype(torch::kInt64)));
}

}  // namespace opshap::training
