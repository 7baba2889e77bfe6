#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"

namespace opshap::peers {

/// How a task of a peer ended, in the order of the words of to_string(). Everything but `ok` and `soft_timeout` leaves
/// no attribution.
enum class Ending {
  ok,
  fail,            ///< the peer said that it has failed, and why
  refused,         ///< the peer said that the budget or the game is not one for it, and why
  budget_refused,  ///< it failed after the host had refused a request beyond the budget
  soft_timeout,    ///< it ran out of time; its last partial values count
  timeout,         ///< it ran out of time without partial values, or did not answer a request to stop
  crash,           ///< its process ended, or closed its pipe
  protocol_error,  ///< it sent something that is no frame of opshap-peer/1, or not at this place
  invalid,         ///< its values are not n finite numbers
  oom,             ///< its process ran out of memory
  skipped,         ///< it failed too often in a row, so it was not asked again
};

/// As rows and messages have it: "soft_timeout".
std::string_view to_string(Ending ending);

/// A peer has no attribution to give. Exit code 5.
class Failure : public Error {
 public:
  template <typename... Parts>
  explicit Failure(Ending ending, const Parts&... parts) : Error(message(parts...)), ending_(ending) {}
  Ending ending() const { return ending_; }

 private:
  Ending ending_;
};

/// Bytes that are no frame of opshap-peer/1. `code` is what the other side is told: "protocol", "range", "size" or
/// "version".
class Malformed : public Error {
 public:
  template <typename... Parts>
  explicit Malformed(std::string code, const Parts&... parts) : Error(message(parts...)), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

/// The longest header, its newline included.
inline constexpr std::size_t most_header_bytes = std::size_t{1} << 20;
/// The longest payload: 2^19 coalitions of 1024 players.
inline constexpr std::size_t most_payload_bytes = std::size_t{1} << 26;

/// One message of the protocol opshap-peer/1: a line of JSON, and the raw bytes that its key "nbytes" announces.
struct Frame {
  nlohmann::json header;  ///< an object
  std::string payload;    ///< numbers are little-endian

  /// The key "type", or "" when there is none.
  std::string type() const { return text("type"); }
  /// A whole number, which may be written as 1e5. Throws Malformed("range") for anything else.
  std::int64_t integer(std::string_view key) const;
  /// A text; "" when there is none.
  std::string text(std::string_view key) const;
  /// Whether the key is there with the value true.
  bool says(std::string_view key) const;
  /// The payload as float64. Throws Malformed("size") unless there are exactly `count`.
  std::vector<double> reals(std::size_t count) const;
};

/// The bytes of a frame. "nbytes" is added where there is a payload.
std::string bytes_of(nlohmann::ordered_json header, std::string_view payload = {});

/// Numbers as a payload.
std::string payload_of(std::span<const double> values);

/// Coalitions as a payload: ⌈n/8⌉ bytes each, player i is bit i%8 of byte i/8.
std::string payload_of(const Coalitions& coalitions);

/// Coalitions of a payload of `count` rows. Throws Malformed("size") for another number of bytes and Malformed("range")
/// for a player that does not play.
Coalitions coalitions_of(std::string_view payload, int players, std::size_t count);

/// Cuts a stream of bytes into frames.
class FrameReader {
 public:
  void feed(std::string_view bytes) { bytes_.append(bytes); }
  /// The next frame, once it is there whole. Throws Malformed for a line that is no JSON object, a header or a payload
  /// that is too long; after that the stream is of no more use.
  std::optional<Frame> next();
  /// Bytes that wait for the rest of their frame.
  std::size_t waiting() const { return bytes_.size() - used_; }

 private:
  std::string bytes_;
  std::size_t used_ = 0;                  ///< bytes of frames that were handed out
  std::size_t searched_ = 0;              ///< no newline before this place
  std::optional<nlohmann::json> header_;  ///< of the frame whose payload is awaited
  std::size_t payload_bytes_ = 0;
};

/// The two pipes of a program that a host has started: what OPSHAP_FD_IN numbers brings frames, and OPSHAP_FD_OUT
/// takes them. For programs of ours that are the other side of a Link.
class OwnPipes {
 public:
  /// Throws InvalidArgument where the two variables are no numbers: people do not call such programs.
  OwnPipes();
  /// The next frame; none when the host has closed its end. Throws Malformed.
  std::optional<Frame> next();
  /// Throws EnvironmentError when the host does not read any more.
  void send(nlohmann::ordered_json header, std::string_view payload = {});

 private:
  int from_, to_;
  FrameReader reader_;
};

}  // namespace opshap::peers
