#include "peers/frame.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/strict_json.hpp"

namespace opshap::peers {

std::string_view to_string(Ending ending) {
  constexpr std::string_view words[] = {"ok",           "fail",    "refused", "budget_refused",
                                        "soft_timeout", "timeout", "crash",   "protocol_error",
                                        "invalid",      "oom",     "skipped"};
  static_assert(std::size(words) == static_cast<std::size_t>(Ending::skipped) + 1);
  return words[static_cast<std::size_t>(ending)];
}

using SortedJson = nlohmann::json;

namespace {

// Payloads are copied between memory and pipe as they are.
static_assert(std::endian::native == std::endian::little);

constexpr double exact_integers = 9007199254740992;  // 2^53

/// The first characters of a line that is not a frame, for messages.
std::string beginning(std::string_view line) {
  constexpr std::size_t shown = 60;
  std::string text;
  for (const char letter : line.substr(0, shown)) text += letter >= ' ' && letter <= '~' ? letter : '?';
  return line.size() > shown ? text + "..." : text;
}

/// A number or text itself; of an array or an object only that it is one.
std::string in_words(const SortedJson& value) {
  const bool has_parts = value.is_structured();
  return has_parts ? value.type_name() : beginning(value.dump(-1, ' ', true, SortedJson::error_handler_t::replace));
}

SortedJson parsed_header(std::string_view line) {
  std::string why = "not a JSON object on one line";
  try {
    constexpr JsonLimits limits{.depth = 16, .keys = 1000, .bytes = most_header_bytes};
    SortedJson header = strict_json<SortedJson>(line, "header", limits);
    if (header.is_object()) return header;
  } catch (const DataError& error) {
    why += message("; ", beginning(error.what()));
  }
  throw Malformed("protocol", "frame: header=", beginning(line), " (", why,
                  "). Write protocol frames to their pipe alone.");
}

}  // namespace

std::int64_t Frame::integer(std::string_view key) const {
  const auto found = header.find(key);
  if (found != header.end() && found->is_number_unsigned() && found->get<std::uint64_t>() <= std::uint64_t{1} << 62)
    return static_cast<std::int64_t>(found->get<std::uint64_t>());
  if (found != header.end() && found->is_number_integer() && !found->is_number_unsigned())
    return found->get<std::int64_t>();
  if (found != header.end() && found->is_number_float()) {
    const double value = found->get<double>();
    if (std::abs(value) <= exact_integers && value == std::floor(value)) return static_cast<std::int64_t>(value);
  }
  throw Malformed("range", "frame: ", key, "=", found == header.end() ? "nothing" : in_words(*found),
                  " (must be a whole number). Correct the frame of type ", beginning(type()), ".");
}

std::string Frame::text(std::string_view key) const {
  const auto found = header.find(key);
  return found != header.end() && found->is_string() ? found->get<std::string>() : "";
}

bool Frame::says(std::string_view key) const {
  const auto found = header.find(key);
  return found != header.end() && found->is_boolean() && found->get<bool>();
}

std::vector<double> Frame::reals(std::size_t count) const {
  if (payload.size() % sizeof(double) != 0 || payload.size() / sizeof(double) != count)
    throw Malformed("size", "frame: nbytes=", payload.size(), " (", count,
                    " float64 of 8 bytes each are wanted). Correct the frame of type ", beginning(type()), ".");
  std::vector<double> values(count);
  if (count > 0) std::memcpy(values.data(), payload.data(), payload.size());
  return values;
}

std::string bytes_of(nlohmann::ordered_json header, std::string_view payload) {
  if (!payload.empty()) header["nbytes"] = payload.size();
  std::string bytes = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  bytes += '\n';
  return bytes.append(payload);
}

std::string payload_of(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string payload_of(const Coalitions& coalitions) {
  const std::size_t row_bytes = (static_cast<std::size_t>(coalitions.players()) + 7) / 8;
  std::string payload;
  payload.reserve(coalitions.size() * row_bytes);
  for (std::size_t row = 0; row < coalitions.size(); ++row)
    payload.append(reinterpret_cast<const char*>(coalitions.row(row).data()), row_bytes);
  return payload;
}

Coalitions coalitions_of(std::string_view payload, int players, std::size_t count) {
  const std::size_t row_bytes = (static_cast<std::size_t>(players) + 7) / 8;
  if (payload.size() % row_bytes != 0 || payload.size() / row_bytes != count)
    throw Malformed("size", "frame: nbytes=", payload.size(), " (", count, " coalitions of ", players, " players are ",
                    row_bytes, " bytes each). Correct the frame.");
  Coalitions coalitions(players, count);
  const int used_bits = players % 8;
  const auto unused = static_cast<unsigned char>(used_bits == 0 ? 0 : 0xFF << used_bits);
  for (std::size_t row = 0; row < count; ++row) {
    const char* bytes = payload.data() + row * row_bytes;
    if ((static_cast<unsigned char>(bytes[row_bytes - 1]) & unused) != 0)
      throw Malformed("range", "frame: row=", row, " (has a player beyond the ", players,
                      " of the game). Leave the unused bits of the last byte 0.");
    std::memcpy(coalitions.row(row).data(), bytes, row_bytes);
  }
  return coalitions;
}

std::optional<Frame> FrameReader::next() {
  if (!header_) {
    const std::size_t newline = bytes_.find('\n', std::max(used_, searched_));
    const std::size_t length = (newline == std::string::npos ? bytes_.size() : newline + 1) - used_;
    if (length > most_header_bytes)
      throw Malformed("size", "frame: header=", length, " bytes without an end (a header has at most ",
                      most_header_bytes, "). Put numbers into the payload.");
    searched_ = bytes_.size();
    if (newline == std::string::npos) return std::nullopt;
    Frame announced{.header = parsed_header(std::string_view(bytes_).substr(used_, newline - used_)), .payload = {}};
    const std::int64_t payload_bytes = announced.header.contains("nbytes") ? announced.integer("nbytes") : 0;
    if (payload_bytes < 0 || static_cast<std::uint64_t>(payload_bytes) > most_payload_bytes)
      throw Malformed("size", "frame: nbytes=", payload_bytes, " (0 to ", most_payload_bytes,
                      " are allowed). Ask for fewer coalitions at a time.");
    header_ = std::move(announced.header);
    payload_bytes_ = static_cast<std::size_t>(payload_bytes);
    used_ = newline + 1;
  }
  if (waiting() < payload_bytes_) return std::nullopt;
  Frame frame{.header = std::move(*header_), .payload = bytes_.substr(used_, payload_bytes_)};
  header_.reset();
  used_ += payload_bytes_;
  searched_ = used_;
  if (used_ == bytes_.size() || used_ > most_header_bytes) {
    bytes_.erase(0, used_);
    used_ = searched_ = 0;
  }
  return frame;
}

namespace {

int descriptor(const char* variable) {
  const char* text = std::getenv(variable);
  int number = -1;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  require(number >= 0, "opshap: ", variable, "=", text == nullptr ? "" : text,
          " (is no open pipe: a host starts this command, and no person). Use the other commands.");
  return number;
}

}  // namespace

OwnPipes::OwnPipes() : from_(descriptor("OPSHAP_FD_IN")), to_(descriptor("OPSHAP_FD_OUT")) {}

std::optional<Frame> OwnPipes::next() {
  for (;;) {
    if (auto frame = reader_.next()) return frame;
    std::string bytes(1 << 16, '\0');
    const ::ssize_t got = ::read(from_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(got));
    reader_.feed(bytes);
  }
}

void OwnPipes::send(nlohmann::ordered_json header, std::string_view payload) {
  const std::string bytes = bytes_of(std::move(header), payload);
  for (std::size_t done = 0; done < bytes.size();) {
    const ::ssize_t sent = ::write(to_, bytes.data() + done, bytes.size() - done);
    if (sent < 0 && errno == EINTR) continue;
    require<EnvironmentError>(sent > 0, "opshap: pipe (the host does not read any more). Start it again.");
    done += static_cast<std::size_t>(sent);
  }
}

}  // namespace opshap::peers
