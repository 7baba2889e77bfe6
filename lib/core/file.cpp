#include "core/file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <system_error>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/process.hpp"

namespace opshap {

std::string advice_on_shortage(int error_number) {
  const auto is = [error_number](int number) { return error_number == number; };
  if (is(ENOSPC) || is(EDQUOT)) return "Free some space or choose another folder; nothing was written.";
  if (is(EFBIG)) return "Raise `ulimit -f`, or choose a file system for larger files; nothing was written.";
  if (is(EIO)) return "Check the disk, or choose another folder.";
  if (is(EMFILE) || is(ENFILE)) return "No file descriptor is left: raise `ulimit -n`, or close other programs.";
  if (is(ENOMEM)) return "No memory is left: raise `ulimit -v`, or close other programs.";
  if (is(EAGAIN)) return "No further process or thread is allowed: raise `ulimit -u`, or close other programs.";
  return "";
}

void throw_if_shortage(const std::string& who, int error_number) {
  const std::string advice = advice_on_shortage(error_number);
  require<EnvironmentError>(advice.empty(), who, " (", std::strerror(error_number), "). ", advice);
}

namespace fs = std::filesystem;

namespace {

constexpr std::size_t letters_of_temporary = 6;
constexpr std::string_view ending_of_temporary = ".tmp";
constexpr std::size_t longest_name = 255;  // NAME_MAX of Linux

[[noreturn]] void fail_to_write(const fs::path& path, int code) {
  throw_if_shortage(message("file: path=", path.string()), code);
  throw InvalidArgument(message("file: path=", path.string(), " (cannot be written: ", std::strerror(code),
                                "). Choose a place you may write to."));
}

/// 0, or the error number.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

/// A name beside `path` that nobody can guess.
fs::path unique_name(const fs::path& path) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  std::array<unsigned char, letters_of_temporary> random{};
  [[maybe_unused]] const ::ssize_t drawn = ::getrandom(random.data(), random.size(), 0);
  std::string name =
      path.filename().string().substr(0, longest_name - 1 - letters_of_temporary - ending_of_temporary.size());
  name += '.';
  for (const unsigned char number : random) name += letters[number % letters.size()];
  return path.parent_path() / name.append(ending_of_temporary);
}

bool is_unique_name(const std::string& name) {
  constexpr std::size_t added = 1 + letters_of_temporary + ending_of_temporary.size();
  return name.size() > added && name.ends_with(ending_of_temporary) && name[name.size() - added] == '.';
}

/// Whether a symbolic link is one of /proc, which stands for an open file and has no path to follow.
bool is_of_proc(const fs::path& link) {
  struct statfs system {};
  const fs::path folder = link.has_parent_path() ? link.parent_path() : fs::path(".");
  return ::statfs(folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/// The number of an open descriptor of this process that a link of /proc stands for, else -1.
int own_descriptor(const fs::path& link) {
  std::error_code unknown;
  const fs::path folder = fs::canonical(link.parent_path(), unknown);
  const bool ours = !unknown && folder == fs::path("/proc") / std::to_string(::getpid()) / "fd";
  return ours ? number_of<int>(link.filename().string()).value_or(-1) : -1;
}

/// Where a path leads: symbolic links are followed up to what is none, or to one of /proc.
struct Target {
  fs::path path;
  bool is_link_of_proc = false;
};

Target target_of(fs::path path) {
  constexpr int most_links = 40;  // as many as the kernel follows
  for (int followed = 0; followed < most_links; ++followed) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISLNK(found.st_mode)) return {.path = path};
    if (is_of_proc(path)) return {.path = path, .is_link_of_proc = true};
    std::error_code failure;
    const fs::path next = fs::read_symlink(path, failure);
    if (failure) fail_to_write(path, failure.value());
    path = path.parent_path() / next;  // an absolute one replaces it all
  }
  fail_to_write(path, ELOOP);
}

/// Into what is there: a device, a pipe, an open file.
void write_into(const Target& target, std::span<const std::byte> bytes) {
  const int own = target.is_link_of_proc ? own_descriptor(target.path) : -1;
  if (own >= 0) std::cout.flush();  // before it, what was printed there
  const Descriptor file(own >= 0 ? ::fcntl(own, F_DUPFD_CLOEXEC, 0)
                                 : ::open(target.path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
  if (file.number() < 0) fail_to_write(target.path, errno);
  if (const int code = write_all(file.number(), bytes); code != 0) fail_to_write(target.path, code);
}

struct stat status_of(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  return status;
}

/// The mode of what has this name, which is never 0; 0 for nothing.
::mode_t mode_of(const fs::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode : 0;
}

using Take = std::function<void(std::span<const std::byte>)>;

void read_pieces(int descriptor, const std::string& who, const Take& take) {
  constexpr std::size_t most_of_device = std::size_t{1} << 26, most_of_pipe = std::size_t{1} << 30;
  const struct stat status = status_of(descriptor);
  require<DataError>(!S_ISDIR(status.st_mode), who, " (is a folder). Name a file.");
  const std::size_t most = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? most_of_device : most_of_pipe;
  std::size_t read = 0;
  std::array<std::byte, 1 << 16> block;
  for (;;) {
    const ::ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    require<DataError>(count >= 0, who, " (reading failed: ", std::strerror(errno), "). Check the disk.");
    if (count == 0) return;
    take(std::span(block.data(), static_cast<std::size_t>(count)));
    read += static_cast<std::size_t>(count);
    require<DataError>(S_ISREG(status.st_mode) || read <= most, who, " (has no end: ", read,
                       " bytes were read). Name a regular file.");
  }
}

std::string read_all(int descriptor, const std::string& who) {
  std::string bytes;
  const struct stat status = status_of(descriptor);
  if (S_ISREG(status.st_mode)) bytes.reserve(static_cast<std::size_t>(status.st_size));
  read_pieces(descriptor, who, [&bytes](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

/// Throws DataError when there is no such file.
Descriptor opened(const fs::path& path, const std::string& who) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  const int code = errno;
  if (descriptor < 0) throw_if_shortage(who, code);
  require<DataError>(descriptor >= 0, who, " (cannot be read: ", std::strerror(code), "). Check the name.");
  return Descriptor(descriptor);
}

/// A log to add lines to, in a folder that is made if needed.
int opened_log(const fs::path& path) {
  if (path.has_parent_path()) make_folder(path.parent_path());
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_to_write(path, errno);
  return descriptor;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string read_file(const fs::path& path) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input: bytes");
  const std::string who = message("file: path=", path.string());
  return read_all(opened(path, who).number(), who);
}

void read_file_in_pieces(const fs::path& path, const Take& take) {
  const std::string who = message("file: path=", path.string());
  read_pieces(opened(path, who).number(), who, take);
}

bool is_there(const fs::path& path) { return mode_of(path) != 0; }

bool is_folder(const fs::path& path) { return S_ISDIR(mode_of(path)); }

bool is_file(const fs::path& path) { return S_ISREG(mode_of(path)); }

fs::path temporary_name(const fs::path& path) { return path.string() + ".tmp"; }

void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_unique_name(entry.path().filename().string()) && entry.is_regular_file(ignored))
      fs::remove(entry.path(), ignored);
  }
}

void make_folder(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  int code = failure.value();
  if (code == 0 && ::access(path.c_str(), W_OK) != 0) code = errno;
  if (code == 0 && !is_folder(path)) code = ENOTDIR;
  if (code == 0) return;
  throw_if_shortage(message("folder: path=", path.string()), code);
  throw InvalidArgument(message("folder: path=", path.string(), " (cannot be made or written: ", std::strerror(code),
                                "). Choose a folder you may write to."));
}

struct NewFile::State {
  fs::path path, temporary = unique_name(path);
  ForcedEnd forced{[this] { ::unlink(temporary.c_str()); }};
  Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)};
  bool finished = false;
};

NewFile::NewFile(fs::path path) : state_(new State{.path = std::move(path)}) {
  if (state_->file.number() < 0) fail_to_write(state_->path, errno);
}

NewFile::~NewFile() {
  if (!state_->finished) ::unlink(state_->temporary.c_str());
}

void NewFile::append(std::span<const std::byte> bytes) {
  if (const int code = write_all(state_->file.number(), bytes); code != 0) fail_to_write(state_->path, code);
}

void NewFile::finish() {
  struct stat replaced {};
  const int file = state_->file.number();
  if (::stat(state_->path.c_str(), &replaced) == 0) ::fchmod(file, replaced.st_mode & 0777);
  if (::fsync(file) != 0 || ::rename(state_->temporary.c_str(), state_->path.c_str()) != 0)
    fail_to_write(state_->path, errno);
  state_->finished = true;
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  if (path == "-") {
    std::cout.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())).flush();
    require<EnvironmentError>(std::cout.good(), "standard output: bytes=", bytes.size(),
                              " (could not be written). Check where it goes.");
    return;
  }
  if (path.has_parent_path() && !is_folder(path.parent_path())) make_folder(path.parent_path());
  const Target target = target_of(path);
  struct stat found {};
  const bool there = ::stat(target.path.c_str(), &found) == 0;
  if (!there && errno != ENOENT) fail_to_write(path, errno);
  if (there && S_ISDIR(found.st_mode)) fail_to_write(path, EISDIR);
  if (there && (target.is_link_of_proc || !S_ISREG(found.st_mode))) return write_into(target, bytes);
  NewFile file(target.path);
  file.append(bytes);
  file.finish();
}

void write_file(const fs::path& path, std::string_view text) { write_file(path, std::as_bytes(std::span(text))); }

LineLog::LineLog(const fs::path& path) : path_(path), descriptor_(opened_log(path)) {
  require(S_ISREG(status_of(descriptor_.number()).st_mode), "log: path=", path.string(),
          " (is no regular file). Remove it, or choose another folder.");
  const std::string text = read_file(path);
  const std::size_t complete = text.rfind('\n') + 1;  // 0 where there is no line
  if (complete != text.size() && ::ftruncate(descriptor_.number(), static_cast<::off_t>(complete)) != 0)
    fail_to_write(path, errno);
}

void LineLog::append(std::string_view line) {
  require<EnvironmentError>(status_of(descriptor_.number()).st_nlink > 0, "log: path=", path_.string(),
                            " (was removed while it was written). Run the command again.");
  const std::string whole = std::string(line) + '\n';
  const int code = write_all(descriptor_.number(), std::as_bytes(std::span(whole)));
  throw_if_shortage(message("log: path=", path_.string()), code);
  require<EnvironmentError>(code == 0, "log: path=", path_.string(), " (writing failed: ", std::strerror(code),
                            "). Free some space.");
}

FolderLock::FolderLock(const std::filesystem::path& folder, const std::string& who)
    : folder_(folder), who_(who), descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const int code = errno;
  const std::string where = message(who, ": folder=", folder.string());
  if (descriptor_.number() < 0) throw_if_shortage(where, code);
  require(descriptor_.number() >= 0, where, " (cannot be opened: ", std::strerror(code),
          "). Name a folder that is there.");
  // A file system without locks gives another error; there is nothing to hold then.
  const bool taken = ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  require(!taken, where, " (another process is at this work). Wait for it, or choose another path.");
  remove_leftovers(folder);
}

void FolderLock::require_there() const {
  struct stat held {
  }, found{};
  const bool same = ::fstat(descriptor_.number(), &held) == 0 && ::stat(folder_.c_str(), &found) == 0 &&
                    held.st_dev == found.st_dev && held.st_ino == found.st_ino;
  require<EnvironmentError>(same, who_, ": folder=", folder_.string(),
                            " (was removed or replaced while the work went on). Run the command again.");
}

}  // namespace opshap
