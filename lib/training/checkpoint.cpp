#include "training/checkpoint.hpp"

#include <cstring>

#include "core/error.hpp"
#include "data/safetensors.hpp"

namespace opshap::training {

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  data::Safetensors file;
  file.metadata["counters"] = checkpoint.counters;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    const torch::Tensor values = tensor.detach().to(torch::kCPU).contiguous();
    data::StoredTensor& stored = file.tensors[name];
    stored.dtype = "F32";
    stored.shape.assign(values.sizes().begin(), values.sizes().end());
    stored.bytes.resize(static_cast<std::size_t>(values.nbytes()));
    std::memcpy(stored.bytes.data(), values.data_ptr(), stored.bytes.size());
  }
  data::write_safetensors(path, file);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const data::Safetensors file = data::read_safetensors(path);
  Checkpoint checkpoint;
  const auto counters = file.metadata.find("counters");
  require<DataError>(counters != file.metadata.end(), "training: checkpoint=", path.string(),
                     " (has no counters). Remove the folder and train again.");
  checkpoint.counters = counters->second;
  for (const auto& [name, stored] : file.tensors) {
    require<DataError>(stored.dtype == "F32", "training: checkpoint=", path.string(), " (tensor ", name,
                       " is not F32). Remove the folder and train again.");
    torch::Tensor tensor = torch::empty(stored.shape, torch::kFloat32);
    std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
    checkpoint.tensors[name] = tensor;
  }
  return checkpoint;
}

}  // namespace opshap::training
