// TFRecord files and the messages in them: what is written is read back, a field that nobody knows is passed over, and
// every flipped bit is noticed.

#include "data/tfrecord.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "support/flow_files.hpp"
#include "support/for_all.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

class TfRecords : public FlowFolder {
 protected:
  fs::path file(const std::string& bytes) const {
    const fs::path path = folder_ / "some.tfrecord";
    put(path, bytes);
    return path;
  }
  std::vector<std::string> records(const std::string& bytes) const {
    data::TfRecordReader reader(file(bytes));
    std::vector<std::string> found;
    for (std::string record; reader.next(record);) found.push_back(record);
    return found;
  }
  std::int64_t passed_over(const std::string& bytes) const {
    data::TfRecordReader reader(file(bytes));
    std::int64_t count = 0;
    while (reader.skip()) ++count;
    return count;
  }
};

// 0 rotated is 0, so the sum of no bytes is the constant of the format.
TEST_F(TfRecords, ChecksumsAreMasked) {
  EXPECT_EQ(0xa282ead8u, data::masked_crc32c(""));
  EXPECT_EQ((0xe3069283u >> 15 | 0xe3069283u << 17) + 0xa282ead8u, data::masked_crc32c("123456789"));
}

TEST_F(TfRecords, RecordsAreReadAsTheyWereWritten) {
  for_all([this](const std::vector<std::string>& written) {
    std::string bytes;
    for (const std::string& record : written) bytes += framed(record);
    RC_ASSERT(records(bytes) == written);
    RC_ASSERT(passed_over(bytes) == std::ssize(written));
  });
}

TEST_F(TfRecords, EveryFlippedBitAndEveryCutIsNoticed) {
  const std::string first = framed("first"), bytes = first + framed("second");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit)
      EXPECT_NE("", refusal<DataError>([&] { records(flipped(bytes, at, 1 << bit)); })) << at << ", " << bit;
  }
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size == first.size()) continue;  // a shorter file that is whole
    const auto said = [&](const auto& read) { return refusal<DataError>([&] { read(bytes.substr(0, size)); }); };
    EXPECT_TRUE(has(said([&](const std::string& cut) { records(cut); }), "the file ends in a record")) << size;
    EXPECT_TRUE(has(said([&](const std::string& cut) { passed_over(cut); }), "the file ends in a record")) << size;
  }
}

TEST_F(TfRecords, ARecordLargerThanTheFileIsRefusedBeforeMemoryIsTaken) {
  const std::uint64_t length = std::uint64_t{1} << 62;
  const std::string number(reinterpret_cast<const char*>(&length), sizeof length);
  EXPECT_TRUE(has(refusal<DataError>([&] { records(number + data::record_tail(number) + "abcd"); }),
                  {"some.tfrecord, record=0 (its 4611686018427387904 bytes are more than the file has left"}));
  EXPECT_TRUE(has(refusal<DataError>([&] { data::TfRecordReader reader(folder_); }), "(is not a file)"));
  EXPECT_TRUE(has(refusal<DataError>([&] { data::TfRecordReader reader(folder_ / "none"); }), "No such file"));
}

/// The one feature of a message.
data::ExampleFeature feature(const std::string& message) { return data::parse_example(message, "test").at("a"); }

TEST_F(TfRecords, FeaturesAreReadAsTheyWereWritten) {
  for_all([](const std::map<std::string, std::string>& written) {
    const std::string bytes = data::format_example({written.begin(), written.end()});
    const auto found = data::parse_example(bytes, "test");
    RC_ASSERT(found.size() == written.size());
    for (const auto& [name, value] : written) {
      RC_ASSERT(found.at(name).kind == data::ExampleFeature::Kind::bytes);
      RC_ASSERT(found.at(name).joined() == value);
    }
  });
}

// The messages are written out by hand: a tag is 8·field + wire type, then a length.
TEST_F(TfRecords, WhatTheFormatDoesNotHaveIsPassedOver) {
  using Kind = data::ExampleFeature::Kind;
  const std::string plain("\x0a\x0c\x0a\x0a\x0a\x01\x61\x12\x05\x0a\x03\x0a\x01x", 14);
  ASSERT_EQ(plain, data::format_example({{"a", "x"}}));
  const std::string two_values("\x0a\x10\x0a\x0e\x0a\x01\x61\x12\x09\x0a\x07\x0a\x01x\x0a\x02yz", 18);
  EXPECT_EQ("xyz", feature(two_values).joined());
  const std::string two_lists("\x0a\x11\x0a\x0f\x0a\x01\x61\x12\x0a\x0a\x03\x0a\x01x\x0a\x03\x0a\x01y", 19);
  EXPECT_EQ("xy", feature(two_lists).joined());
  // Fields 2 (a number of ten bytes), 3 (eight bytes), 4 (four bytes) and 500 (text) of the outermost message.
  const std::string unknown =
      std::string("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x19", 12) + "12345678%1234\xa2\x1f\x02hi";
  EXPECT_EQ("x", feature(unknown + plain).joined());
  EXPECT_EQ("x", feature(plain + unknown).joined());
  EXPECT_EQ(Kind::floats, feature(std::string("\x0a\x0e\x0a\x0c\x0a\x01\x61\x12\x07\x12\x05\x0a\x03"
                                              "abc",
                                              16))
                              .kind);
  EXPECT_EQ(Kind::integers, feature(std::string("\x0a\x0c\x0a\x0a\x0a\x01\x61\x12\x05\x1a\x03\x0a\x01\x07", 14)).kind);
  EXPECT_EQ(Kind::none, feature(std::string("\x0a\x07\x0a\x05\x0a\x01\x61\x12\x00", 9)).kind);
  EXPECT_EQ("y", feature(data::format_example({{"a", "x"}, {"a", "y"}})).joined()) << "the last of a name counts";
}

TEST_F(TfRecords, WhatIsNoExampleIsRefused) {
  expect_refusals<DataError>(Refusals<>{{std::string("\x0a\x05\x0a", 3), "ends behind its message"},
                                        {std::string("\x0a", 1), "ends behind its message"},
                                        {std::string("\x0b", 1), "wire type"},
                                        {std::string("\x02\x00", 2), "has the number 0"},
                                        {std::string(11, '\xff'), "more than 64 bits"}},
                             [](const std::string& bytes) { data::parse_example(bytes, "test"); });
}

}  // namespace
}  // namespace opshap
