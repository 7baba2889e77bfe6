// Peers that mean harm: whatever they send and wherever they move, the host lives, ends in time, names what they did,
// and leaves no process of theirs behind.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "peers/peer_game.hpp"
#include "peers/process.hpp"
#include "support/puppets.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using peers::Ending;

constexpr const char* hello =
    R"(echo '{"type":"hello","protocol":1,"name":"puppet","version":"1","needs":["values"]}' >&4; read -r task <&3; )";

class HostilePeers : public Puppets {
 protected:
  /// An argument that no other process of this machine has: what a peer starts is found by it.
  const std::string& marker() const { return marker_; }
  std::string sleeper() const { return "sleep " + marker(); }

  /// The processes that still have the marker among their arguments.
  std::set<std::string> left() const {
    std::set<std::string> found;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator("/proc", failure)) {
      try {
        if (!fs::is_directory(entry.path() / "task", failure)) continue;
        const std::string words = read_file(entry.path() / "cmdline");
        if (words.find(marker()) != std::string::npos) found.insert(entry.path().filename());
      } catch (const Error&) {  // it has ended meanwhile
      }
    }
    return found;
  }
  /// Whether all of them are gone soon.
  bool all_gone() const {
    for (int wait = 0; wait < 300; ++wait) {
      if (left().empty()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

 private:
  std::string marker_ = "9" + std::to_string(getpid()) + ".25";
};

std::string nested(int depth, const char* opening, const char* inside, const char* closing) {
  std::string text;
  for (int level = 0; level < depth; ++level) text += opening;
  text += inside;
  for (int level = 0; level < depth; ++level) text += closing;
  return text;
}

TEST_F(HostilePeers, WhateverTheySayInTheirFramesIsNamed) {
  const std::string arrays = nested(400000, "[", "", "]"), objects = nested(150000, "{\"a\":", "0", "}");
  std::string keys;
  for (int key = 0; key < 60000; ++key) keys += ",\"k" + std::to_string(key) + "\":0";
  const auto eval = [](const std::string& id, const std::string& count) {
    return R"({"type":"eval","id":)" + id + R"(,"count":)" + count + "}\n";
  };
  const auto greeting = [](const std::string& key, const std::string& value) {
    const std::string others = key == "protocol" ? R"("needs":["values"])" : R"("protocol":1)";
    return R"({"type":"hello","name":"puppet",)" + others + ",\"" + key + "\":" + value + "}\n";
  };
  const std::string good = R"({"type":"hello","protocol":1,"name":"puppet","needs":["values"]})"
                           "\n";
  std::vector<std::string> streams;
  for (const std::string& value : {arrays, objects, std::string("[[1]]"), std::string("{}"), std::string("\"1\""),
                                   std::string("null"), std::string("1e999"), std::string("-1e308"), std::string("0.5"),
                                   std::string("18446744073709551616"), std::string("NaN"), std::string("true")}) {
    streams.push_back(good + eval(value, "1"));
    streams.push_back(good + eval("1", value));
    streams.push_back(greeting("protocol", value));
    streams.push_back(greeting("needs", value));
  }
  streams.push_back(good + R"({"type":)" + arrays + "}\n");
  streams.push_back(good + R"({"type":"eval","id":1,"id":2,"count":0})"
                           "\n");
  streams.push_back(good + R"({"type":"eval","id":1,"count":0)" + keys + "}\n");
  streams.push_back(good + "\xff\xfe{\0}\0\n");
  streams.push_back(good + std::string(1000, '\0') + "\n");
  streams.push_back(good + R"({"type":"fail","id":1,"reason":)" + arrays + "}\n");
  streams.push_back(good + R"({"type":")" + std::string(900000, 'x') + "\"}\n");
  const peers::Plugin plugin = puppet("cat frames >&4; exec 4>&-; cat <&3 > /dev/null");
  for (const std::string& stream : streams) {
    write_file(folder_ / "frames", stream);
    peers::Peer peer(plugin);
    const Failed found = failure(peer);
    EXPECT_TRUE(found.ending == Ending::protocol_error || found.ending == Ending::fail || found.ending == Ending::crash)
        << peers::to_string(found.ending) << stream.substr(0, 200);
    EXPECT_LT(found.text.size(), 1000u) << "what was refused is not repeated whole";
  }
}

TEST_F(HostilePeers, WhereverTheyMoveNoneOfThemIsLeft) {
  const std::string leave = "trap '' TERM INT HUP; ";
  const std::vector<std::string> scripts = {
      // in the group of whoever started it
      "exec perl -e '$SIG{TERM}=\"IGNORE\"; setpgrp(0, getpgrp(getppid())); system(\"" + sleeper() + "\")'",
      // in a session of its own
      leave + "exec setsid " + sleeper(),
      leave + "setsid " + sleeper() + " & " + sleeper(),
      // daemons: orphans of sessions of their own
      "(setsid sh -c '(" + sleeper() + " &) & " + sleeper() + "' &) ; " + sleeper(),
      "perl -e 'use POSIX; fork and exit; POSIX::setsid(); fork and exit; $SIG{TERM}=\"IGNORE\"; exec \"sleep\", \"" +
          marker() + "\"'; " + std::string(hello) + "exit 3",
      // many at once
      "for i in 1 2 3 4 5 6 7 8 9 10; do setsid " + sleeper() + " & done; " + sleeper(),
      // stopped ones
      "setsid " + sleeper() + " & kill -STOP $!; kill -STOP $$",
      // children that are left behind by a peer that answers well
      "setsid " + sleeper() + " & " + std::string(hello) +
          R"({ echo '{"type":"result","id":1,"nbytes":16}'; head -c 16 /dev/zero; } >&4; exit 0)",
      // its descriptors stay open in a grandchild
      "setsid " + sleeper() + " 3<&3 4>&4 & " + std::string(hello) + "exit 3",
  };
  for (const std::string& script : scripts) {
    SCOPED_TRACE(script);
    const auto start = std::chrono::steady_clock::now();
    {
      peers::Plugin plugin = puppet(script);
      plugin.limits.start_seconds = patience;
      plugin.limits.grace_seconds = 0.1;
      peers::Peer peer(plugin);
      failure(peer);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_TRUE(all_gone()) << *left().begin();
  }
}

TEST_F(HostilePeers, AHostThatIsKilledTakesAllOfThemAlong) {
  const fs::path ready = folder_ / "ready";
  const pid_t host = fork();
  if (host == 0) {
    setpgid(0, 0);
    peers::Plugin plugin = puppet("trap '' TERM; setsid " + sleeper() + " & (setsid " + sleeper() +
                                  " &); echo > ready; exec " + sleeper());
    plugin.limits.start_seconds = 100;
    peers::Peer peer(plugin);
    failure(peer);
    _exit(0);
  }
  for (int wait = 0; wait < 1000 && !is_there(ready); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (int wait = 0; wait < 100 && left().size() < 3; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(left().size(), 3u);
  kill(host, SIGKILL);
  waitpid(host, nullptr, 0);
  EXPECT_TRUE(all_gone());
}

// The kernel's signal at a parent's death follows the thread that has started a process.
TEST_F(HostilePeers, APeerOutlivesTheThreadThatStartedIt) {
  const peers::Plugin plugin = puppet(
      std::string(hello) + R"({ echo '{"type":"result","id":1,"nbytes":16}'; head -c 16 /dev/zero; } >&4; )" +
      R"(read -r task <&3; { echo '{"type":"result","id":2,"nbytes":16}'; head -c 16 /dev/zero; } >&4; read -r b <&3)");
  peers::Peer peer(plugin);
  std::thread([&] { EXPECT_EQ(Ending::ok, peer.run(task(), doors()).ending); }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(Ending::ok, peer.run(task(), doors()).ending);
}

TEST_F(HostilePeers, NegativeStandardErrorsAreInvalid) {
  peers::Peer peer(puppet(std::string(hello) +
                          R"({ echo '{"type":"result","id":1,"nbytes":32,"standard_errors":true}'; head -c 24 /dev/zero
                             printf '\000\000\000\000\000\000\360\277'; } >&4; read -r bye <&3)"));
  const Failed found = failure(peer);
  EXPECT_EQ(Ending::invalid, found.ending);
  EXPECT_NE(std::string::npos, found.text.find("standard error 1 is negative")) << found.text;
}

TEST_F(HostilePeers, AFolderWithACircleOfLinksOrAnEndlessFileIsRead) {
  fs::create_symlink("circle", folder_ / "circle");
  ASSERT_EQ(0, ::truncate((write_file(folder_ / "sparse", "x"), folder_ / "sparse").c_str(), 64 << 20));
  EXPECT_NO_THROW(puppet("exit 0"));
}

TEST_F(HostilePeers, ASandboxHidesTheMachine) {
  try {
    peers::set_sandbox(true);
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  const fs::path secret = folder_.parent_path() / ("opshap_secret_" + std::to_string(getpid())),
                 shown = folder_.parent_path() / ("opshap_shown_" + std::to_string(getpid()));
  write_file(secret, "secret");
  write_file(shown, "shown");
  peers::Peer peer(
      puppet("cat " + secret.string() + " > found; cat " + shown.string() + " > given; echo x > " + shown.string() +
                 "; ls /proc | grep -c '^[0-9]' > processes; ls /sys/class/net > net; " + std::string(hello) +
                 R"({ echo '{"type":"result","id":1,"nbytes":16}'; head -c 16 /dev/zero; } >&4; read -r b <&3)",
             "[sandbox]\nread = ['" + shown.string() + "']\n"));
  const Failed ended = failure(peer);
  peers::set_sandbox(false);
  EXPECT_EQ(Ending::ok, ended.ending) << ended.text;
  EXPECT_EQ("", read_file(folder_ / "found"));
  EXPECT_EQ("shown", read_file(folder_ / "given"));
  EXPECT_EQ("shown", read_file(shown)) << "it may be read, and not changed";
  EXPECT_LT(std::stoi(read_file(folder_ / "processes")), 8) << "its own ones";
  fs::remove(secret);
  fs::remove(shown);
}

}  // namespace
}  // namespace opshap
