#pragma once

#include <cstdint>
#include <string_view>

#include "peers/link.hpp"
#include "peers/peer.hpp"

namespace opshap::peers {

/// One process of a plugin, from its start to its end: what stands between frames and tasks.
class Conversation {
 public:
  /// As Link.
  explicit Conversation(const Plugin& plugin);

  /// One task, as Peer::run. The process is of no more use after an exception other than Failure with Ending::fail or
  /// Ending::budget_refused, and after an answer with Ending::soft_timeout.
  Answer solve(std::int64_t id, const Task& task, const Doors& doors);

  Process& process() { return link_.process(); }
  /// Sends any bytes. Throws Failure when they are not taken.
  void send(std::string_view bytes) { link_.send(bytes); }

 private:
  struct Work;

  /// The next frame. Asks the peer to stop when its time is over. Throws Failure(timeout), Failure(crash), Malformed.
  Frame next(Work& work);
  void answer(const Frame& frame, Work& work);
  void evaluate(const Frame& frame, Work& work);
  void differentiate(const Frame& frame, Work& work);
  void finish(const Frame& frame, Work& work);

  Link link_;
};

}  // namespace opshap::peers
