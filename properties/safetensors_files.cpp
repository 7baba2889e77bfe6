// Safetensors files: what is written is read back, every flipped bit is noticed, and no bytes whatever do harm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/safetensors.hpp"

namespace opshap {
namespace {

data::Safetensors parse(const std::string& bytes) {
  return data::parse_safetensors(std::as_bytes(std::span(bytes)), "test");
}

bool is_refused(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const DataError&) {
    return true;
  }
  return false;
}

data::StoredTensor tensor(std::vector<std::int64_t> shape, const std::string& dtype, std::size_t bytes) {
  data::StoredTensor stored{.shape = std::move(shape), .dtype = dtype, .bytes = {}};
  for (std::size_t i = 0; i < bytes; ++i) stored.bytes.push_back(static_cast<std::byte>(37 * i + bytes));
  return stored;
}

data::Safetensors example() {
  data::Safetensors content;
  content.metadata = {{"config", "{\"n_modes\": [16], \"note\": \"quoted \\\" crc32c\"}"}, {"author", "ü"}};
  content.tensors["blocks.0.weight"] = tensor({2, 3, 2}, "F32", 48);
  content.tensors["blocks.0.bias"] = tensor({3}, "F64", 24);
  content.tensors["spectral"] = tensor({2, 1}, "C64", 16);
  content.tensors["counter"] = tensor({}, "I64", 8);
  content.tensors["scalar"] = tensor({}, "F32", 4);
  content.tensors["nothing"] = tensor({0, 7}, "F32", 0);
  return content;
}

/// A file as other programs write it, without a checksum.
std::string file(const std::string& header, std::size_t data) {
  const std::uint64_t size = header.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + header + std::string(data, 'x');
}

TEST(SafetensorsFiles, AreReadBackAsWritten) {
  const data::Safetensors content = example(), found = parse(data::serialise_safetensors(content));
  EXPECT_EQ(content.metadata, found.metadata);
  ASSERT_EQ(content.tensors.size(), found.tensors.size());
  for (const auto& [name, stored] : content.tensors) {
    EXPECT_EQ(stored.shape, found.tensors.at(name).shape) << name;
    EXPECT_EQ(stored.dtype, found.tensors.at(name).dtype) << name;
    EXPECT_EQ(stored.bytes, found.tensors.at(name).bytes) << name;
  }
  EXPECT_EQ(data::serialise_safetensors(content), data::serialise_safetensors(found));
  EXPECT_TRUE(parse(data::serialise_safetensors({})).tensors.empty());
}

TEST(SafetensorsFiles, BeginTheirDataAtAMultipleOfEightBytes) {
  const std::string bytes = data::serialise_safetensors(example());
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(0U, header % 8);
}

TEST(SafetensorsFiles, OfOtherProgramsNeedNoChecksum) {
  const data::Safetensors found =
      parse(file(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )", 8));
  EXPECT_EQ("pt", found.metadata.at("format"));
  EXPECT_EQ(8U, found.tensors.at("w").bytes.size());
}

// Every number of both half precisions is a float32.
TEST(SafetensorsFiles, HoldHalfPrecisionInSinglePrecision) {
  const auto read = [](const std::string& dtype, const std::vector<std::uint16_t>& halves) {
    const std::size_t bytes = 2 * halves.size();
    std::string whole = file(
        message(R"({"w":{"dtype":")", dtype, R"(","shape":[)", halves.size(), R"(],"data_offsets":[0,)", bytes, "]}}"),
        bytes);
    std::memcpy(whole.data() + whole.size() - bytes, halves.data(), bytes);
    const data::StoredTensor found = parse(whole).tensors.at("w");
    EXPECT_EQ("F32", found.dtype);
    std::vector<float> numbers(found.bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), found.bytes.data(), found.bytes.size());
    return numbers;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ((std::vector<float>{1, -2, 65504, 0x1p-14F, 0x1p-24F, 1 + 0x1p-10F, infinity, -infinity}),
            read("F16", {0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x3C01, 0x7C00, 0xFC00}));
  EXPECT_EQ((std::vector<float>{1, -2, 1 + 0x1p-7F, infinity, 0x1p-133F}),
            read("BF16", {0x3F80, 0xC000, 0x3F81, 0x7F80, 0x0001}));
  EXPECT_TRUE(std::isnan(read("F16", {0x7E01}).front()) && std::isnan(read("BF16", {0x7FC0}).front()));
  EXPECT_TRUE(std::signbit(read("F16", {0x8000}).front()));
}

TEST(SafetensorsFiles, NoticeEveryFlippedBit) {
  const std::string bytes = data::serialise_safetensors(example());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(is_refused(flipped)) << "bit " << bit;
  }
}

TEST(SafetensorsFiles, NoticeEveryTruncation) {
  const std::string bytes = data::serialise_safetensors(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) ASSERT_TRUE(is_refused(bytes.substr(0, size))) << size;
  EXPECT_TRUE(is_refused(bytes + "x"));
}

TEST(SafetensorsFiles, ThatBreakTheFormatAreRefused) {
  const std::vector<std::string> bad = {
      file("", 0),
      file("[]", 0),
      file("{}", 1),
      file(R"({"w":3})", 0),
      file(R"({"w":{"dtype":"F32","shape":[2]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})", 8),
      file(R"({"w":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8,16]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
           8),  // 2^64 numbers: 0 after overflow
      file(R"({"w":{"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]}})",
           8),                                                               // 2^62 + 2 numbers: 8 bytes after overflow
      file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),  // a gap
      file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8),  // data of no tensor
      file(
          R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          8),
      file(
          R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          8),
      file(R"({"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
      file(R"({"__metadata__":{"a":1}})", 0),
      file(R"({"__metadata__":{"crc32c":"0123456701234567"}})", 0),
      file(std::string(200000, '['), 0),
      file("{\"w\":" + std::string(200000, '[') + std::string(200000, ']') + "}", 0),
  };
  for (std::size_t index = 0; index < bad.size(); ++index)
    EXPECT_TRUE(is_refused(bad[index])) << bad[index].substr(8, 100);
}

/// One random change: a bit, a byte, a piece left out, repeated or moved, another header length, or a digit for a
/// digit.
void mutate(std::string& bytes, Rng& rng) {
  const auto place = [&] { return static_cast<std::size_t>(rng.below(bytes.size())); };
  if (bytes.size() < 16) return;
  const std::size_t at = place(), length = std::min<std::size_t>(1 + rng.below(12), bytes.size() - at);
  switch (rng.below(7)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(rng.below(256));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(place(), bytes.substr(at, length));
      break;
    case 4:
      bytes[rng.below(8)] = static_cast<char>(rng.below(256));
      break;
    case 5:
      bytes.resize(at);
      break;
    default:
      for (std::size_t i = at; i < bytes.size(); ++i) {
        if (bytes[i] < '0' || bytes[i] > '9') continue;
        bytes[i] = static_cast<char>('0' + rng.below(10));
        break;
      }
  }
}

TEST(SafetensorsFiles, OfMutatedBytesAreReadOrRefused) {
  const std::vector<std::string> originals = {
      data::serialise_safetensors(example()),
      file(
          R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"C64","shape":[],"data_offsets":[8,16]}})",
          16)};
  std::int64_t read = 0, refused = 0;
  for (std::uint64_t item = 0; item < 120000; ++item) {
    Rng rng(9, "safetensors mutations", 0, item);
    std::string bytes =
        originals[item % 4 == 0 ? 0 : 1];  // mostly the one whose changes are not already seen by a checksum
    for (std::uint64_t change = 0; change <= rng.below(3); ++change) mutate(bytes, rng);
    try {
      const data::Safetensors content = parse(bytes);
      std::size_t total = 0;
      for (const auto& [name, stored] : content.tensors) total += stored.bytes.size();
      ASSERT_LE(total, bytes.size());
      ++read;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 1000);  // otherwise the mutations would be too rough to get past the first check
  EXPECT_GT(refused, 60000);
}

}  // namespace
}  // namespace opshap
