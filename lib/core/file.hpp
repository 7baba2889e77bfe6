#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace opshap {

/// The whole file. Throws DataError when it cannot be read. "-" is standard input.
std::string read_file(const std::filesystem::path& path);

/// Makes the folder of `path` if needed and replaces `path` by `bytes` in one step: written to a temporary name,
/// flushed to disk, renamed. On any failure the old file is untouched and nothing is left behind. "-" is standard
/// output. Throws EnvironmentError on a full disk, InvalidArgument when the place cannot be written.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

/// Makes a folder and its parents. Throws InvalidArgument when that is not possible or the folder cannot be written to.
void make_folder(const std::filesystem::path& path);

/// The name a file has until it is complete: `path` + ".tmp".
std::filesystem::path temporary_name(const std::filesystem::path& path);

/// Appends lines to a log (metrics.jsonl, shard manifest): each line is flushed, and a line cut off by a kill is
/// dropped when the log is opened again.
class LineLog {
 public:
  explicit LineLog(const std::filesystem::path& path);
  void append(std::string_view line);

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace opshap
