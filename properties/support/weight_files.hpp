#pragma once

#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "operators/weights.hpp"
#include "support/refusal.hpp"
#include "support/run_folder.hpp"

namespace opshap {

/// Tests that write files of weights, in a folder of their own that goes with them.
class WeightsFolder : public RunFolder {
 protected:
  /// The message with which a file is refused after a change to its content; "" when it is accepted.
  template <typename Change>
  std::string refused_after(const Change& change, const std::filesystem::path& file) const {
    data::Safetensors content = data::read_safetensors(file);
    change(content);
    data::write_safetensors(changed_, content);
    return refusal<DataError>([&] { operators::load_operator(changed_); });
  }
  template <typename Change>
  std::string refused_after(const Change& change) const {
    return refused_after(change, file_);
  }

  const std::filesystem::path file_ = folder_ / "model.safetensors", changed_ = folder_ / "changed.safetensors";
};

}  // namespace opshap
