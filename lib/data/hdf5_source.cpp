#include "data/hdf5_source.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/hdf5_handle.hpp"
#include "data/lzf.hpp"

namespace opshap::data {

namespace {

std::vector<hsize_t> extents(hid_t array, const std::string& path) {
  const Handle space(H5Dget_space(array), H5Sclose, path);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), path);
  return sizes;
}

/// Bytes of a decompressed chunk, 0 for an array without chunks.
std::size_t bytes_of_chunk(hid_t layout, hid_t type) {
  std::vector<hsize_t> chunk(H5S_MAX_RANK);
  const int axes = H5Pget_layout(layout) == H5D_CHUNKED ? H5Pget_chunk(layout, H5S_MAX_RANK, chunk.data()) : 0;
  std::size_t bytes = axes > 0 ? H5Tget_size(type) : 0;
  for (int axis = 0; axis < axes; ++axis) bytes *= chunk[static_cast<std::size_t>(axis)];
  return bytes;
}

/// What of the filters keeps an array from being read, as a part of a sentence; empty for none. An LZF filter must
/// announce chunks of the array's own size: the library reads the decompressed chunk without a look at its length.
std::string unreadable_filter(hid_t layout, hid_t type) {
  const int filters = H5Pget_nfilters(layout);
  for (int i = 0; i < filters; ++i) {
    std::size_t count = 8;
    unsigned values[8] = {}, flags = 0, config = 0;
    char name[64] = {};
    const H5Z_filter_t filter =
        H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &count, values, sizeof name, name, &config);
    if (H5Zfilter_avail(filter) <= 0)
      return message("is compressed by filter number ", filter, " (", name, "), which is not known");
    if (filter == lzf_filter && (count < 3 || values[2] != bytes_of_chunk(layout, type)))
      return "has LZF chunks of another size than its own";
  }
  return "";
}

/// The number that has the fewest digits of all that are rounded to this float.
double shortest(float value) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  double number = value;
  std::from_chars(digits, written.ptr, number);
  return number;
}

/// Whether another program holds the lock that HDF5 takes while it writes.
bool is_locked(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

}  // namespace

template <typename Work>
auto Hdf5Source::guarded(const std::string& object, const Work& work) const try {
  return work();
} catch (const DataError&) {
  throw DataError(message("hdf5: file=", name_, ", object=", object,
                          " (cannot be read: it is missing, damaged or of another kind). Get the file again."));
}

Hdf5Source::Hdf5Source(const std::filesystem::path& path) : name_(path.string()) {
  silence();
  register_lzf();
  require<DataError>(is_file(path), "hdf5: file=", name_, " (is not a file). Name the file to read.");
  require<DataError>(std::ifstream(path).good(), "hdf5: file=", name_,
                     " (cannot be opened). Check that you may read it.");
  require<DataError>(H5Fis_hdf5(name_.c_str()) > 0, "hdf5: file=", name_,
                     " (is not an HDF5 file, whatever its name says). Get the file again.");
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, name_);
  check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), name_);
  file_ = H5Fopen(name_.c_str(), H5F_ACC_RDONLY, access);
  require<DataError>(file_ >= 0 || !is_locked(path), "hdf5: file=", name_,
                     " (another program has it open for writing). Wait until that has closed it.");
  require<DataError>(file_ >= 0, "hdf5: file=", name_, " (is cut off or damaged). Get the file again.");
}

Hdf5Source::~Hdf5Source() { H5Fclose(file_); }

std::vector<std::string> Hdf5Source::members() const {
  return guarded("/", [&] {
    std::vector<std::string> names;
    const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* found) -> herr_t {
      static_cast<std::vector<std::string>*>(found)->push_back(name);
      return 0;
    };
    check(H5Literate(file_, H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &names), name_);
    std::sort(names.begin(), names.end());
    return names;
  });
}

bool Hdf5Source::has_array(const std::string& path) const {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (H5Lexists(file_, path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  if (H5Lexists(file_, path.c_str(), H5P_DEFAULT) <= 0) return false;
  const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT);
  const bool array = object >= 0 && H5Iget_type(object) == H5I_DATASET;
  if (object >= 0) H5Oclose(object);
  return array;
}

std::vector<std::int64_t> Hdf5Source::shape(const std::string& path) const {
  std::string unreadable;
  bool reals = false;
  const auto sizes = guarded(path, [&] {
    const Handle array(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const Handle type(H5Dget_type(array), H5Tclose, path), layout(H5Dget_create_plist(array), H5Pclose, path);
    reals = H5Tget_class(type) == H5T_FLOAT;
    unreadable = unreadable_filter(layout, type);
    return extents(array, path);
  });
  require<DataError>(reals, "hdf5: file=", name_, ", object=", path,
                     " (does not hold floating-point numbers). Get the file again.");
  require<DataError>(unreadable.empty(), "hdf5: file=", name_, ", object=", path, " (", unreadable,
                     "). Write the file again without it, for example with `h5repack -f NONE`.");
  return {sizes.begin(), sizes.end()};
}

void Hdf5Source::read(const std::string& path, const std::vector<std::int64_t>& start,
                      const std::vector<std::int64_t>& count, std::vector<float>& values) const {
  guarded(path, [&] {
    const Handle array(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const Handle space(H5Dget_space(array), H5Sclose, path);
    const std::vector<hsize_t> from(start.begin(), start.end()), sizes(count.begin(), count.end());
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), nullptr, sizes.data(), nullptr), path);
    hsize_t size = 1;
    for (const hsize_t entries : sizes) size *= entries;
    const Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose, path);
    const std::size_t held = values.size();
    values.resize(held + size);
    check(H5Dread(array, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values.data() + held), path);
  });
}

std::vector<double> Hdf5Source::numbers(const std::string& path) const {
  const std::vector<std::int64_t> sizes = shape(path);
  std::int64_t size = 1;
  for (const std::int64_t entries : sizes) {
    require<DataError>(entries <= (1 << 24) && size <= (1 << 24), "hdf5: file=", name_, ", object=", path,
                       " (has too many entries for coordinates). Get the file again.");
    size *= entries;
  }
  const auto read = [&] {
    const Handle array(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const Handle type(H5Dget_type(array), H5Tclose, path);
    std::vector<double> values(static_cast<std::size_t>(size));
    check(H5Dread(array, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
    if (H5Tget_size(type) == sizeof(float)) {
      for (double& value : values) value = shortest(static_cast<float>(value));
    }
    return values;
  };
  std::vector<double> values = guarded(path, read);
  const bool finite = std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  require<DataError>(finite, "hdf5: file=", name_, ", object=", path,
                     " (holds values that are not finite). Get the file again.");
  return values;
}

std::optional<double> Hdf5Source::number_attribute(const std::string& object, const std::string& attribute) const {
  return guarded(object, [&]() -> std::optional<double> {
    const Handle owner(H5Oopen(file_, object.c_str(), H5P_DEFAULT), H5Oclose, object);
    if (H5Aexists(owner, attribute.c_str()) <= 0) return std::nullopt;
    const Handle held(H5Aopen(owner, attribute.c_str(), H5P_DEFAULT), H5Aclose, attribute);
    const Handle type(H5Aget_type(held), H5Tclose, attribute), space(H5Aget_space(held), H5Sclose, attribute);
    const H5T_class_t kind = H5Tget_class(type);
    if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || H5Sget_simple_extent_npoints(space) != 1) return std::nullopt;
    double value = 0;
    check(H5Aread(held, H5T_NATIVE_DOUBLE, &value), attribute);
    if (!std::isfinite(value)) return std::nullopt;
    return kind == H5T_FLOAT && H5Tget_size(type) == sizeof(float) ? shortest(static_cast<float>(value)) : value;
  });
}

}  // namespace opshap::data
