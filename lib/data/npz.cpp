#include "data/npz.hpp"

#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "core/error.hpp"

namespace opshap::data {

namespace {

constexpr std::string_view ending = ".npy";

/// The archive in memory. Throws DataError with the library's reason.
zip_t* opened(const std::string& bytes, const std::string& name) {
  zip_error_t error;
  zip_error_init(&error);
  zip_t* archive = nullptr;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source != nullptr) archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  if (source != nullptr && archive == nullptr) zip_source_free(source);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  require<DataError>(archive != nullptr, "npz: file=", name, " (", why, "). Write it again with numpy.savez.");
  return archive;
}

}  // namespace

NpzFile::NpzFile(std::string bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)), archive_(opened(bytes_, name_), &zip_discard) {}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (zip_int64_t entry = 0; entry < zip_get_num_entries(archive_.get(), 0); ++entry) {
    const char* text = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(entry), 0);
    const std::string_view member = text == nullptr ? "" : text;
    if (member.ends_with(ending)) names.emplace_back(member.substr(0, member.size() - ending.size()));
  }
  return names;
}

bool NpzFile::contains(const std::string& array) const {
  const std::vector<std::string> all = names();
  return std::ranges::find(all, array) != all.end();
}

NpyArray NpzFile::array(const std::string& array) const {
  const std::string member = array + std::string(ending), who = name_ + ", array=" + array;
  zip_stat_t found;
  const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  const bool known = zip_stat(archive_.get(), member.c_str(), 0, &found) == 0 && (found.valid & needed) == needed;
  require<DataError>(known, "npz: file=", who, " (is not there). Write it with numpy.savez.");
  require(found.comp_method == ZIP_CM_STORE || found.comp_method == ZIP_CM_DEFLATE, "npz: file=", who,
          ", compression=", found.comp_method,
          " (stored and deflated members are read). Write it with numpy.savez or numpy.savez_compressed.");
  // Deflate makes at most 1032 bytes of one: a larger size is a lie, and would be allocated.
  const bool possible = found.comp_size <= bytes_.size() && found.size / 1032 <= found.comp_size;
  require<DataError>(possible, "npz: file=", who, ", bytes=", found.size, " (more than ", found.comp_size,
                     " compressed bytes can hold). Write the file again.");

  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen(archive_.get(), member.c_str(), 0),
                                                               &zip_fclose);
  require<DataError>(file != nullptr, "npz: file=", who, " (", zip_strerror(archive_.get()),
                     "). Write it again with numpy.savez.");
  std::string content(found.size, '\0');
  std::size_t filled = 0;
  zip_int64_t got = 0;
  while (filled < content.size() && (got = zip_fread(file.get(), content.data() + filled, content.size() - filled)) > 0)
    filled += static_cast<std::size_t>(got);
  char more = 0;
  got = zip_fread(file.get(), &more, 1);  // the library compares checksums at the end of the member
  require<DataError>(filled == content.size() && got == 0, "npz: file=", who,
                     " (is damaged: its size or checksum is not what the archive says). Write the file again.");
  return parse_npy(std::as_bytes(std::span(content)), who);
}

std::string format_npz(const std::vector<std::pair<std::string, NpyArray>>& arrays) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* archive = memory == nullptr ? nullptr : zip_open_from_source(memory, ZIP_TRUNCATE, &error);
  require<EnvironmentError>(archive != nullptr, "npz: memory (", zip_error_strerror(&error), "). Free some.");
  zip_source_keep(memory);  // closing the archive lets go of it, and its bytes are read after that
  std::vector<std::string> contents;
  contents.reserve(arrays.size());
  bool good = true;
  for (const auto& [name, array] : arrays) {
    const std::string& bytes = contents.emplace_back(format_npy(array));
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const std::string member = name + std::string(ending);
    const zip_int64_t index = source == nullptr ? -1 : zip_file_add(archive, member.c_str(), source, ZIP_FL_ENC_UTF_8);
    good = good && index >= 0 &&
           zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_mtime(archive, static_cast<zip_uint64_t>(index), 315619200, 0) == 0;  // 1980, for equal bytes
  }
  good = zip_close(archive) == 0 && good;
  std::string bytes;
  zip_stat_t size;
  if (good && zip_source_stat(memory, &size) == 0 && zip_source_open(memory) == 0) {
    bytes.resize(size.size);
    good = zip_source_read(memory, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
    zip_source_close(memory);
  }
  zip_source_free(memory);
  require<EnvironmentError>(good && !bytes.empty(), "npz: archive (cannot be made in memory). Free some.");
  return bytes;
}

}  // namespace opshap::data
