#include "core/checksum.hpp"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <new>

namespace opshap {

namespace {

static_assert(std::endian::native == std::endian::little, "both ways take eight bytes as a little-endian number");

constexpr std::uint32_t reflected_polynomial = 0x82F63B78;

/// Row k: what a byte adds to the remainder when k bytes follow it.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? reflected_polynomial : 0);
    tables[0][byte] = remainder;
  }
  for (std::size_t row = 1; row < 8; ++row) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[row - 1][byte];
      tables[row][byte] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr auto crc_tables = make_crc_tables();

std::uint64_t eight_bytes(const std::byte* from) {
  std::uint64_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

#ifdef __x86_64__
/// By the processor's instruction.
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::span<const std::byte> bytes) {
  std::uint64_t remainder = 0xFFFFFFFF;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    remainder = __builtin_ia32_crc32di(remainder, eight_bytes(bytes.data()));
  auto last = static_cast<std::uint32_t>(remainder);
  for (const std::byte byte : bytes) last = __builtin_ia32_crc32qi(last, std::to_integer<unsigned char>(byte));
  return ~last;
}
#endif

}  // namespace

std::string hexadecimal(std::uint64_t number, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(number));
  return text;
}

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xFFFFFFFF;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t mixed = eight_bytes(bytes.data()) ^ remainder;
    remainder = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) remainder ^= crc_tables[7 - byte][mixed >> (8 * byte) & 0xFF];
  }
  for (const std::byte byte : bytes)
    remainder = remainder >> 8 ^ crc_tables[0][(remainder ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return ~remainder;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return by_instruction(bytes);
#endif
  return crc32c_by_tables(bytes);
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
