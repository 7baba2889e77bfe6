#include "core/stop.hpp"

#include <csignal>

#include "core/error.hpp"

namespace opshap {

namespace {

volatile std::sig_atomic_t signal_seen = 0;

void on_signal(int number) {
  signal_seen = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

void stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool stop_requested() { return signal_seen != 0; }

void throw_if_stopped(std::string_view who) {
  require<Stopped>(!stop_requested(), who, ": signal=", static_cast<int>(signal_seen),
                   " (stopped on request; what is finished is on disk). Run the same command again to resume.");
}

}  // namespace opshap
