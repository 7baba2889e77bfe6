#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "operators/weights.hpp"
#include "support/run_folder.hpp"

namespace opshap {

/// Gives the tensors whose names begin with `from` names that begin with `to`.
inline void rename_tensors(data::Safetensors& content, const std::string& from, const std::string& to) {
  std::map<std::string, data::StoredTensor> renamed;
  for (auto& [name, tensor] : content.tensors)
    renamed.emplace(name.starts_with(from) ? to + name.substr(from.size()) : name, std::move(tensor));
  content.tensors = std::move(renamed);
}

/// Tests that write files of weights, in a folder of their own that goes with them.
class WeightsFolder : public RunFolder {
 protected:
  /// The message with which a file is refused after a change to its content; "" when it is accepted. The file is file_
  /// if no other one is named.
  std::string refused_after(const auto& change, const std::filesystem::path& file = {}) const {
    data::Safetensors content = data::read_safetensors(file.empty() ? file_ : file);
    change(content);
    data::write_safetensors(changed_, content);
    return refusal<DataError>([&] { operators::load_operator(changed_); });
  }

  const std::filesystem::path file_ = folder_ / "model.safetensors", changed_ = folder_ / "changed.safetensors";
};

}  // namespace opshap
