#include "training/kept_labels.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "operators/weights.hpp"
#include "training/loop.hpp"

namespace opshap::training {

namespace fs = std::filesystem;

namespace {

constexpr const char* identity_key = "identity";

}  // namespace

Target::Labels KeptLabels::of(std::size_t group, const std::function<Target::Labels()>& ask) const {
  const fs::path path = labels() / message(group, ".safetensors");
  if (is_there(path)) {
    const data::Safetensors kept = data::read_safetensors(path);
    const auto said = kept.metadata.find(identity_key);
    require<DataError>(said != kept.metadata.end(), "training: labels=", path.string(),
                       " (do not say of which training they are). Remove the folder and train again.");
    require_same(folder_, identity_, said->second);
    Target::Labels labels;
    for (std::size_t i = 0; i < kept.tensors.size(); ++i)
      labels.push_back(operators::stored_values(kept.tensors.at(std::to_string(i))));
    return labels;
  }
  const Target::Labels labels = ask();
  data::Safetensors kept;
  kept.metadata[identity_key] = identity_;
  for (std::size_t i = 0; i < labels.size(); ++i) kept.tensors[std::to_string(i)] = operators::stored_tensor(labels[i]);
  make_folder(path.parent_path());
  data::write_safetensors(path, kept);
  return labels;
}

void KeptLabels::forget() const { fs::remove_all(labels()); }

}  // namespace opshap::training
