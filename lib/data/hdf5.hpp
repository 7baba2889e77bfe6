#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace opshap::data {

/// A named array with one row per sample (or per grid point), as stored in HDF5.
struct Column {
  using Values =
      std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint8_t>, std::vector<std::uint32_t>>;

  std::string name;                 ///< HDF5 path: "/u0", "/params/family"
  std::vector<std::int64_t> shape;  ///< rows first; every size >= 1
  Values values;

  std::int64_t row_size() const;
  /// Adds the rows of another column of the same name, type and row shape.
  void append(const Column& more);
};

/// The bytes of an HDF5 file with these columns, and metadata in two forms: the JSON text whole in the root attribute
/// `metadata`, and each of its entries as a root attribute of its own for HDF5 viewers.
///
/// The bytes depend on the arguments alone: no times, no addresses. They start with a user block of 512 bytes (HDF5
/// readers skip it) that names the format and holds the xxh64 of everything behind it. Chunks of up to 256 kB with
/// Fletcher-32 checksums. Throws EnvironmentError when memory ends. Not thread-safe, as the HDF5 library.
std::string hdf5_bytes(const std::vector<Column>& columns, const std::string& metadata);

/// A file made by hdf5_bytes(), checked against its seal before the HDF5 library sees it: a damaged file cannot crash
/// it.
///
/// Throws DataError for bytes that are not such a file, are cut off, or have changed. Not thread-safe, as the HDF5
/// library.
class Hdf5Contents {
 public:
  /// `name` is the file's, for messages.
  Hdf5Contents(std::string bytes, std::string name);
  ~Hdf5Contents();
  Hdf5Contents(const Hdf5Contents&) = delete;
  Hdf5Contents& operator=(const Hdf5Contents&) = delete;

  const std::string& name() const { return name_; }
  std::string metadata() const;
  /// Paths of all columns, sorted.
  std::vector<std::string> columns() const;
  /// Throws DataError when there is no such column.
  Column column(const std::string& path) const;

 private:
  std::string name_;
  std::string bytes_;
  std::int64_t file_ = -1;
};

/// True when the bytes start as a file of hdf5_bytes() does, damaged or not.
bool is_sealed(std::string_view bytes);
/// Empty when the bytes behind the seal are those it was made for; else what is wrong, as a part of a sentence.
std::string broken_seal(std::string_view bytes);

}  // namespace opshap::data
