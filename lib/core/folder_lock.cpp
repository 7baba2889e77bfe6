#include "core/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/shortage.hpp"

namespace opshap {

FolderLock::FolderLock(const std::filesystem::path& folder, const std::string& who)
    : folder_(folder), who_(who), descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const int code = errno;
  const std::string where = message(who, ": folder=", folder.string());
  if (descriptor_ < 0) throw_if_shortage(where, code);
  require(descriptor_ >= 0, where, " (cannot be opened: ", std::strerror(code), "). Name a folder that is there.");
  // A file system without locks gives another error; there is nothing to hold then.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw InvalidArgument(message(where, " (another process is at this work). Wait for it, or choose another path."));
  }
  remove_leftovers(folder);
}

FolderLock::~FolderLock() { ::close(descriptor_); }

void FolderLock::require_there() const {
  struct stat held {
  }, found{};
  const bool same = ::fstat(descriptor_, &held) == 0 && ::stat(folder_.c_str(), &found) == 0 &&
                    held.st_dev == found.st_dev && held.st_ino == found.st_ino;
  require<EnvironmentError>(same, who_, ": folder=", folder_.string(),
                            " (was removed or replaced while the work went on). Run the command again.");
}

}  // namespace opshap
