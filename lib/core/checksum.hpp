#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH64_state_s;

namespace opshap {

/// A number in so many hexadecimal digits, with zeros in front.
std::string hexadecimal(std::uint64_t number, int digits);

/// CRC-32C (Castagnoli, reflected), the checksum of the data files. crc32c("123456789") = e3069283.
///
/// By the instruction of SSE4.2 where the processor has it, else by tables.
std::uint32_t crc32c(std::span<const std::byte> bytes);
std::uint32_t crc32c(std::string_view text);
/// The same without the instruction: eight tables take eight bytes at a time.
/// Source: Kounavis and Berry (2005), "A systematic approach to building high performance, software-based, CRC
/// generators".
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes);

/// xxh64 with seed 0, as 16 hexadecimal digits: tells files and texts apart. xxh64("") = ef46db3751d8e999.
std::string xxh64(std::string_view bytes);

/// xxh64 of bytes that come in pieces.
class Xxh64 {
 public:
  Xxh64();
  void add(std::span<const std::byte> piece);
  /// Of all pieces so far, as xxh64() gives it.
  std::string digits() const;

 private:
  std::shared_ptr<XXH64_state_s> state_;
};

}  // namespace opshap
