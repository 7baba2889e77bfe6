#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "training/target.hpp"

namespace opshap::training {

/// The labels that a training asks once, kept in its folder until it has ended, one file for each group of samples. A
/// training in pieces asks for them once, and one that was stopped while it asked goes on with the next group.
class KeptLabels {
 public:
  /// `identity` is that of the training; files of another one are asked for again.
  KeptLabels(std::filesystem::path folder, std::string identity)
      : folder_(std::move(folder)), identity_(std::move(identity)) {}

  /// The labels of a group on the CPU: those that are kept, else what `ask` gives, which is kept then. Makes the
  /// folder. Throws DataError for a file that is truncated or has been changed.
  Target::Labels of(std::size_t group, const std::function<Target::Labels()>& ask) const;
  /// Removes the files of so many groups.
  void forget(std::size_t groups) const;

 private:
  std::filesystem::path file(std::size_t group) const;

  std::filesystem::path folder_;
  std::string identity_;
};

}  // namespace opshap::training
