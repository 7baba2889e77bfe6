#include "peers/peer.hpp"

#include <utility>

#include "core/error.hpp"
#include "peers/conversation.hpp"

namespace opshap::peers {

namespace {

constexpr int most_failures = 3;

}  // namespace

Peer::Peer(Plugin plugin) : plugin_(std::move(plugin)) {
  require(plugin_.role == Role::estimator, "peer: ", plugin_.name, " (is a ", to_string(plugin_.role),
          " by its plugin.toml, and no method). Use --", to_string(plugin_.role), " peer:FOLDER.");
}

Peer::~Peer() = default;

void Peer::start() {
  if (!conversation_) conversation_ = std::make_unique<Conversation>(plugin_);
}

Answer Peer::run(const Task& task, const Doors& doors) {
  if (failures_ >= most_failures)
    throw Failure(Ending::skipped, message("peer: ", plugin_.name, "=skipped (it failed ", most_failures,
                                           " times in a row). `opshap peer check FOLDER` says more."));
  try {
    start();
    Answer answer = conversation_->solve(++tasks_, task, doors);
    if (answer.ending == Ending::soft_timeout) conversation_.reset();
    failures_ = 0;
    return answer;
  } catch (const Failure& failure) {
    const Ending ending = failure.ending();
    if (ending == Ending::fail || ending == Ending::refused || ending == Ending::budget_refused) {
      failures_ = 0;
    } else {
      conversation_.reset();
      ++failures_;
    }
    throw;
  } catch (...) {
    conversation_.reset();
    throw;
  }
}

}  // namespace opshap::peers
