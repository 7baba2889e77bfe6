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

// A bug whose place has changed is planted nowhere, and nobody learns whether the tests would find it.
TEST(SourceFiles, EveryMutationStandsOnceInItsFile) {
  std::istringstream lines(read_file(fs::path(OPSHAP_SOURCE_DIR) / "properties/mutations.txt"));
  std::string name, file, old;
  int mutations = 0;
  const auto check = [&] {
    if (name.empty()) return;
    const std::string text = read_file(fs::path(OPSHAP_SOURCE_DIR) / file);
    const std::size_t first = text.find(old);
    EXPECT_NE(std::string::npos, first) << name << ": not in " << file;
    EXPECT_EQ(std::string::npos, text.find(old, first + 1)) << name << ": twice in " << file;
    ++mutations;
    name.clear();
    old.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) check();
    if (line.starts_with("mutation: ")) name = line;
    if (line.starts_with("file: ")) file = line.substr(6);
    if (line.starts_with('-')) old += (old.empty() ? "" : "\n") + line.substr(1);
  }
  check();
  EXPECT_GT(mutations, 100);
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
