// Rules of the house that a compiler does not know.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const char* folder : {"lib", "properties", "convergence", "benchmarks"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(OPSHAP_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") files.push_back(entry.path());
    }
  }
  return files;
}

/// Characters of a line of UTF-8: every byte that does not continue one.
std::ptrdiff_t characters(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

// What the formatter cannot break is a text between quotes.
TEST(SourceFiles, LinesEndWhereTheFormatterEndsThem) {
  constexpr std::ptrdiff_t limit = 120;
  ASSERT_GT(sources().size(), 400u);
  for (const fs::path& file : sources()) {
    std::istringstream lines(read_file(file));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find('"') == std::string::npos) {
        EXPECT_LE(characters(line), limit) << file.string() << ":" << number;
      }
    }
  }
}

// A clone is what everyone pays for: what a run writes and its command makes again stays out (reports/README.md).
TEST(SourceFiles, ReportsStayBelowFortyMegabytes) {
  constexpr std::uintmax_t limit = 40'000'000;
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(OPSHAP_SOURCE_DIR) / "reports")) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_GT(bytes, 1'000'000u) << "the reports were not found";
  EXPECT_LT(bytes, limit);
}

}  // namespace
}  // namespace opshap
