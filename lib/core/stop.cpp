#include "core/stop.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

volatile std::sig_atomic_t signal_seen = 0;
std::atomic<bool> looked{false};
::sem_t arrived;

/// Work that has not looked at the signal by then, and work that has and is still not at its end, is ended. Two seconds
/// are promised, of which the rest is for the kernel.
constexpr std::chrono::milliseconds for_a_look{1500};
constexpr std::chrono::seconds for_an_end{10};

/// Both outlive everything that is destroyed at the end of the program.
std::mutex& guard() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::list<std::function<void()>>& endings() {
  static auto* list = new std::list<std::function<void()>>;
  return *list;
}

void on_signal(int number) {
  signal_seen = number;
  std::signal(number, SIG_DFL);
  ::sem_post(&arrived);
}

std::string stopped_message(std::string_view who) {
  return message(who, ": signal=", static_cast<int>(signal_seen),
                 " (stopped on request; what is finished is on disk). Run the same command again to resume.");
}

/// The life of the thread that watches.
[[noreturn]] void watch() {
  while (::sem_wait(&arrived) != 0 && errno == EINTR) {
  }
  std::this_thread::sleep_for(for_a_look);
  if (looked) std::this_thread::sleep_for(for_an_end - for_a_look);
  std::fprintf(stderr, "%s\n", stopped_message("opshap").c_str());
  guard().lock();  // to the end: nobody begins anything that would have to be ended
  for (const auto& before : endings()) before();
  ::_exit(6);
}

}  // namespace

void stop_on_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    ::sem_init(&arrived, 0, 0);
    // Signals go to the other threads, so that what waits in a system call there notices them.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(watch).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool stop_requested() {
  if (signal_seen == 0) return false;
  looked = true;
  return true;
}

void throw_if_stopped(std::string_view who) {
  if (stop_requested()) throw Stopped(stopped_message(who));
}

ForcedEnd::ForcedEnd(std::function<void()> before) {
  const std::lock_guard lock(guard());
  place_ = endings().insert(endings().end(), std::move(before));
}

ForcedEnd::~ForcedEnd() {
  const std::lock_guard lock(guard());
  endings().erase(place_);
}

}  // namespace opshap
