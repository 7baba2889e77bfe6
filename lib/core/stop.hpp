#pragma once

#include <functional>
#include <list>
#include <string_view>

namespace opshap {

/// From now on SIGINT and SIGTERM set a flag that long work looks at. Work that has not looked after one and a half
/// seconds is ended: what stands in ForcedEnd is done, and the process exits with code 6. A second signal ends the
/// process at once. Called once, before the process has other threads.
void stop_on_signals();

/// True once a signal has arrived.
bool stop_requested();

/// Throws Stopped when a signal has arrived. Long work calls it where its state on disk can be resumed from.
void throw_if_stopped(std::string_view who);

/// While it lives, this is done before a process is ended that does not look at its signal: it removes a temporary
/// file, or kills a program that was started. It runs in another thread, while the work goes on, and makes no ForcedEnd
/// itself.
class ForcedEnd {
 public:
  explicit ForcedEnd(std::function<void()> before);
  ForcedEnd(const ForcedEnd&) = delete;
  ForcedEnd& operator=(const ForcedEnd&) = delete;
  ~ForcedEnd();

 private:
  std::list<std::function<void()>>::iterator place_;
};

}  // namespace opshap
