#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace opshap::data {

/// The number of IEEE 754 binary16, as a float32 that holds it exactly.
float from_half(std::uint16_t bits);

/// A named array with one row per sample (or per grid point), as stored in HDF5.
struct Column {
  using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint8_t>,
                              std::vector<std::uint32_t>, std::vector<std::int32_t>, std::vector<std::int64_t>>;

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

/// An HDF5 file that another program wrote, on the disk. It is read part by part, so that it may be larger than the
/// memory.
///
/// Compressed arrays are read when they have a filter of the HDF5 library itself or LZF (data/hdf5.hpp). All functions
/// throw DataError, naming the file, for what is damaged, has another type than is asked for, or is not there. Not
/// thread-safe, as the HDF5 library.
class Hdf5Source {
 public:
  /// Throws DataError for a file that is missing, no HDF5 file, or cut off.
  explicit Hdf5Source(const std::filesystem::path& path);
  ~Hdf5Source();
  Hdf5Source(const Hdf5Source&) = delete;
  Hdf5Source& operator=(const Hdf5Source&) = delete;

  const std::string& name() const { return name_; }
  /// Names in the root group, sorted by their letters.
  std::vector<std::string> members() const;
  /// Whether there is an array of that path.
  bool has_array(const std::string& path) const;
  /// Whether an array holds floating-point numbers.
  bool holds_reals(const std::string& path) const;
  /// Sizes of the axes of an array of numbers whose filters are known.
  std::vector<std::int64_t> sizes(const std::string& path) const;
  /// The same of an array of floating-point numbers.
  std::vector<std::int64_t> shape(const std::string& path) const;
  /// The block of an array that begins at `start` and has `count` entries on each axis, appended to `values`. Numbers
  /// of another precision are rounded to float.
  void read(const std::string& path, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count,
            std::vector<float>& values) const;
  /// The same of whole numbers.
  void read(const std::string& path, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count,
            std::vector<std::int64_t>& values) const;
  /// All values of a small array. A float32 becomes the shortest decimal that it is nearest to: 0.3 instead of
  /// 0.300000012.
  std::vector<double> numbers(const std::string& path) const;
  /// An attribute of a group or array; nothing when there is none, or it is no finite number. Texts are left alone: the
  /// library runs in circles or crashes on a damaged heap of texts.
  std::optional<double> number_attribute(const std::string& object, const std::string& attribute) const;

 private:
  /// Runs `work`, and tells failures of the library as those of this file.
  template <typename Work>
  auto guarded(const std::string& object, const Work& work) const;
  template <typename Number>
  void read_block(const std::string& path, const std::vector<std::int64_t>& start,
                  const std::vector<std::int64_t>& count, std::int64_t type, std::vector<Number>& values) const;

  std::string name_;
  std::int64_t file_ = -1;
};

}  // namespace opshap::data
