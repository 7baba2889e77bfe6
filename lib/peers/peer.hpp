#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/coalitions.hpp"
#include "peers/frame.hpp"
#include "peers/plugin.hpp"

namespace opshap::peers {

/// A game as a peer gets it.
struct Task {
  int players = 1;
  std::int64_t budget = 2;  ///< distinct coalitions, ∅ and N among them, which are sent with the task
  std::uint64_t seed = 0;   ///< the peer gets its first 53 bits, which every language can hold
  double empty = 0, grand = 0;
  std::vector<double> volumes = {};  ///< of the players, [n], where they are cells of a field
};

/// What the host answers from. `gradients` may be empty.
struct Doors {
  std::function<std::vector<double>(const Coalitions&)> values;                ///< [B]
  std::function<std::vector<double>(std::span<const double>)> gradients = {};  ///< of nodes t on the diagonal: [T, n]
};

/// What a peer answered.
struct Answer {
  Ending ending = Ending::ok;  ///< or soft_timeout: the values are its last partial ones
  std::vector<double> values;  ///< [n]
  std::optional<std::vector<double>> standard_errors;
  std::int64_t distinct = 2;  ///< coalitions that were charged, ∅ and N among them
  std::int64_t rows = 2;      ///< coalitions that were asked for, repetitions included
  std::int64_t refused = 0;   ///< requests that would have exceeded the budget
  std::int64_t partials = 0;  ///< partial results on the way
  double peer_seconds = 0;    ///< the time that the host waited for the peer
};

/// A plugin and its process, which is started for the first task and serves further ones.
///
/// The protocol opshap-peer/1, all frames as in peers/frame.hpp, from the peer's side:
///
///     →  hello    protocol, name, version, needs
///     ←  task     id, n, budget, seed, v_empty, v_full, kind, threads, soft_deadline_s, checkpoints, parameters,
///                 volumes
///     →  eval     id, count + coalitions          ←  values     id, count, charged, left + float64[count]
///     →  grad     id, count + float64 nodes       ←  gradients  id, count + float64[count, n]
///     →  partial  id + float64[n]
///     →  result   id + float64[n], or with "standard_errors": true float64[2, n]
///     →  fail     id, reason; "refused": true where the budget or the game is not one for it, which is no failure
///     ←  stop     id, why: the peer has grace_seconds to answer with result or fail
///     ←  error    code, detail: "budget" refuses the request whole, and the task goes on; all others end the process
///     ←  bye
///
/// The host alone counts: the budget is one of distinct coalitions, and repetitions cost nothing. After every failure
/// but `fail`, `refused` and `budget_refused` the process is killed, and the next task starts another one. After three
/// failures in a row the peer is not asked again.
class Peer {
 public:
  explicit Peer(Plugin plugin);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const Plugin& plugin() const { return plugin_; }
  /// Starts the process where none runs. Throws Failure, EnvironmentError or Stopped.
  void start();
  /// Throws Failure, Stopped, EnvironmentError when the program cannot be started, and what the doors throw.
  Answer run(const Task& task, const Doors& doors);
  /// Forgets the failures so far.
  void forgive() { failures_ = 0; }

 private:
  Plugin plugin_;
  std::unique_ptr<class Link> link_;
  std::int64_t tasks_ = 0;
  int failures_ = 0;  ///< in a row
};

/// The life of a keeper: a process of ours between host and peer, which ends the peer with all that it has started.
///
/// It starts the peer by `become`, which does not return, and writes an int to `status`, as waitpid() gives it, when
/// the peer's own process has ended. What it reads from `control` is numbers of signals, a byte each: SIGKILL ends all,
/// any other one goes to the peer and its group. The end of that stream, which also comes when the host is killed, ends
/// all too. Processes of the peer whose parents have ended become the keeper's children, whatever group or session they
/// have moved to. It makes system calls alone, since it is a copy of a process whose other threads may have held any
/// lock. An error number goes to `failed` when there can be no further process.
[[noreturn]] void keep(const std::function<void()>& become, int control, int status, int failed);

}  // namespace opshap::peers
