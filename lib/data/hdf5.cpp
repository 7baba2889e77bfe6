#include "data/hdf5.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "data/hdf5_handle.hpp"

namespace opshap::data {

namespace {

constexpr std::size_t seal_bytes = 512;  // the smallest user block that HDF5 allows
constexpr std::string_view seal_start = "opshap sealed hdf5 1\n";
constexpr std::int64_t chunk_bytes = 256 * 1024;

hid_t memory_type(const Column::Values& values) {
  constexpr auto type = [](const auto& held) -> hid_t {
    using T = typename std::decay_t<decltype(held)>::value_type;
    if constexpr (std::is_same_v<T, float>) return H5T_IEEE_F32LE;
    if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
    if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_STD_U8LE;
    return H5T_STD_U32LE;
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
    if (value.is_string()) {
      write_text(file, name, value.get<std::string>());
    } else if (value.is_number_integer()) {
      const auto number = value.get<std::uint64_t>();
      write_attribute(file, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, 1, &number);
    } else if (value.is_number_float()) {
      const auto number = value.get<double>();
      write_attribute(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &number);
    } else {
      write_text(file, name, value.dump());
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
  return Handle(
      [] {
        silence();
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        if (access >= 0) {
          H5Pset_fapl_core(access, 1 << 20, false);
          H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
        }
        return access;
      }(),
      H5Pclose, "memory");
}

}  // namespace

std::int64_t Column::row_size() const {
  std::int64_t size = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) size *= shape[axis];
  return size;
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
  const std::string expected = seal(bytes.substr(seal_bytes));
  if (bytes.substr(0, seal_bytes) == expected) return "";
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
  const Handle space(H5Dget_space(dataset), H5Sclose, path);
  const Handle type(H5Dget_type(dataset), H5Tclose, path);
  Column column{path, {}, {}};
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), path);
  column.shape.assign(extents.begin(), extents.end());
  require<DataError>(!column.shape.empty(), "hdf5: file=", name_, ", column=", path,
                     " (has no rows). Make the file again.");
  const auto rows = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
  const auto read = [&](auto empty) {
    std::vector<decltype(empty)> values(rows);
    column.values = values;
    if (H5Tequal(type, memory_type(column.values)) <= 0) return false;
    check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
    column.values = std::move(values);
    return true;
  };
  require<DataError>(read(float{}) || read(double{}) || read(std::uint8_t{}) || read(std::uint32_t{}),
                     "hdf5: file=", name_, ", column=", path,
                     " (has a number type that opshap does not write). Make the file again.");
  return column;
}

}  // namespace opshap::data
