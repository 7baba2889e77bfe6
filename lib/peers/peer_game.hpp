#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/game.hpp"
#include "peers/conversation.hpp"

namespace opshap::peers {

/// The plugin of a folder. Throws as read_plugin(), and InvalidArgument for a plugin of another role.
Plugin plugin_of(const std::filesystem::path& folder, Role role);

/// The other direction: this program asks, and the program of a plugin answers, one question after the other.
///
/// A question that fails throws Failure, as does one that takes longer than limits.seconds. The program is not started
/// again. Threads wait for each other where they hold lock().
class Questions {
 public:
  /// Starts the program. Throws as Link.
  explicit Questions(Plugin plugin) : plugin_(std::move(plugin)), link_(plugin_) {}

  /// "peer:NAME".
  std::string name() const { return "peer:" + plugin_.name; }
  const Plugin& plugin() const { return plugin_; }
  /// The version of its greeting, or else of plugin.toml.
  std::string version() const;

  /// A number of the greeting; `otherwise` when there is none. Throws Failure(protocol_error) for one outside of 1 to
  /// `most`.
  std::int64_t greeted(std::string_view key, std::int64_t otherwise, std::int64_t most);
  /// Whether the greeting says true.
  bool says(std::string_view key) const { return link_.greeting().says(key); }

  /// From now on until its end this thread alone asks.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  /// Sends the question `type` with an id and these keys, and gives the `numbers` float64 of the answer `wanted`.
  std::vector<double> ask(const char* type, const char* wanted, const nlohmann::ordered_json& keys,
                          std::string_view payload, std::size_t numbers);
  /// v(S) of the rows from `first` on, as many as there are values. Asked for in batches of at most `batch`.
  void values(const Coalitions& coalitions, std::size_t first, std::size_t batch, std::span<double> values);

 private:
  Plugin plugin_;
  Link link_;
  std::mutex mutex_;
  std::int64_t asked_ = 0;
};

/// A program in any language as a game: the protocol opshap-peer/1 with the roles reversed. From the peer's side:
///
///     →  hello      protocol, name, version, role: "game", players, gradients: true where it has them, max_batch
///     ←  eval       id, count + coalitions          →  values     id, count + float64[count]
///     ←  grad       id, count + float64 nodes       →  gradients  id, count + float64[count, n]
///     →  fail       id, reason: in place of either
///     ←  bye
///
/// Coalitions are sent in batches of at most max_batch rows (4096 where the greeting does not say). A game with
/// gradients has an extension that knows them on the diagonal alone. Evaluating throws Failure when the program fails
/// or takes longer than limits.seconds for a batch; it is not started again. Threads wait for each other. Throws
/// the same here, DataError for a folder without a plugin, and InvalidArgument for a plugin that is no game.
std::unique_ptr<Game> peer_game(const std::filesystem::path& folder);

}  // namespace opshap::peers
