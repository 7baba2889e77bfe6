#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "peers/plugin.hpp"

namespace opshap::peers {

using Clock = std::chrono::steady_clock;

/// A program of its own process group, with two pipes: its file descriptor 3 brings bytes from us, 4 takes bytes to us.
///
/// Its standard output and error go to a log of which the end is kept, its standard input is empty, and it inherits no
/// other file descriptor. It gets no core file and at most 256 open files. It is killed with this object, and when this
/// program ends in any way, with all that it has started: a keeper (peers/peer.hpp) stands between. What ends or
/// stops its own keeper first outruns that, and so does what another program starts for it.
class Process {
 public:
  /// Starts the program of a plugin in its folder, by its own command or in a sandbox; a program without '/' is sought
  /// in PATH. Throws EnvironmentError when there is no such program, or the system has no more pipes or processes.
  explicit Process(const Plugin& plugin);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  enum class Event {
    done,    ///< some bytes were read, or all were written
    closed,  ///< the other end of the pipe is closed
    late,    ///< the deadline is over
  };
  /// Appends what arrives next to `into`. Throws Stopped after a signal to this program.
  Event read(std::string& into, Clock::time_point deadline);
  /// Writes all of `bytes`. Bytes that arrive meanwhile are appended to `into`, so that two full pipes do not block
  /// each other; one that has closed its stream is written to while it reads. Throws Stopped likewise.
  Event write(std::string_view bytes, std::string& into, Clock::time_point deadline);

  /// Ends the process: closes its input and waits for `patience`, sends SIGTERM to it and its group and waits again,
  /// then kills it with all that it has started. Does nothing when it has ended before.
  void end(std::chrono::duration<double> patience);
  /// Sends a signal to the process and its group.
  void signal(int number) const;
  /// Waits for the end of the process by itself. False when it still runs at the deadline.
  bool ends_before(Clock::time_point deadline);

  /// How it ended, in words: "exit code 3", "signal 11 (Segmentation fault)"; "" while it runs.
  std::string how_it_ended() const;
  /// Whether it was killed by SIGKILL, and not by us: what the kernel does when memory runs out.
  bool killed_by_others() const;
  /// The end of what it printed.
  const std::string& log() const { return log_text_; }

 private:
  bool has_ended();
  void reap();
  void read_log();

  ::pid_t keeper_ = -1;
  int to_ = -1, from_ = -1, log_ = -1;
  int control_ = -1, told_ = -1;  ///< to the keeper, and from it
  std::optional<int> status_;     ///< as of waitpid(), once the keeper has told
  bool reaped_ = false, killed_ = false;
  std::string log_text_;
};

/// Set once by the command line (--sandbox): from now on programs are started by bubblewrap. Throws EnvironmentError
/// when it is not installed, or when the system does not allow it.
///
/// In the sandbox a program sees no process, network or file of the host, but its own folder, where it has one. It may
/// change what is in there.
/// System folders, the folders of its interpreter and `[sandbox] read` of plugin.toml are there to be read. Its
/// temporary folder is empty and its own.
void set_sandbox(bool on);

/// Whether it is set.
bool uses_sandbox();

}  // namespace opshap::peers
