#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "operators/torch.hpp"

namespace opshap::training {

/// The state of an unfinished training: float32 tensors by name, and counters as JSON text. One file, so that it is all
/// there or not at all.
struct Checkpoint {
  std::map<std::string, torch::Tensor> tensors;
  std::string counters;
};

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
/// Throws DataError for a file that is truncated, corrupt or no checkpoint.
Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace opshap::training
