// Arrays in .npy and .safetensors files: what is written is read back, every flipped bit of the latter is noticed, and
// no bytes whatever are misread or do harm.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "support/mutations.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

data::NpyArray parse(const std::string& bytes) { return data::parse_npy(std::as_bytes(std::span(bytes)), "test"); }

/// The bytes of a file of the given version with this header text and data.
std::string file_of(int version, std::string header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0, length = header.size(); i < (version == 1 ? 2u : 4u); ++i, length /= 256)
    bytes += static_cast<char>(length % 256);
  return bytes + header + data;
}

const std::vector<double> two = {1.5, -2.25};
const std::string two_doubles(reinterpret_cast<const char*>(two.data()), 16);

data::NpyArray real_array(data::Dtype dtype, std::vector<std::int64_t> shape) {
  data::NpyArray array{std::move(shape), dtype, {}};
  const auto count = static_cast<std::size_t>(
      std::accumulate(array.shape.begin(), array.shape.end(), std::int64_t{1}, std::multiplies<>()));
  if (dtype == data::Dtype::float32 || dtype == data::Dtype::float64)
    array.values = *rc::gen::container<std::vector<double>>(count, rc::gen::cast<double>(rc::gen::arbitrary<float>()));
  else
    array.values = *rc::gen::container<std::vector<std::int64_t>>(
        count, rc::gen::cast<std::int64_t>(rc::gen::arbitrary<std::int32_t>()));
  return array;
}

RC_GTEST_PROP(NpyFiles, AnArrayIsReadAsItWasWritten, ()) {
  const auto dtype =
      *rc::gen::element(data::Dtype::float32, data::Dtype::float64, data::Dtype::int32, data::Dtype::int64);
  const auto shape =
      *rc::gen::resize(4, rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 5)));
  const data::NpyArray array = real_array(dtype, shape), read = parse(data::format_npy(array));
  RC_ASSERT(read.shape == array.shape);
  RC_ASSERT(read.dtype == array.dtype);
  RC_ASSERT(read.values == array.values);
}

TEST(NpyFiles, ValuesThatAreNoNumbersSurvive) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto read = parse(data::format_npy({{3}, data::Dtype::float64, std::vector{std::nan(""), infinity, -0.0}}));
  const std::vector<double>& values = read.reals("test");
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(infinity, values[1]);
  EXPECT_TRUE(std::signbit(values[2]));
}

TEST(NpyFiles, TheHeaderIsTheOneNumPyWrites) {
  // numpy.save of numpy.array([1.5, -2.25]), NumPy 1.24: version 1, 118 header bytes, padded to a multiple of 64.
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }" + std::string(60, ' ') + "\n";
  EXPECT_EQ(file_of(1, header, two_doubles), data::format_npy({{2}, data::Dtype::float64, two}));
}

TEST(NpyFiles, AllThreeVersionsAndSpellingsOfTheHeaderAreRead) {
  for (const int version : {1, 2, 3}) {
    for (const char* header : {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n",
                               "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<f8\"}",
                               "{ 'shape' : ( 1 , 2 ) , 'descr':'<f8','fortran_order': False,}   \n",
                               "{'descr': '<f8', 'fortran_order': True, 'shape': (2,)}"}) {
      EXPECT_EQ(two, parse(file_of(version, header, two_doubles)).reals("test")) << version << header;
    }
  }
}

TEST(NpyFiles, ElementsThatAreNotReadAreNamed) {
  for (const char* descr : {"'>f8'", "'<c16'", "'|b1'", "'<u8'", "'|O'", "[('a', '<f8')]"}) {
    const std::string header = std::string("{'descr': ") + descr + ", 'fortran_order': False, 'shape': (2,), }";
    EXPECT_THROW(parse(file_of(1, header, two_doubles)), InvalidArgument) << header;
  }
}

TEST(NpyFiles, AnArrayInFortranOrderIsThatInCOrder) {
  data::NpyArray array{{2, 3, 2}, data::Dtype::float64, std::vector<double>(12)};
  auto& numbers = std::get<std::vector<double>>(array.values);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  std::string bytes = data::format_npy(array);
  const std::string order = "'fortran_order': ";
  bytes.replace(bytes.find(order) + order.size(), 5, "True ");
  // The first axis runs fastest: number k of the file is at (k % 2, k / 2 % 3, k / 6).
  const std::vector<double> found = parse(bytes).reals("test");
  for (std::size_t k = 0; k < 12; ++k) EXPECT_EQ(static_cast<double>(k), found[k % 2 * 6 + k / 2 % 3 * 2 + k / 6]) << k;
}

TEST(NpyFiles, HalfPrecisionIsReadAsFloat32) {
  const std::string header = "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }";
  const data::NpyArray read = parse(file_of(1, header, std::string("\x00\x3E\x80\xC0\x01\x00\x00\x80", 8)));
  EXPECT_EQ(data::Dtype::float32, read.dtype);
  EXPECT_EQ((std::vector<double>{1.5, -2.25, 0x1p-24, 0}), read.reals("test")) << "and the smallest number that it has";
}

TEST(NpyFiles, AWrongKindOfNumberIsRefused) {
  const data::NpyArray reals{{1}, data::Dtype::float32, std::vector<double>{1}},
      integers{{1}, data::Dtype::int32, std::vector<std::int64_t>{1}};
  EXPECT_THROW(reals.integers("test"), InvalidArgument);
  EXPECT_THROW(integers.reals("test"), InvalidArgument);
  EXPECT_THROW(data::format_npy({{1}, data::Dtype::int32, std::vector<double>{1}}), InvalidArgument);
  EXPECT_THROW(data::format_npy({{2}, data::Dtype::float64, std::vector<double>{1}}), InvalidArgument);
  EXPECT_THROW(data::format_npy({{1}, data::Dtype::int32, std::vector{std::int64_t{1} << 40}}), InvalidArgument);
}

TEST(NpyFiles, MalformedFilesAreDataErrors) {
  const auto with_shape = [](const std::string& shape) {
    return file_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n", two_doubles);
  };
  ASSERT_NO_THROW(parse(with_shape("(2,)")));
  for (const char* shape :
       {"(3,)", "(1,)", "()", "(0,)", "(-2,)", "(2", "2", "(2 2)", "(9223372036854775807, 9223372036854775807)",
        "(4294967296, 4294967296, 2)", "(99999999999999999999,)", "(0, 9223372036854775807)", "(2.0,)"})
    EXPECT_THROW(parse(with_shape(shape)), DataError) << shape;
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } 1", "['descr']",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "{'descr': '<f8",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}"})
    EXPECT_THROW(parse(file_of(1, header, two_doubles)), DataError) << header;
  EXPECT_THROW(parse(file_of(4, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", two_doubles)), DataError);
  EXPECT_THROW(parse(""), DataError);
  const std::string whole = with_shape("(2,)");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(parse(whole.substr(0, length)), DataError) << length;
  EXPECT_THROW(parse(whole + "x"), DataError);
}

TEST(NpyFiles, NoMutationCrashesOrReadsMoreThanTheFileHolds) {
  const std::vector<std::string> originals = {
      data::format_npy({{3, 4}, data::Dtype::float32, std::vector<double>(12, 1.5)}),
      data::format_npy({{5}, data::Dtype::int64, std::vector<std::int64_t>(5, 7)}),
      file_of(3, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n", two_doubles)};
  const Survived all = survive(
      "npy_files", originals,
      [](const std::string& bytes) {
        if (static_cast<std::size_t>(parse(bytes).size()) * 4 > bytes.size())
          throw std::logic_error("more than the file holds");
      },
      std::max<std::uint64_t>(mutants(), 150000));
  EXPECT_GT(all.taken, 1000) << "the mutations are too rough to reach the data";
  EXPECT_GT(all.refused, 100000);
}

TEST(NpyFiles, FilesOnDiskAreReadAndWritten) {
  const auto folder = std::filesystem::temp_directory_path() / ("opshap_npy_" + std::to_string(::getpid()));
  data::write_npy(folder / "a.npy", {{2}, data::Dtype::float64, two});
  EXPECT_EQ(two, data::read_npy(folder / "a.npy").reals("test"));
  EXPECT_THROW(data::read_npy(folder / "missing.npy"), DataError);
  EXPECT_THROW(data::read_npy(folder), DataError);
  std::filesystem::remove_all(folder);
}

data::Safetensors parse_tensors(const std::string& bytes) {
  return data::parse_safetensors(std::as_bytes(std::span(bytes)), "test");
}

bool is_refused(const std::string& bytes) {
  return !refusal<DataError>([&] { parse_tensors(bytes); }).empty();
}

data::StoredTensor tensor(std::vector<std::int64_t> shape, const std::string& dtype, std::size_t bytes) {
  data::StoredTensor stored{.shape = std::move(shape), .dtype = dtype};
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
  const data::Safetensors content = example(), found = parse_tensors(data::serialise_safetensors(content));
  EXPECT_EQ(content.metadata, found.metadata);
  ASSERT_EQ(content.tensors.size(), found.tensors.size());
  for (const auto& [name, stored] : content.tensors) {
    EXPECT_EQ(stored.shape, found.tensors.at(name).shape) << name;
    EXPECT_EQ(stored.dtype, found.tensors.at(name).dtype) << name;
    EXPECT_EQ(stored.bytes, found.tensors.at(name).bytes) << name;
  }
  EXPECT_EQ(data::serialise_safetensors(content), data::serialise_safetensors(found));
  EXPECT_TRUE(parse_tensors(data::serialise_safetensors({})).tensors.empty());
}

TEST(SafetensorsFiles, BeginTheirDataAtAMultipleOfEightBytes) {
  const std::string bytes = data::serialise_safetensors(example());
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(0U, header % 8);
}

TEST(SafetensorsFiles, OfOtherProgramsNeedNoChecksum) {
  const data::Safetensors found = parse_tensors(
      file(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )", 8));
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
    const data::StoredTensor found = parse_tensors(whole).tensors.at("w");
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
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit)
    ASSERT_TRUE(is_refused(flipped(bytes, bit / 8, 1 << (bit % 8)))) << "bit " << bit;
}

TEST(SafetensorsFiles, NoticeEveryTruncation) {
  const std::string bytes = data::serialise_safetensors(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) ASSERT_TRUE(is_refused(bytes.substr(0, size))) << size;
  EXPECT_TRUE(is_refused(bytes + "x"));
}

TEST(SafetensorsFiles, ThatBreakTheFormatAreRefused) {
  const std::string all_bytes = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
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
      // 2^64 numbers: 0 after overflow; and 2^62 + 2 numbers: 8 bytes after overflow.
      file(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),  // a gap
      file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8),  // data of no tensor
      file("{\"v\":" + all_bytes + ",\"w\":" + all_bytes + "}", 8),
      file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
           R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           8),
      file(R"({"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
      file(R"({"__metadata__":{"a":1}})", 0),
      file(R"({"__metadata__":{"crc32c":"0123456701234567"}})", 0),
      file(std::string(200000, '['), 0),
      file("{\"w\":" + std::string(200000, '[') + std::string(200000, ']') + "}", 0),
  };
  for (const std::string& bytes : bad) EXPECT_TRUE(is_refused(bytes)) << bytes.substr(8, 100);
}

TEST(SafetensorsFiles, OfMutatedBytesAreReadOrRefused) {
  const std::vector<std::string> originals = {
      data::serialise_safetensors(example()),
      file(
          R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"C64","shape":[],"data_offsets":[8,16]}})",
          16)};
  const Survived all = survive(
      "safetensors_files", originals,
      [](const std::string& bytes) {
        std::size_t total = 0;
        for (const auto& [name, stored] : parse_tensors(bytes).tensors) total += stored.bytes.size();
        if (total > bytes.size()) throw std::logic_error("more than the file holds");
      },
      std::max<std::uint64_t>(mutants(), 120000));
  EXPECT_GT(all.taken, 1000);  // otherwise the mutations would be too rough to get past the first check
  EXPECT_GT(all.refused, 60000);
}

}  // namespace
}  // namespace opshap
