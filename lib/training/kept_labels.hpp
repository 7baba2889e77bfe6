#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "training/target.hpp"

namespace opshap::training {

/// The labels that a training asks once, kept in the folder `labels` of its own until it has ended, one file for each
/// group of samples. A training in pieces asks for them once, and one that was stopped while it asked goes on with the
/// next group.
class KeptLabels {
 public:
  /// `identity` is that of the training in `folder`.
  KeptLabels(std::filesystem::path folder, std::string identity)
      : folder_(std::move(folder)), identity_(std::move(identity)) {}

  /// The labels of a group on the CPU: those that are kept, else what `ask` gives, which is kept then. Throws
  /// InvalidArgument when labels of another training lie there, and DataError for a file that is truncated, has been
  /// changed or does not say whose it is.
  Target::Labels of(std::size_t group, const std::function<Target::Labels()>& ask) const;
  /// Removes all of them.
  void forget() const;

 private:
  std::filesystem::path labels() const { return folder_ / "labels"; }

  std::filesystem::path folder_;
  std::string identity_;
};

}  // namespace opshap::training
