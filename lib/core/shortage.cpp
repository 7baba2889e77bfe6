#include "core/shortage.hpp"

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace opshap {

std::string advice_on_shortage(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space or choose another folder; nothing was written.";
    case EFBIG:
      return "Raise `ulimit -f`, or choose a file system for larger files; nothing was written.";
    case EIO:
      return "Check the disk, or choose another folder.";
    case EMFILE:
    case ENFILE:
      return "No file descriptor is left: raise `ulimit -n`, or close other programs.";
    case ENOMEM:
      return "No memory is left: raise `ulimit -v`, or close other programs.";
    case EAGAIN:
      return "No further process or thread is allowed: raise `ulimit -u`, or close other programs.";
    default:
      return "";
  }
}

void throw_if_shortage(const std::string& who, int error_number) {
  const std::string advice = advice_on_shortage(error_number);
  require<EnvironmentError>(advice.empty(), who, " (", std::strerror(error_number), "). ", advice);
}

}  // namespace opshap
