#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

namespace opshap {

/// A row as older programs wrote it, without its checksum: one that may be changed.
inline std::string without_checksum(const std::string& line) {
  return std::regex_replace(line, std::regex(",\"crc32c\":\"[0-9a-f]{8}\""), "");
}

/// Tests that read and write files, such as those of a run, in a folder of their own that goes with them.
class RunFolder : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The names of what is in a folder.
  static std::set<std::string> names_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("opshap_run_" + std::to_string(getpid()));
};

}  // namespace opshap
