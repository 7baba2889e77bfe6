// Peers that mean harm: whatever they send and wherever they move, the host lives, ends in time, names what they did,
// and leaves no process of theirs behind. Programs as games and as operators: the roles reversed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/scenario.hpp"
#include "games/cell_mask_game.hpp"
#include "peers/peer_game.hpp"
#include "peers/peer_operator.hpp"
#include "peers/process.hpp"
#include "support/puppets.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using peers::Ending;

constexpr std::chrono::milliseconds a_moment(10);

class HostilePeers : public Puppets {
 protected:
  /// An argument that no other process of this machine has: what a peer starts is found by it.
  const std::string& marker() const { return marker_; }
  std::string sleeper() const { return "sleep " + marker(); }

  /// The processes that still have the marker among their arguments, and begin with this word.
  std::set<std::string> left(const std::string& program = "") const {
    std::set<std::string> found;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator("/proc", failure)) {
      if (!fs::is_directory(entry.path() / "task", failure)) continue;
      std::string words;
      refusal([&] { words = read_file(entry.path() / "cmdline"); });  // of one that has ended meanwhile
      if (words.starts_with(program) && words.find(marker()) != std::string::npos)
        found.insert(entry.path().filename());
    }
    return found;
  }
  /// Whether all of them are gone soon.
  bool all_gone() const {
    for (int wait = 0; wait < 300; ++wait) {
      if (left().empty()) return true;
      std::this_thread::sleep_for(a_moment);
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
  const std::vector<std::string> values = {
      arrays, objects, "[[1]]", "{}", "\"1\"", "null", "1e999", "-1e308", "0.5", "18446744073709551616", "NaN", "true"};
  for (const std::string& value : values) {
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
  for (int wait = 0; wait < 1000 && !is_there(ready); ++wait) std::this_thread::sleep_for(a_moment);
  // Shells that are about to be one of them have the marker, too.
  for (int wait = 0; wait < 100 && left("sleep").size() < 3; ++wait) std::this_thread::sleep_for(a_moment);
  EXPECT_EQ(left("sleep").size(), 3u);
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
  EXPECT_TRUE(has(found.text, "standard error 1 is negative"));
}

TEST_F(HostilePeers, AFolderWithACircleOfLinksOrAnEndlessFileIsRead) {
  fs::create_symlink("circle", folder_ / "circle");
  ASSERT_EQ(0, ::truncate((write_file(folder_ / "sparse", "x"), folder_ / "sparse").c_str(), 64 << 20));
  EXPECT_NO_THROW(puppet("exit 0"));
}

TEST_F(HostilePeers, ASandboxHidesTheMachine) {
  const std::string missing = refusal<EnvironmentError>([] { peers::set_sandbox(true); });
  if (!missing.empty()) GTEST_SKIP() << missing;
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

using PeerGames = Puppets;

/// A game of two players that is 0 everywhere, or does `instead` when it is asked.
std::string zero_game(const std::string& instead = "") {
  return R"(echo '{"type":"hello","protocol":1,"name":"puppet","role":"game","players":2,"max_batch":3}' >&4
    while read -r asked <&3; do
      case $asked in *'"bye"'*) exit 0;; esac
      id=${asked#*id\":}; id=${id%%,*}; count=${asked#*count\":}; count=${count%%,*}; bytes=$((8 * count))
      head -c $count <&3 > /dev/null; echo $count >> counts; )" +
         instead + R"(
      { echo "{\"type\":\"values\",\"id\":$id,\"nbytes\":$bytes}"; head -c $bytes /dev/zero; } >&4
    done)";
}

TEST_F(PeerGames, AnswerInTheirOwnBatches) {
  const auto game = peers::peer_game(puppet_as("game", zero_game()));
  EXPECT_EQ(2, game->players());
  EXPECT_EQ("peer:puppet", game->path());
  EXPECT_EQ(nullptr, game->extension());
  EXPECT_EQ(std::vector<double>(7, 0.0), game->values(Coalitions(2, 7)));
  EXPECT_EQ("3\n3\n1\n", read_file(folder_ / "counts"));
}

TEST_F(PeerGames, ThatFailSayHow) {
  const std::vector<std::tuple<std::string, Ending, std::string>> cases = {
      {"exit 3", Ending::crash, "exit code 3"},
      {R"(echo "{\"type\":\"fail\",\"id\":$id,\"reason\":\"no GPU\"}" >&4; continue)", Ending::fail, "no GPU"},
      {"id=99", Ending::protocol_error, "id=99"},
      {"bytes=8", Ending::protocol_error, "nbytes=8"},
      {"sleep 100", Ending::timeout, "no values"},
  };
  for (const auto& [instead, ending, text] : cases) {
    SCOPED_TRACE(instead);
    const std::string seconds = ending == Ending::timeout ? "0.5" : "20";
    const auto game = peers::peer_game(puppet_as("game", zero_game(instead), "[limits]\nseconds = " + seconds + "\n"));
    const Failed found = failure_of([&] {
      game->values(Coalitions(2, 2));
      return Ending::ok;
    });
    EXPECT_EQ(peers::to_string(ending), peers::to_string(found.ending));
    EXPECT_TRUE(has(found.text, text));
  }
}

/// An operator on lines that is 0 everywhere, and notes what it is asked. It has 3 coalitions or fields at a time.
std::string zero_operator(const std::string& greeting) {
  return R"(echo '{"type":"hello","protocol":1,"name":"puppet","role":"operator","max_batch":3,)" + greeting +
         R"(}' >&4
    while read -r asked <&3; do
      type=${asked#*type\":\"}; type=${type%%\"*}; echo $type >> asked
      id=${asked#*id\":}; id=${id%%,*}; count=${asked#*count\":}; count=${count%%,*}
      bytes=${asked#*nbytes\":}; bytes=${bytes%\}}
      case $type in
        bye) exit 0;;
        scenario) reply=ready; size=0; head -c $bytes <&3 > scenario; echo "$asked" > header;;
        eval) reply=values; size=$((8 * count));;
        apply) reply=fields; size=$((8 * 4 * count));;
        vjp) reply=gradients; size=$((8 * 5 * count));;
      esac
      test $type = scenario || head -c $bytes <&3 > /dev/null
      { echo "{\"type\":\"$reply\",\"id\":$id,\"nbytes\":$size}"; head -c $size /dev/zero; } >&4
    done)";
}

constexpr const char* on_lines = R"("dimension":1,"input_channels":1,"output_channels":1)";

class PeerOperators : public Puppets {
 protected:
  std::unique_ptr<Operator> zero(const std::string& greeting) const {
    return peers::peer_operator(puppet_as("operator", zero_operator(greeting)));
  }
  static Scenario scenario(double shown) {
    FieldBatch input = FieldBatch::zeros(Domain::unit({4}), 1, 1);
    std::ranges::fill(input.values, shown);
    return make_scenario({.players = ScenarioRule::Players::blocks, .blocks = 2}, input);
  }
};

TEST_F(PeerOperators, GetTheFieldOfAGameOnceAndThenCoalitions) {
  const auto op = zero(on_lines);
  const auto first = games::cell_mask_game(*op, scenario(1)), second = games::cell_mask_game(*op, scenario(2));
  EXPECT_EQ("peer:puppet", first->path());
  EXPECT_EQ(std::vector<double>(7, 0.0), first->values(Coalitions(2, 7)));
  first->values(Coalitions(2, 1));
  second->values(Coalitions(2, 1));
  first->values(Coalitions(2, 1));
  EXPECT_EQ("scenario\neval\neval\neval\neval\nscenario\neval\nscenario\neval\n", read_file(folder_ / "asked"));
  // Input, baseline, and the player of each point, as float64.
  std::vector<double> sent(12);
  const std::string bytes = read_file(folder_ / "scenario");
  ASSERT_EQ(sent.size() * sizeof(double), bytes.size());
  std::memcpy(sent.data(), bytes.data(), bytes.size());
  EXPECT_EQ((std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}), sent);
  const auto header = nlohmann::json::parse(read_file(folder_ / "header"));
  EXPECT_EQ(2, header["players"]);
  EXPECT_EQ(2, header["point"]);  // the centre of four
  EXPECT_EQ(std::vector<int>{4}, header["shape"].get<std::vector<int>>());
}

TEST_F(PeerOperators, HaveGradientsWhereTheySaySo) {
  const auto op = zero(std::string(on_lines) + ",\"gradients\":true");
  const FieldBatch fields = FieldBatch::zeros(Domain::unit({4}), 5, 1);
  const Operator::Gradient found = op->gradient_at(fields, Query{.point = 1});
  EXPECT_EQ(std::vector<double>(5, 0.0), found.values);
  EXPECT_EQ(std::vector<double>(20, 0.0), found.gradient.values);
  EXPECT_EQ(std::vector<double>(20, 0.0), op->apply(fields).values);
  EXPECT_EQ("vjp\nvjp\napply\napply\n", read_file(folder_ / "asked"));
  EXPECT_THROW(zero(on_lines)->gradient_at(fields, Query{.point = 1}), InvalidArgument);
}

TEST_F(PeerOperators, RefuseFieldsThatTheyDoNotTakeAndAreRefusedWithoutASize) {
  const auto op = zero(on_lines);
  EXPECT_THROW(op->apply(FieldBatch::zeros(Domain::unit({4, 4}), 1, 1)), InvalidArgument);
  EXPECT_THROW(op->apply(FieldBatch::zeros(Domain::unit({4}), 1, 2)), InvalidArgument);
  EXPECT_THROW(op->apply(FieldBatch::zeros(Domain::unit({1 << 24}), 1, 1)), InvalidArgument);  // longer than a frame
  for (const char* greeting : {R"("dimension":3)", R"("dimension":1,"input_channels":0)", R"("dimension":"x")"}) {
    const Failed found = failure_of([&] {
      zero(greeting);
      return Ending::ok;
    });
    EXPECT_EQ(Ending::protocol_error, found.ending) << greeting << found.text;
  }
}

}  // namespace
}  // namespace opshap
