#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace opshap {

/// What to do about an error number by which the system says that it has no more of something: of the disk, of file
/// descriptors, of memory, of processes. Empty for any other number.
std::string advice_on_shortage(int error_number);

/// Throws EnvironmentError("who (reason). advice") when the error number tells of a shortage; does nothing otherwise.
void throw_if_shortage(const std::string& who, int error_number);

/// The whole file. "-" is standard input. Throws DataError when it cannot be read, and when a device or a pipe has no
/// end: more than 64 MiB from a device, more than 1 GiB from a pipe.
std::string read_file(const std::filesystem::path& path);

/// The file in pieces of at most 64 KiB, one after the other, for what need not be in memory at once. Throws as
/// read_file() does.
void read_file_in_pieces(const std::filesystem::path& path,
                         const std::function<void(std::span<const std::byte>)>& take);

/// Makes the folder of `path` if needed and replaces `path` by `bytes` in one step: written to a temporary name in the
/// same folder, flushed to disk, renamed. On any failure the old file is untouched and nothing is left behind.
///
/// A symbolic link stays, and the file that it names is replaced. What is no regular file (a device, a pipe, an open
/// descriptor below /dev/fd or /proc) is written into. "-" is standard output. Throws EnvironmentError when the system
/// has no more of something (disk, descriptors), InvalidArgument when the place cannot be written.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

/// A file that is written piece by piece, for what need not be in memory at once. Until finish() it has a temporary
/// name in the folder of `path`, as a file of write_file() has; whoever is destroyed before leaves nothing behind.
///
/// All throw EnvironmentError when the system has no more of something, InvalidArgument when the place cannot be
/// written. The folder must be there.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Flushes it to the disk and gives it its name, in place of what had it. A file that is replaced keeps its mode.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Makes a folder and its parents. Throws InvalidArgument when that is not possible or the folder cannot be written to.
void make_folder(const std::filesystem::path& path);

/// Whether something has this name. What the system refuses to say (a folder that one may not enter, a name that is too
/// long, a circle of links) is not there.
bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);

/// The name that a folder has before it is complete, or while it is removed: `path` + ".tmp".
std::filesystem::path temporary_name(const std::filesystem::path& path);

/// Removes what writers that were killed have left in a folder under temporary names of write_file(). Whoever calls it
/// knows that nobody writes there.
void remove_leftovers(const std::filesystem::path& folder);

/// An open descriptor, closed on scope exit. Negative for none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

/// Appends lines to a log (metrics.jsonl, shard manifest): each line is flushed, and a line cut off by a kill is
/// dropped when the log is opened again.
class LineLog {
 public:
  /// Throws InvalidArgument when the place cannot be written.
  explicit LineLog(const std::filesystem::path& path);
  /// Throws EnvironmentError when the line cannot be written, and when the log was removed meanwhile.
  void append(std::string_view line);

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

/// Holds a folder for one process at a time that writes there: an advisory lock, which the kernel releases even after a
/// kill. What writers that were killed have left under temporary names is removed.
class FolderLock {
 public:
  /// `who` starts the messages. Throws InvalidArgument when another lock holds the folder, and when there is no such
  /// folder.
  FolderLock(const std::filesystem::path& folder, const std::string& who);

  /// Throws EnvironmentError when the folder has been removed or replaced since it was locked: what is written there
  /// now would be a part of a result.
  void require_there() const;

 private:
  std::filesystem::path folder_;
  std::string who_;
  Descriptor descriptor_;
};

}  // namespace opshap
