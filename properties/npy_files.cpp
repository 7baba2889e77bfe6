// Arrays in .npy files: what is written is read back, and no sequence of bytes is misread or crashes.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/npy.hpp"

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

const std::string two_doubles = [] {
  std::string data(16, '\0');
  const double values[] = {1.5, -2.25};
  std::memcpy(data.data(), values, sizeof values);
  return data;
}();

data::NpyArray real_array(data::Dtype dtype, std::vector<std::int64_t> shape) {
  data::NpyArray array{std::move(shape), dtype, {}};
  std::int64_t count = 1;
  for (const std::int64_t size : array.shape) count *= size;
  if (dtype == data::Dtype::float32 || dtype == data::Dtype::float64) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(*rc::gen::map(rc::gen::arbitrary<float>(), [](float value) { return double{value}; }));
    array.values = values;
  } else {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(*rc::gen::arbitrary<std::int32_t>());
    array.values = values;
  }
  return array;
}

RC_GTEST_PROP(NpyFiles, AnArrayIsReadAsItWasWritten, ()) {
  const auto dtype =
      *rc::gen::element(data::Dtype::float32, data::Dtype::float64, data::Dtype::int32, data::Dtype::int64);
  const auto shape =
      *rc::gen::resize(4, rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 5)));
  const data::NpyArray array = real_array(dtype, shape);
  const data::NpyArray read = parse(data::format_npy(array));
  RC_ASSERT(read.shape == array.shape);
  RC_ASSERT(read.dtype == array.dtype);
  RC_ASSERT(read.values == array.values);
}

TEST(NpyFiles, ValuesThatAreNoNumbersSurvive) {
  const double infinity = std::numeric_limits<double>::infinity();
  const data::NpyArray read =
      parse(data::format_npy({{3}, data::Dtype::float64, std::vector<double>{std::nan(""), infinity, -0.0}}));
  const std::vector<double>& values = read.reals("test");
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(infinity, values[1]);
  EXPECT_TRUE(std::signbit(values[2]));
}

TEST(NpyFiles, TheHeaderIsTheOneNumPyWrites) {
  // numpy.save of numpy.array([1.5, -2.25]), NumPy 1.24: version 1, 118 header bytes, padded to a multiple of 64.
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }" + std::string(60, ' ') + "\n";
  EXPECT_EQ(file_of(1, header, two_doubles),
            data::format_npy({{2}, data::Dtype::float64, std::vector<double>{1.5, -2.25}}));
}

TEST(NpyFiles, AllThreeVersionsAndSpellingsOfTheHeaderAreRead) {
  for (const int version : {1, 2, 3}) {
    for (const char* header : {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n",
                               "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<f8\"}",
                               "{ 'shape' : ( 1 , 2 ) , 'descr':'<f8','fortran_order': False,}   \n",
                               "{'descr': '<f8', 'fortran_order': True, 'shape': (2,)}"}) {
      EXPECT_EQ((std::vector<double>{1.5, -2.25}), parse(file_of(version, header, two_doubles)).reals("test"))
          << version << header;
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
  for (std::size_t k = 0; k < 12; ++k)
    EXPECT_EQ(static_cast<double>(k), found[(k % 2) * 6 + (k / 2 % 3) * 2 + k / 6]) << k;
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
  EXPECT_THROW(data::format_npy({{1}, data::Dtype::int32, std::vector<std::int64_t>{std::int64_t{1} << 40}}),
               InvalidArgument);
}

TEST(NpyFiles, MalformedFilesAreDataErrors) {
  const auto with_shape = [](const std::string& shape) {
    return file_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n", two_doubles);
  };
  ASSERT_NO_THROW(parse(with_shape("(2,)")));
  for (const char* shape :
       {"(3,)", "(1,)", "()", "(0,)", "(-2,)", "(2", "2", "(2 2)", "(9223372036854775807, 9223372036854775807)",
        "(4294967296, 4294967296, 2)", "(99999999999999999999,)", "(0, 9223372036854775807)", "(2.0,)"}) {
    EXPECT_THROW(parse(with_shape(shape)), DataError) << shape;
  }
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } 1", "['descr']",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "{'descr': '<f8",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}"}) {
    EXPECT_THROW(parse(file_of(1, header, two_doubles)), DataError) << header;
  }
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
  const std::string alphabet = "{}[]()',:<>fiL0123456789 \nTrueFalse\x93";
  Rng rng(20261121, "npy_files");
  int refused = 0, read = 0;
  for (int trial = 0; trial < 150000; ++trial) {
    std::string bytes = originals[rng.below(originals.size())];
    for (std::uint64_t changes = 1 + rng.below(4); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at =
          rng.below(2) == 0 ? rng.below(bytes.size()) : rng.below(std::min<std::size_t>(bytes.size(), 80));
      switch (rng.below(5)) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
          break;
        case 1:
          bytes[at] = alphabet[rng.below(alphabet.size())];
          break;
        case 2:
          bytes.erase(at, 1 + rng.below(8));
          break;
        case 3:
          bytes.insert(at, 1 + rng.below(8), alphabet[rng.below(alphabet.size())]);
          break;
        default:
          bytes.resize(at);
      }
    }
    try {
      const data::NpyArray array = parse(bytes);
      ASSERT_LE(static_cast<std::size_t>(array.size()) * 4, bytes.size());
      ++read;
    } catch (const DataError&) {
      ++refused;
    } catch (const InvalidArgument&) {
      ++refused;
    }
  }
  EXPECT_EQ(150000, refused + read);
  EXPECT_GT(read, 1000) << "the mutations are too rough to reach the data";
  EXPECT_GT(refused, 100000);
}

TEST(NpyFiles, FilesOnDiskAreReadAndWritten) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("opshap_npy_" + std::to_string(::getpid()));
  data::write_npy(folder / "a.npy", {{2}, data::Dtype::float64, std::vector<double>{1.5, -2.25}});
  EXPECT_EQ((std::vector<double>{1.5, -2.25}), data::read_npy(folder / "a.npy").reals("test"));
  EXPECT_THROW(data::read_npy(folder / "missing.npy"), DataError);
  EXPECT_THROW(data::read_npy(folder), DataError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace opshap
