#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/file.hpp"
#include "games/table_game.hpp"
#include "peers/peer.hpp"
#include "support/run_folder.hpp"

namespace opshap {

/// Peers that are a text for sh.
class Puppets : public RunFolder {
 protected:
  /// Greets and reads its task.
  static constexpr const char* hello =
      R"(echo '{"type":"hello","protocol":1,"name":"puppet","version":"1","needs":["values"]}' >&4; read -r task <&3; )";

  /// A plugin whose program is a text for sh, with little patience.
  peers::Plugin puppet(const std::string& script, const std::string& more = "") const {
    write_file(folder_ / "peer.sh", script);
    write_file(folder_ / "plugin.toml", "name = 'puppet'\ncommand = ['sh', '-c', '']\n" + more);
    peers::Plugin plugin = peers::read_plugin(folder_);
    plugin.command.back() = script;  // not from the file, which the shell would keep open
    plugin.limits.task_seconds = patience;
    plugin.limits.start_seconds = 20 * patience;  // a start takes long where everything is busy
    plugin.limits.grace_seconds = patience;
    return plugin;
  }

  /// The folder of a program in another role.
  std::filesystem::path puppet_as(const std::string& role, const std::string& script,
                                  const std::string& more = "") const {
    write_file(folder_ / "peer.sh", script);
    write_file(folder_ / "plugin.toml", "name = 'puppet'\nrole = '" + role + "'\ncommand = ['sh', 'peer.sh']\n" + more);
    return folder_;
  }

  /// v(∅) = 1, v({0}) = 3, v({1}) = 5, v(N) = 9.
  static peers::Doors doors() {
    return {.values = [](const Coalitions& coalitions) {
      return games::table_game(2, {1, 3, 5, 9})->values(coalitions);
    }};
  }
  static peers::Task task(std::int64_t budget = 4) {
    return {.players = 2, .budget = budget, .seed = 1, .empty = 1, .grand = 9};
  }

  struct Failed {
    peers::Ending ending = peers::Ending::ok;
    std::string text;
  };
  /// How work ends.
  static Failed failure_of(const auto& work) {
    try {
      return {work(), ""};
    } catch (const peers::Failure& error) {
      return {error.ending(), error.what()};
    }
  }
  static Failed failure(peers::Peer& peer, const peers::Task& asked = task()) {
    return failure_of([&] { return peer.run(asked, doors()).ending; });
  }

  static constexpr double patience = 0.5;
};

}  // namespace opshap
