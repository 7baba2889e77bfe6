#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/file.hpp"
#include "games/table_game.hpp"
#include "peers/peer.hpp"

namespace opshap {

/// Peers that are a text for sh.
class Puppets : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("opshap_puppets_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

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
  static Failed failure(peers::Peer& peer, const peers::Task& asked = task()) {
    try {
      return {peer.run(asked, doors()).ending, ""};
    } catch (const peers::Failure& error) {
      return {error.ending(), error.what()};
    }
  }

  static constexpr double patience = 0.5;
  std::filesystem::path folder_;
};

}  // namespace opshap
