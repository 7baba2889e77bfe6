// A program that explains games of opshap, over the two pipes of the protocol opshap-peer/1. The standard library
// alone.

#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace opshap_peer {

/// The host has sent something that is no frame, or not at this place: the program ends.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A request was refused whole, because it would have exceeded the budget. Ask for less.
struct BudgetExceeded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throw it, with the reason, where the budget or the game is not one for your estimator. Comparisons then show no
/// result with that reason. Any other exception is a failure: a run that did not finish (DNF).
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Time is over. Let it pass: the last partial values become the result.
struct StopRequested {};

/// A line of JSON, and the raw bytes that its key "nbytes" announces. The host writes its JSON without spaces and never
/// a key inside of a text, so that a key is found by its quotes.
struct Frame {
  std::string header, payload;

  bool is(const char* type) const { return header.find("\"type\":\"" + std::string(type) + "\"") != std::string::npos; }
  /// The number of a key. Throws ProtocolError when there is none.
  double number(const char* key) const {
    const std::size_t place = header.find("\"" + std::string(key) + "\":");
    if (place == std::string::npos) throw ProtocolError("frame: no key " + std::string(key));
    const char* text = header.c_str() + place + std::strlen(key) + 3;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text) throw ProtocolError("frame: no number at key " + std::string(key));
    return value;
  }
};

class Pipes {
 public:
  /// Throws ProtocolError when this program was not started by a host.
  Pipes() : in_(number_of("OPSHAP_FD_IN")), out_(number_of("OPSHAP_FD_OUT")) {}

  /// The next frame. False when the host has closed its end.
  bool read(Frame& frame) {
    std::size_t newline = 0;
    while ((newline = bytes_.find('\n')) == std::string::npos) {
      if (bytes_.size() > most_header) throw ProtocolError("frame: a header without an end");
      if (!more()) {
        if (!bytes_.empty()) throw ProtocolError("frame: the pipe ended in a header");
        return false;
      }
    }
    frame.header = bytes_.substr(0, newline);
    bytes_.erase(0, newline + 1);
    if (frame.header.empty() || frame.header.front() != '{') throw ProtocolError("frame: no JSON object");
    const bool has_payload = frame.header.find("\"nbytes\":") != std::string::npos;
    const double wanted = has_payload ? frame.number("nbytes") : 0;
    if (!(wanted >= 0 && wanted <= most_payload)) throw ProtocolError("frame: nbytes out of range");
    const auto count = static_cast<std::size_t>(wanted);
    while (bytes_.size() < count) {
      if (!more()) throw ProtocolError("frame: the pipe ended in a payload");
    }
    frame.payload = bytes_.substr(0, count);
    bytes_.erase(0, count);
    return true;
  }

  /// `fields` are the keys behind "type", without braces.
  void write(const std::string& type, const std::string& fields, const std::string& payload = "") {
    std::string bytes = "{\"type\":\"" + type + "\"" + (fields.empty() ? "" : "," + fields);
    if (!payload.empty()) bytes += ",\"nbytes\":" + std::to_string(payload.size());
    bytes += "}\n" + payload;
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(out_, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw ProtocolError("pipe: the host does not read any more");
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  static constexpr std::size_t most_header = 1 << 20;
  static constexpr double most_payload = 1 << 26;

  static int number_of(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr)
      throw ProtocolError(std::string("pipes: ") + variable +
                          " (is not set: opshap starts this program, and not you). Run `opshap peer check FOLDER`.");
    return std::atoi(text);
  }

  bool more() {
    char block[65536];
    ssize_t count = 0;
    while ((count = ::read(in_, block, sizeof block)) < 0 && errno == EINTR) {
    }
    if (count > 0) bytes_.append(block, static_cast<std::size_t>(count));
    return count > 0;
  }

  int in_, out_;
  std::string bytes_;
};

inline std::string payload_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

using Masks = std::vector<std::vector<bool>>;  ///< a row a coalition, true where a player is in

/// The game to explain. The host counts: `budget` is one of distinct coalitions, and repetitions cost nothing.
class Game {
 public:
  int players;          ///< n
  std::int64_t budget;  ///< distinct coalitions, the empty and the grand one among them
  std::int64_t left;    ///< what is left of it; both of them are paid already
  double empty, grand;  ///< v of no player, and of all
  std::uint64_t seed;   ///< of this task
  std::vector<double> last_partial;

  Game(const Frame& task, Pipes& pipes)
      : players(static_cast<int>(task.number("n"))),
        budget(static_cast<std::int64_t>(task.number("budget"))),
        left(budget - 2),
        empty(task.number("v_empty")),
        grand(task.number("v_full")),
        seed(static_cast<std::uint64_t>(task.number("seed"))),
        id_("\"id\":" + std::to_string(static_cast<std::int64_t>(task.number("id")))),
        pipes_(pipes) {
    if (players < 1 || budget < 2) throw ProtocolError("task: needs n >= 1 and a budget of 2");
  }

  /// v(S) for each row. Throws BudgetExceeded when the new ones among them are more than `left`; then none is
  /// evaluated.
  std::vector<double> operator()(const Masks& masks) {
    const std::size_t row_bytes = (static_cast<std::size_t>(players) + 7) / 8;
    std::string bits(masks.size() * row_bytes, '\0');
    for (std::size_t row = 0; row < masks.size(); ++row) {
      for (std::size_t player = 0; player < static_cast<std::size_t>(players); ++player) {
        if (masks[row].at(player)) bits[row * row_bytes + player / 8] |= static_cast<char>(1 << player % 8);
      }
    }
    pipes_.write("eval", id_ + ",\"count\":" + std::to_string(masks.size()), bits);
    Frame reply;
    do {
      if (!pipes_.read(reply)) throw ProtocolError("frame: the host has closed its pipe in the middle of a task");
    } while (reply.is("stop") && !is_mine(reply));  // of a task before, whose result has crossed it
    if (reply.is("stop")) throw StopRequested();
    if (reply.is("error") && reply.header.find("\"code\":\"budget\"") != std::string::npos)
      throw BudgetExceeded("the budget does not allow so many coalitions");
    if (!reply.is("values") || !is_mine(reply) || reply.payload.size() != masks.size() * sizeof(double))
      throw ProtocolError("frame: values of the task are awaited");
    left = static_cast<std::int64_t>(reply.number("left"));
    std::vector<double> values(masks.size());
    std::memcpy(values.data(), reply.payload.data(), reply.payload.size());
    return values;
  }

  /// Tells the host what the values would be if the time were over now, [players].
  void partial(const std::vector<double>& values) {
    last_partial = values;
    pipes_.write("partial", id_, payload_of(values));
  }

  const std::string& id() const { return id_; }

 private:
  bool is_mine(const Frame& frame) const {
    return frame.header.find(id_ + ",") != std::string::npos || frame.header.find(id_ + "}") != std::string::npos;
  }

  std::string id_;
  Pipes& pipes_;
};

/// Answers tasks by `estimate`, a function Game& -> std::vector<double> of [players], until the host says goodbye. An
/// exception of its own fails its task alone; Refused is no failure.
template <typename Estimate>
int serve(const std::string& name, const Estimate& estimate) {
  Pipes pipes;
  pipes.write("hello",
              "\"protocol\":1,\"name\":\"" + name + "\",\"caps\":[\"anytime\",\"batch\"],\"needs\":[\"values\"]");
  Frame task;
  while (pipes.read(task) && !task.is("bye")) {
    if (task.is("stop")) continue;  // it has crossed the result of its task
    if (!task.is("task")) throw ProtocolError("frame: a task is awaited");
    Game game(task, pipes);
    try {
      pipes.write("result", game.id(), payload_of(estimate(game)));
    } catch (const StopRequested&) {
      game.last_partial.empty()
          ? pipes.write("fail", game.id() + ",\"reason\":\"stopped before the first partial values\"")
          : pipes.write("result", game.id(), payload_of(game.last_partial));
    } catch (const ProtocolError&) {
      throw;
    } catch (const std::exception& error) {
      std::string reason;
      for (const char* letter = error.what(); *letter != '\0'; ++letter)
        reason += *letter == '"' || *letter == '\\' || static_cast<unsigned char>(*letter) < ' ' ? '\'' : *letter;
      const char* refused = dynamic_cast<const Refused*>(&error) != nullptr ? ",\"refused\":true" : "";
      pipes.write("fail", game.id() + ",\"reason\":\"" + reason + "\"" + refused);
    }
  }
  return 0;
}

}  // namespace opshap_peer
