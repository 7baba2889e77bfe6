#include "training/kept_labels.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "operators/weights.hpp"

namespace opshap::training {

namespace fs = std::filesystem;

namespace {

constexpr const char* identity_key = "identity";

}  // namespace

fs::path KeptLabels::file(std::size_t group) const { return folder_ / message("labels_", group, ".safetensors"); }

Target::Labels KeptLabels::of(std::size_t group, const std::function<Target::Labels()>& ask) const {
  const fs::path path = file(group);
  if (is_there(path)) {
    const data::Safetensors kept = data::read_safetensors(path);
    if (const auto said = kept.metadata.find(identity_key); said != kept.metadata.end() && said->second == identity_) {
      Target::Labels labels;
      for (std::size_t i = 0; i < kept.tensors.size(); ++i)
        labels.push_back(operators::stored_values(kept.tensors.at(std::to_string(i))));
      return labels;
    }
  }
  const Target::Labels labels = ask();
  data::Safetensors kept;
  kept.metadata[identity_key] = identity_;
  for (std::size_t i = 0; i < labels.size(); ++i) kept.tensors[std::to_string(i)] = operators::stored_tensor(labels[i]);
  make_folder(folder_);
  data::write_safetensors(path, kept);
  return labels;
}

void KeptLabels::forget(std::size_t groups) const {
  for (std::size_t group = 0; group < groups; ++group) fs::remove(file(group));
}

}  // namespace opshap::training
