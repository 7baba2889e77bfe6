#include "core/checksum.hpp"

#include <xxhash.h>

#include <boost/crc.hpp>
#include <cstdio>
#include <new>

namespace opshap {

std::string hexadecimal(std::uint64_t number, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(number));
  return text;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::uint32_t crc32c(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

std::string xxh64(std::string_view bytes) { return hexadecimal(XXH64(bytes.data(), bytes.size(), 0), 16); }

Xxh64::Xxh64() : state_(XXH64_createState(), XXH64_freeState) {
  if (!state_) throw std::bad_alloc();
  XXH64_reset(state_.get(), 0);
}

void Xxh64::add(std::span<const std::byte> piece) { XXH64_update(state_.get(), piece.data(), piece.size()); }

std::string Xxh64::digits() const { return hexadecimal(XXH64_digest(state_.get()), 16); }

}  // namespace opshap
