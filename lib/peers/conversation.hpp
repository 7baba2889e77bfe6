#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "peers/frame.hpp"
#include "peers/peer.hpp"
#include "peers/plugin.hpp"
#include "peers/process.hpp"

namespace opshap::peers {

/// The process of a plugin, and the frames between it and this program.
class Link {
 public:
  /// Starts the process and waits for its greeting, which must be that of the plugin. Throws Failure, EnvironmentError
  /// or Stopped. The plugin is referred to.
  explicit Link(const Plugin& plugin) : plugin_(plugin), process_(plugin) { check_greeting(); }
  /// Says goodbye, and kills the group of a process that does not go.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const Plugin& plugin() const { return plugin_; }
  const Frame& greeting() const { return greeting_; }
  Process& process() { return process_; }

  /// Sends any bytes. Throws Failure when they are not taken, or Stopped.
  void send(std::string_view bytes);
  /// The next frame; none when the deadline is over. Throws Malformed, Failure(crash) when the process has closed its
  /// pipe, or Stopped.
  std::optional<Frame> next(Clock::time_point deadline);
  /// Throws Failure with the plugin's name, `why`, and what it printed last. A crash ends the process, and may turn out
  /// to be `oom`.
  template <typename... Parts>
  [[noreturn]] void fail(Ending ending, const Parts&... why) {
    fail_with(ending, message(why...));
  }

 private:
  [[noreturn]] void fail_with(Ending ending, std::string how);
  void check_greeting();

  const Plugin& plugin_;
  Process process_;
  FrameReader reader_;
  Frame greeting_;
};

/// So many seconds from now.
Clock::time_point after(double seconds);

/// A text of a peer for a message: its last line, without control characters, at most 200 bytes before what is no UTF-8
/// is replaced.
std::string last_words(const std::string& text);

/// One task, as Peer::run. The process is of no more use after an exception other than Failure with Ending::fail or
/// Ending::budget_refused, and after an answer with Ending::soft_timeout.
Answer solve(Link& link, std::int64_t id, const Task& task, const Doors& doors);

}  // namespace opshap::peers
