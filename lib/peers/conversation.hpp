#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "peers/frame.hpp"
#include "peers/peer.hpp"
#include "peers/process.hpp"

namespace opshap::peers {

/// One process of a plugin, from its start to its end: what stands between frames and tasks.
class Conversation {
 public:
  /// Starts the process and waits for its greeting. Throws Failure, EnvironmentError or Stopped.
  explicit Conversation(const Plugin& plugin);
  /// Says goodbye, and kills the group of a process that does not go.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// One task, as Peer::run. The process is of no more use after an exception other than Failure with Ending::fail or
  /// Ending::budget_refused, and after an answer with Ending::soft_timeout.
  Answer solve(std::int64_t id, const Task& task, const Doors& doors);

  Process& process() { return process_; }
  /// Sends any bytes. Throws Failure when they are not taken.
  void send(std::string_view bytes);

 private:
  struct Work;

  void greet();
  /// The next frame. Asks the peer to stop when its time is over. Throws Failure(timeout), Failure(crash), Malformed.
  Frame next(Work& work);
  void answer(const Frame& frame, Work& work);
  void evaluate(const Frame& frame, Work& work);
  void differentiate(const Frame& frame, Work& work);
  void finish(const Frame& frame, Work& work);
  [[noreturn]] void fail(Ending ending, const std::string& why);

  const Plugin& plugin_;
  Process process_;
  FrameReader reader_;
};

}  // namespace opshap::peers
