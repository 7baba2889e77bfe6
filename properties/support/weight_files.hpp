#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "operators/weights.hpp"
#include "support/refusal.hpp"

namespace opshap {

/// Gives the tensors whose names begin with `from` names that begin with `to`.
inline void rename_tensors(data::Safetensors& content, const std::string& from, const std::string& to) {
  std::map<std::string, data::StoredTensor> renamed;
  for (auto& [name, tensor] : content.tensors)
    renamed.emplace(name.starts_with(from) ? to + name.substr(from.size()) : name, std::move(tensor));
  content.tensors = std::move(renamed);
}

/// Tests that write files of weights, in a folder of their own that goes with them.
class WeightsFolder : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

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

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("opshap_weights_" + std::to_string(getpid()));
  const std::filesystem::path file_ = folder_ / "model.safetensors", changed_ = folder_ / "changed.safetensors";
};

}  // namespace opshap
