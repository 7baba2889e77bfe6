#pragma once

#include <string_view>

namespace opshap {

/// From now on SIGINT and SIGTERM only set a flag that long work looks at; a second signal ends the process at once.
void stop_on_signals();

/// True once a signal has arrived.
bool stop_requested();

/// Throws Stopped when a signal has arrived. Long work calls it where its state on disk can be resumed from.
void throw_if_stopped(std::string_view who);

}  // namespace opshap
