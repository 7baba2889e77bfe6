#include "data/hdf5.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <lzf.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::data {

namespace {

/// Throws DataError, naming `what`, for a negative status or identifier.
void check(std::int64_t status, std::string_view what) {
  require<DataError>(status >= 0, "hdf5: object=", what, " (the HDF5 library failed on it).");
}

/// An HDF5 identifier, closed by the function of its kind. Throws DataError, naming `what`, for one that the library
/// did not give.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), std::string_view what) : id_(id), close_(close) { check(id, what); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// The library prints a stack of messages for each error. After this call it prints none: ours go through exceptions.
void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// The number under which the HDF5 Group registered the filter LZF of h5py.
constexpr int lzf_filter = 32000;

/// The library's interface of a filter: the bytes of the new buffer, or 0 for a failure, after which the old one stays.
std::size_t decompress(unsigned flags, std::size_t values, const unsigned* value, std::size_t bytes,
                       std::size_t* capacity, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0 || values < 3 || value[2] == 0) return 0;
  const unsigned size = value[2];
  void* chunk = H5allocate_memory(size, false);
  if (chunk == nullptr) return 0;
  if (lzf_decompress(*buffer, static_cast<unsigned>(bytes), chunk, size) != size) {
    H5free_memory(chunk);
    return 0;
  }
  H5free_memory(*buffer);
  *buffer = chunk;
  *capacity = size;
  return size;
}

/// Lets the HDF5 library decompress chunks of the filter LZF, by liblzf. It compresses none. May be called again.
///
/// The filter has three client values: its revision, the version of liblzf, and the bytes of a decompressed chunk. A
/// chunk that LZF would not make smaller is stored as it is. The library does not call the filter for such a chunk.
void register_lzf() {
  static constexpr H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                          .id = lzf_filter,
                                          .encoder_present = 0,
                                          .decoder_present = 1,
                                          .name = "lzf",
                                          .filter = decompress};
  check(H5Zregister(&filter), "filter lzf");
}

constexpr std::size_t seal_bytes = 512;  // the smallest user block that HDF5 allows
constexpr std::string_view seal_start = "opshap sealed hdf5 1\n";
constexpr std::int64_t chunk_bytes = 256 * 1024;

hid_t memory_type(const Column::Values& values) {
  constexpr auto type = [](const auto& held) -> hid_t {
    using T = typename std::decay_t<decltype(held)>::value_type;
    if constexpr (std::is_same_v<T, float>) return H5T_IEEE_F32LE;
    if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
    if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_STD_U8LE;
    if constexpr (std::is_same_v<T, std::uint32_t>) return H5T_STD_U32LE;
    if constexpr (std::is_same_v<T, std::int32_t>) return H5T_STD_I32LE;
    return H5T_STD_I64LE;
  };
  return std::visit(type, values);
}

std::int64_t element_size(const Column::Values& values) {
  return std::visit([](const auto& held) { return static_cast<std::int64_t>(sizeof(held[0])); }, values);
}

const void* data(const Column::Values& values) {
  return std::visit([](const auto& held) -> const void* { return held.data(); }, values);
}

std::vector<hsize_t> sizes(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }

void write_column(hid_t file, const Column& column) {
  const Handle space(H5Screate_simple(static_cast<int>(column.shape.size()), sizes(column.shape).data(), nullptr),
                     H5Sclose, column.name);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, column.name);
  check(H5Pset_create_intermediate_group(links, 1), column.name);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, column.name);
  std::vector<hsize_t> chunk = sizes(column.shape);
  chunk[0] = static_cast<hsize_t>(
      std::clamp<std::int64_t>(chunk_bytes / (column.row_size() * element_size(column.values)), 1, column.shape[0]));
  check(H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()), column.name);
  check(H5Pset_fletcher32(layout), column.name);
  check(H5Pset_obj_track_times(layout, false), column.name);
  const hid_t type = memory_type(column.values);
  const Handle dataset(H5Dcreate2(file, column.name.c_str(), type, space, links, layout, H5P_DEFAULT), H5Dclose,
                       column.name);
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data(column.values)), column.name);
}

void write_attribute(hid_t file, const std::string& name, hid_t stored, hid_t in_memory, std::size_t count,
                     const void* values) {
  const hsize_t size = count;
  const Handle space(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose, name);
  const Handle attribute(H5Acreate2(file, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  check(H5Awrite(attribute, in_memory, values), name);
}

void write_text(hid_t file, const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name);
  check(H5Tset_size(type, H5T_VARIABLE), name);
  check(H5Tset_cset(type, H5T_CSET_UTF8), name);
  const char* start = text.c_str();
  write_attribute(file, name, type, type, 1, &start);
}

void write_metadata(hid_t file, const std::string& metadata) {
  write_text(file, "metadata", metadata);
  const auto entries = nlohmann::ordered_json::parse(metadata);
  for (const auto& [name, value] : entries.items()) {
    if (value.is_number_integer()) {
      const auto number = value.get<std::uint64_t>();
      write_attribute(file, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, 1, &number);
    } else if (value.is_number_float()) {
      const auto number = value.get<double>();
      write_attribute(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &number);
    } else {
      write_text(file, name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

std::string seal(std::string_view contents) {
  std::string block = message(seal_start, "xxh64 ", xxh64(contents), "\nbytes ", contents.size(), "\n");
  block.resize(seal_bytes, '\0');
  return block;
}

/// The library keeps the file in memory: what reaches the disk is written by core/file.hpp, which knows what a full
/// disk is.
Handle memory_access() {
  silence();
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0) {
    H5Pset_fapl_core(access, 1 << 20, false);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  }
  return {access, H5Pclose, "memory"};
}

std::vector<hsize_t> extents(hid_t array, const std::string& path) {
  const Handle space(H5Dget_space(array), H5Sclose, path);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), path);
  return sizes;
}

}  // namespace

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1F)
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
}

std::int64_t Column::row_size() const {
  return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies{});
}

void Column::append(const Column& more) {
  require<DataError>(name == more.name && values.index() == more.values.index() &&
                         std::equal(shape.begin() + 1, shape.end(), more.shape.begin() + 1, more.shape.end()),
                     "hdf5: column=", more.name, " (does not continue ", name, "). Remove the file and make it again.");
  std::visit(
      [&](auto& held) {
        const auto& added = std::get<std::decay_t<decltype(held)>>(more.values);
        held.insert(held.end(), added.begin(), added.end());
      },
      values);
  shape[0] += more.shape[0];
}

std::string hdf5_bytes(const std::vector<Column>& columns, const std::string& metadata) try {
  const Handle access = memory_access();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "file");
  check(H5Pset_userblock(creation, seal_bytes), "user block");
  check(H5Pset_obj_track_times(creation, false), "file");
  const Handle file(H5Fcreate("opshap.h5", H5F_ACC_TRUNC, creation, access), H5Fclose, "file");
  for (const Column& column : columns) write_column(file, column);
  write_metadata(file, metadata);
  check(H5Fflush(file, H5F_SCOPE_GLOBAL), "file");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  check(size > 0 ? 0 : -1, "file");
  // The image is the file without its user block.
  std::string bytes(seal_bytes + static_cast<std::size_t>(size), '\0');
  check(H5Fget_file_image(file, bytes.data() + seal_bytes, static_cast<std::size_t>(size)) == size ? 0 : -1, "file");
  bytes.replace(0, seal_bytes, seal(std::string_view(bytes).substr(seal_bytes)));
  return bytes;
} catch (const DataError& error) {
  throw EnvironmentError(message(error.what(), " It was being made in memory, which may have ended."));
}

bool is_sealed(std::string_view bytes) { return bytes.starts_with(seal_start); }

std::string broken_seal(std::string_view bytes) {
  if (!is_sealed(bytes)) return "is not a file of opshap";
  if (bytes.size() < seal_bytes) return "is cut off in its first block";
  if (bytes.substr(0, seal_bytes) == seal(bytes.substr(seal_bytes))) return "";
  const std::string size_line = message("\nbytes ", bytes.size() - seal_bytes, "\n");
  return bytes.substr(0, seal_bytes).find(size_line) == std::string_view::npos
             ? "has another length than when it was written"
             : "does not match its checksum";
}

Hdf5Contents::Hdf5Contents(std::string bytes, std::string name) : name_(std::move(name)), bytes_(std::move(bytes)) {
  const std::string broken = broken_seal(bytes_);
  require<DataError>(broken.empty(), "hdf5: file=", name_, " (", broken, "). Make it again.");
  const Handle access = memory_access();
  check(H5Pset_file_image(access, bytes_.data(), bytes_.size()), name_);
  file_ = H5Fopen("opshap.h5", H5F_ACC_RDONLY, access);
  require<DataError>(file_ >= 0, "hdf5: file=", name_, " (the HDF5 library cannot open it). Make it again.");
  bytes_ = {};  // the library has its copy
}

Hdf5Contents::~Hdf5Contents() { H5Fclose(file_); }

std::string Hdf5Contents::metadata() const {
  const Handle attribute(H5Aopen(file_, "metadata", H5P_DEFAULT), H5Aclose, "metadata");
  const Handle type(H5Aget_type(attribute), H5Tclose, "metadata");
  require<DataError>(H5Tis_variable_str(type) > 0, "hdf5: file=", name_,
                     ", attribute=metadata (is no text). Make the file again.");
  char* text = nullptr;
  check(H5Aread(attribute, type, &text), "metadata");
  const std::string metadata = text;
  H5free_memory(text);
  return metadata;
}

std::vector<std::string> Hdf5Contents::columns() const {
  std::vector<std::string> paths;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* found) -> herr_t {
    if (info->type == H5O_TYPE_DATASET)
      static_cast<std::vector<std::string>*>(found)->push_back(std::string("/") + name);
    return 0;
  };
  check(H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_INC, visit, &paths, H5O_INFO_BASIC), name_);
  std::sort(paths.begin(), paths.end());
  return paths;
}

Column Hdf5Contents::column(const std::string& path) const {
  const Handle dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
  const Handle type(H5Dget_type(dataset), H5Tclose, path);
  const std::vector<hsize_t> sizes = extents(dataset, path);
  Column column{path, {sizes.begin(), sizes.end()}, {}};
  require<DataError>(!column.shape.empty(), "hdf5: file=", name_, ", column=", path,
                     " (has no rows). Make the file again.");
  const hsize_t size = std::accumulate(sizes.begin(), sizes.end(), hsize_t{1}, std::multiplies{});
  const auto read = [&](auto empty) {
    std::vector<decltype(empty)> values(size);
    column.values = values;
    if (H5Tequal(type, memory_type(column.values)) <= 0) return false;
    check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
    column.values = std::move(values);
    return true;
  };
  require<DataError>(read(float{}) || read(double{}) || read(std::uint8_t{}) || read(std::uint32_t{}) ||
                         read(std::int32_t{}) || read(std::int64_t{}),
                     "hdf5: file=", name_, ", column=", path,
                     " (has a number type that opshap does not write). Make the file again.");
  return column;
}

namespace {

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
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.number() >= 0 && ::flock(file.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
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

bool Hdf5Source::holds_reals(const std::string& path) const {
  return guarded(path, [&] {
    const Handle array(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const Handle type(H5Dget_type(array), H5Tclose, path);
    return H5Tget_class(type) == H5T_FLOAT;
  });
}

std::vector<std::int64_t> Hdf5Source::sizes(const std::string& path) const {
  std::string unreadable;
  bool numbers = false;
  const auto sizes = guarded(path, [&] {
    const Handle array(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const Handle type(H5Dget_type(array), H5Tclose, path), layout(H5Dget_create_plist(array), H5Pclose, path);
    const H5T_class_t kind = H5Tget_class(type);
    numbers = kind == H5T_FLOAT || kind == H5T_INTEGER;
    unreadable = unreadable_filter(layout, type);
    return extents(array, path);
  });
  require<DataError>(numbers, "hdf5: file=", name_, ", object=", path, " (does not hold numbers). Get the file again.");
  require<DataError>(unreadable.empty(), "hdf5: file=", name_, ", object=", path, " (", unreadable,
                     "). Write the file again without it, for example with `h5repack -f NONE`.");
  return {sizes.begin(), sizes.end()};
}

std::vector<std::int64_t> Hdf5Source::shape(const std::string& path) const {
  require<DataError>(holds_reals(path), "hdf5: file=", name_, ", object=", path,
                     " (does not hold floating-point numbers). Get the file again.");
  return sizes(path);
}

template <typename Number>
void Hdf5Source::read_block(const std::string& path, const std::vector<std::int64_t>& start,
                            const std::vector<std::int64_t>& count, std::int64_t type,
                            std::vector<Number>& values) const {
  guarded(path, [&] {
    const Handle array(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const Handle space(H5Dget_space(array), H5Sclose, path);
    const std::vector<hsize_t> from(start.begin(), start.end()), sizes(count.begin(), count.end());
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), nullptr, sizes.data(), nullptr), path);
    const hsize_t size = std::accumulate(sizes.begin(), sizes.end(), hsize_t{1}, std::multiplies{});
    const Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose, path);
    const std::size_t held = values.size();
    values.resize(held + size);
    check(H5Dread(array, type, memory, space, H5P_DEFAULT, values.data() + held), path);
  });
}

void Hdf5Source::read(const std::string& path, const std::vector<std::int64_t>& start,
                      const std::vector<std::int64_t>& count, std::vector<float>& values) const {
  read_block(path, start, count, H5T_NATIVE_FLOAT, values);
}

void Hdf5Source::read(const std::string& path, const std::vector<std::int64_t>& start,
                      const std::vector<std::int64_t>& count, std::vector<std::int64_t>& values) const {
  read_block(path, start, count, H5T_NATIVE_INT64, values);
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
  const bool finite = std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
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
