#pragma once

#include <sys/resource.h>

#include <functional>

namespace opshap::peers {

/// How the process of a peer has ended, as its keeper tells.
struct KeptStatus {
  int status = 0;  ///< as of waitpid()
  rusage used = {};
};

/// The life of a keeper: a process of ours between host and peer, which ends the peer with all that it has started.
///
/// It starts the peer by `become`, which does not return, and writes a KeptStatus to `status` when the peer's own
/// process has ended. What it reads from `control` is numbers of signals, a byte each: SIGKILL ends all, any other one
/// goes to the peer and its group. The end of that stream, which also comes when the host is killed, ends all too.
/// Processes of the peer whose parents have ended become the keeper's children, whatever group or session they have
/// moved to. It makes system calls alone, since it is a copy of a process whose other threads may have held any lock.
/// An error number goes to `failed` when there can be no further process.
[[noreturn]] void keep(const std::function<void()>& become, int control, int status, int failed);

}  // namespace opshap::peers
