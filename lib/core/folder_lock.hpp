#pragma once

#include <filesystem>
#include <string>

namespace opshap {

/// Holds a folder for one process at a time that writes there: an advisory lock, which the kernel releases even after a
/// kill. What writers that were killed have left under temporary names is removed.
class FolderLock {
 public:
  /// `who` starts the messages. Throws InvalidArgument when another lock holds the folder, and when there is no such
  /// folder.
  FolderLock(const std::filesystem::path& folder, const std::string& who);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Throws EnvironmentError when the folder has been removed or replaced since it was locked: what is written there
  /// now would be a part of a result.
  void require_there() const;

 private:
  std::filesystem::path folder_;
  std::string who_;
  int descriptor_;
};

}  // namespace opshap
