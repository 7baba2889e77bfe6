// Rules of the house that a compiler does not know.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
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

/// What git tracks; in a source tree without git, the files that are there, but for what builds and runs write.
std::vector<fs::path> tracked_files() {
  const fs::path root = OPSHAP_SOURCE_DIR;
  std::vector<fs::path> files;
  if (is_there(root / ".git")) {
    FILE* pipe = popen(("git -C '" + root.string() + "' -c safe.directory='*' ls-files -z").c_str(), "r");
    std::string name;
    for (int letter = 0; pipe != nullptr && (letter = std::fgetc(pipe)) != EOF;) {
      if (letter != 0) {
        name += static_cast<char>(letter);
        continue;
      }
      if (is_file(root / name)) files.push_back(root / name);
      name.clear();
    }
    if (pipe != nullptr && pclose(pipe) == 0) return files;
    files.clear();
  }
  static const std::set<std::string> written = {"build", "runs", ".git", ".ccache", "__pycache__"};
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory() && written.contains(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.push_back(entry->path());
    }
  }
  return files;
}

// A clone is what everyone pays for: what a run writes and its command makes again stays out (reports/README.md).
TEST(SourceFiles, TrackedFilesStayBelowThirtyTwoMegabytes) {
  constexpr std::uintmax_t limit = 32'000'000;
  std::uintmax_t bytes = 0;
  for (const fs::path& file : tracked_files()) bytes += fs::file_size(file);
  EXPECT_GT(bytes, 1'000'000u) << "the files were not found";
  EXPECT_LT(bytes, limit);
}

// `opshap report FOLDER` draws the page of a run in a second.
TEST(SourceFiles, OnlyTheJointPagesAreTracked) {
  std::set<std::string> pages;
  for (const fs::path& file : tracked_files()) {
    if (file.extension() == ".html") pages.insert(file.lexically_relative(OPSHAP_SOURCE_DIR).string());
  }
  EXPECT_EQ((std::set<std::string>{"reports/desk/report.html", "reports/leaderboard/report.html",
                                   "reports/paper/report.html"}),
            pages);
}

// A page that is not kept has no links to it.
TEST(SourceFiles, LinksOfReportsLeadToFiles) {
  const std::regex link("\\]\\(([^)#:]+)(#[^)]*)?\\)|href=\"([^\"#:]+)(#[^\"]*)?\"");
  int links = 0;
  for (const fs::path& file : tracked_files()) {
    if (file.extension() != ".md" && file.extension() != ".html") continue;
    const std::string text = read_file(file);
    for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
      const std::string name = (*found)[1].matched ? (*found)[1] : (*found)[3];
      ++links;
      EXPECT_TRUE(is_there(file.parent_path() / name)) << file.string() << " links " << name;
    }
  }
  EXPECT_GT(links, 100);
}

}  // namespace
}  // namespace opshap
