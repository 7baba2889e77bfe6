#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "peers/frame.hpp"

namespace opshap {

/// The two frames of a peer that answers with the values 1 and 2.
inline std::string whole_frames() {
  const std::vector<double> two = {1, 2};
  return peers::bytes_of({{"type", "hello"}, {"protocol", 1}, {"name", "puppet"}, {"needs", {"values"}}}) +
         peers::bytes_of({{"type", "result"}, {"id", 1}}, peers::payload_of(two));
}

/// Frames that a peer may send, spoiled: bytes changed, left out, doubled, other numbers.
inline std::string spoiled_frames(Rng& rng) {
  const std::vector<double> two = {1, 2};
  const std::vector<std::string> good = {
      peers::bytes_of({{"type", "hello"}, {"protocol", 1}, {"name", "puppet"}, {"needs", {"values"}}}),
      peers::bytes_of({{"type", "eval"}, {"id", 1}, {"count", 2}}, std::string("\1\2")),
      peers::bytes_of({{"type", "eval"}, {"id", 1}, {"count", rng.bits64()}}),
      peers::bytes_of({{"type", "partial"}, {"id", 1}}, peers::payload_of(two)),
      peers::bytes_of({{"type", "result"}, {"id", 1}}, peers::payload_of(two)),
      peers::bytes_of({{"type", "fail"}, {"id", 1}, {"reason", "\n\x7f"}}),
      peers::bytes_of({{"type", "grad"}, {"id", 1}, {"count", 2}}, peers::payload_of(two)),
      "{\"type\":\"result\",\"id\":1,\"nbytes\":" + std::to_string(rng.bits32()) + "}\n"};
  std::string bytes = rng.below(4) == 0 ? "" : good[0];
  const std::size_t whole = bytes.size();
  for (std::uint64_t frames = rng.below(4); frames-- > 0;) bytes += good[rng.below(good.size())];
  for (std::uint64_t changes = rng.below(4); changes-- > 0 && bytes.size() > whole;) {
    const std::size_t place = whole + rng.below(bytes.size() - whole);
    switch (rng.below(4)) {
      case 0:
        bytes[place] = static_cast<char>(rng.below(256));
        break;
      case 1:
        bytes.erase(place, rng.below(20));
        break;
      case 2:
        bytes.insert(place, bytes.substr(place, rng.below(20)));
        break;
      default:
        bytes.insert(place, std::to_string(rng.bits64()));
    }
  }
  return bytes;
}

}  // namespace opshap
