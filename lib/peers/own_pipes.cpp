#include "peers/own_pipes.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace opshap::peers {

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
