#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "core/file.hpp"
#include "support/expressions.hpp"

namespace opshap {

namespace fs = std::filesystem;

/// A row as older programs wrote it, without its checksum: one that may be changed.
inline std::string without_checksum(const std::string& line) {
  return substituted(line, ",\"crc32c\":\"[0-9a-f]{8}\"", "");
}

/// The rows of a file without what no two runs have in common: their times, and the checksums.
inline std::string without_times(const std::filesystem::path& file) {
  std::istringstream lines(read_file(file));
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    auto row = nlohmann::ordered_json::parse(line);
    for (const char* key : {"seconds", "game_seconds", "estimator_seconds", "crc32c"}) row.erase(key);
    rest += row.dump() + '\n';
  }
  return rest;
}

/// What the files of a folder and of its folders hold, by their paths from there.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) found[entry.path().lexically_relative(folder)] = read_file(entry.path());
  return found;
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
