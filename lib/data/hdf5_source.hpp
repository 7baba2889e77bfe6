#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace opshap::data {

/// An HDF5 file that another program wrote, on the disk. It is read part by part, so that it may be larger than the
/// memory.
///
/// Compressed arrays are read when they have a filter of the HDF5 library itself or LZF (data/lzf.hpp). All functions
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
  /// Sizes of the axes of an array of floating-point numbers whose filters are known.
  std::vector<std::int64_t> shape(const std::string& path) const;
  /// The block of an array that begins at `start` and has `count` entries on each axis, appended to `values`. Numbers
  /// of another precision are rounded to float.
  void read(const std::string& path, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count,
            std::vector<float>& values) const;
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

  std::string name_;
  std::int64_t file_ = -1;
};

}  // namespace opshap::data
