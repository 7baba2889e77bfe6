#include "core/process_start.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace opshap {

void start_process() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is this one, since those below are open. The direction is the one that nobody uses.
    [[maybe_unused]] const int held =
        ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // NOLINT(android-cloexec-open)
  }
}

}  // namespace opshap
