#include "core/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <system_error>

#include "core/error.hpp"

namespace opshap {

namespace fs = std::filesystem;

namespace {

/// Closes on scope exit, and removes the temporary file unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& temporary, int flags)
      : path_(temporary), descriptor_(::open(temporary.c_str(), flags | O_CLOEXEC, 0644)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  int descriptor() const { return descriptor_; }
  void rename_to(const fs::path& path) {
    if (::fsync(descriptor_) != 0 || ::rename(path_.c_str(), path.c_str()) != 0) fail(path, errno);
    renamed_ = true;
  }
  [[noreturn]] static void fail(const fs::path& path, int code) {
    if (code == ENOSPC || code == EDQUOT || code == EIO) {
      throw EnvironmentError(message("file: path=", path.string(), " (", std::strerror(code),
                                     "). Free some space or choose another folder; nothing was written."));
    }
    throw InvalidArgument(message("file: path=", path.string(), " (cannot be written: ", std::strerror(code),
                                  "). Choose a folder you may write to."));
  }

 private:
  fs::path path_;
  int descriptor_;
  bool renamed_ = false;
};

}  // namespace

std::string read_file(const fs::path& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  require<DataError>(!fs::is_directory(path), "file: path=", path.string(), " (is a folder). Name a file.");
  std::ifstream in(path, std::ios::binary);
  require<DataError>(in.is_open(), "file: path=", path.string(), " (cannot be read: ", std::strerror(errno),
                     "). Check the name.");
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  require<DataError>(!in.bad(), "file: path=", path.string(), " (reading failed). Check the disk.");
  return bytes;
}

fs::path temporary_name(const fs::path& path) {
  fs::path temporary = path;
  temporary += ".tmp";
  return temporary;
}

void make_folder(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure.value() == ENOSPC) TemporaryFile::fail(path, ENOSPC);
  require(!failure && ::access(path.c_str(), W_OK) == 0, "folder: path=", path.string(),
          " (cannot be made or written: ", failure ? failure.message() : std::strerror(errno),
          "). Choose a folder you may write to.");
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  if (path == "-") {
    std::cout.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())).flush();
    require<EnvironmentError>(std::cout.good(), "standard output: bytes=", bytes.size(),
                              " (could not be written). Check where it goes.");
    return;
  }
  if (path.has_parent_path()) make_folder(path.parent_path());
  TemporaryFile file(temporary_name(path), O_WRONLY | O_CREAT | O_TRUNC);
  if (file.descriptor() < 0) TemporaryFile::fail(path, errno);
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) TemporaryFile::fail(path, errno);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  file.rename_to(path);
}

void write_file(const fs::path& path, std::string_view text) { write_file(path, std::as_bytes(std::span(text))); }

LineLog::LineLog(const fs::path& path) : path_(path) {
  if (path.has_parent_path()) make_folder(path.parent_path());
  if (fs::exists(path)) {
    const std::string text = read_file(path);
    const std::size_t complete = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    if (complete != text.size()) fs::resize_file(path, complete);
  }
  out_.open(path, std::ios::app | std::ios::binary);
  require(out_.is_open(), "log: path=", path.string(), " (cannot be written: ", std::strerror(errno),
          "). Choose a folder you may write to.");
}

void LineLog::append(std::string_view line) {
  out_ << line << '\n' << std::flush;
  require<EnvironmentError>(out_.good(), "log: path=", path_.string(),
                            " (writing failed; the disk may be full). Free some space.");
}

}  // namespace opshap
