#include "data/npy.hpp"

#include <zip.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/hdf5.hpp"

namespace opshap::data {

static_assert(std::endian::native == std::endian::little,
              "the files hold little-endian numbers, which are copied as they are");

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_axes = 32;  // NumPy's own limit

/// What NEP 1 and NumPy call a type.
struct Kind {
  std::string_view descr, name;
};

/// In the order of Dtype.
constexpr std::array<Kind, 4> kinds = {{{"<f4", "float32"}, {"<f8", "float64"}, {"<i4", "int32"}, {"<i8", "int64"}}};

const Kind& kind_of(Dtype dtype) { return kinds[static_cast<std::size_t>(dtype)]; }

struct Description {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// The header's text: a Python dictionary literal with the three keys that NEP 1 demands, in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Description parse() {
    expect('{');
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        require(peek() != '[', "npy: file=", name_,
                ", descr=[...] (a structured type). Save one array of plain numbers.");
        descr = string();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        fail("has an unknown or repeated key");
      }
      if (!accept(',') && peek() != '}') fail("misses a comma");
    }
    if (peek() != '\0') fail("goes on after the dictionary");
    if (!descr || !fortran_order || !shape) fail("misses descr, fortran_order or shape");
    return {*descr, *fortran_order, *shape};
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw DataError(message("npy: file=", name_, " (the header ", why, "). Write it again with numpy.save."));
  }
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \n\t\r", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail("is not a Python dictionary");
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("misses a quoted string");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("has an open string");
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    const bool value = peek() == 'T';
    const std::string_view word = value ? "True" : "False";
    if (!text_.substr(at_).starts_with(word)) fail("has neither True nor False for fortran_order");
    at_ += word.size();
    return value;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t size = 0;
      const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (failure != std::errc() || size < 0) fail("has a shape that is no tuple of sizes");
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // written by Python 2
      sizes.push_back(size);
      if (sizes.size() > most_axes) fail("has more than 32 axes");
      if (!accept(',') && peek() != ')') fail("misses a comma in the shape");
    }
    return sizes;
  }

  std::string_view text_, name_;
  std::size_t at_ = 0;
};

std::size_t item_bytes(Dtype dtype) { return dtype == Dtype::float32 || dtype == Dtype::int32 ? 4 : 8; }

/// The number of elements, or nothing when it is more than `most`.
std::optional<std::size_t> elements(const std::vector<std::int64_t>& shape, std::size_t most) {
  std::size_t count = 1;
  if (std::ranges::count(shape, 0) > 0) return 0;
  for (const std::int64_t size : shape) {
    if (static_cast<std::size_t>(size) > most / count) return std::nullopt;
    count *= static_cast<std::size_t>(size);
  }
  return count;
}

/// Calls use(number) with a number of the type that files hold.
template <typename Use>
void with_stored(Dtype dtype, const Use& use) {
  if (dtype == Dtype::float32) use(float{});
  if (dtype == Dtype::float64) use(double{});
  if (dtype == Dtype::int32) use(std::int32_t{});
  if (dtype == Dtype::int64) use(std::int64_t{});
}

/// What holds numbers of a type in memory.
template <typename Stored>
using Held = std::vector<std::conditional_t<std::is_integral_v<Stored>, std::int64_t, double>>;

template <typename Stored>
Held<Stored> load(std::span<const std::byte> bytes) {
  Held<Stored> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = static_cast<typename Held<Stored>::value_type>(stored);
  }
  return values;
}

/// Of float16. Infinite and not-a-number stay what they are.
std::vector<double> load_half(std::span<const std::byte> bytes) {
  std::vector<double> values;
  for (const std::int64_t bits : load<std::uint16_t>(bytes))
    values.push_back(static_cast<double>(from_half(static_cast<std::uint16_t>(bits))));
  return values;
}

/// Numbers whose first axis runs fastest, with the last one fastest. One pass.
template <typename Number>
std::vector<Number> in_c_order(const std::vector<Number>& numbers, const std::vector<std::int64_t>& shape) {
  std::vector<Number> ordered(numbers.size());
  std::vector<std::size_t> step(shape.size(), 1), index(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    step[axis - 1] = step[axis] * static_cast<std::size_t>(shape[axis]);
  std::size_t to = 0;
  for (const Number& number : numbers) {
    ordered[to] = number;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {  // the next place, first axis first
      to += step[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      to -= step[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return ordered;
}

template <typename Stored>
void save(std::string& bytes, const Held<Stored>& values) {
  const std::size_t start = bytes.size();
  bytes.resize(start + values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto stored = static_cast<Stored>(values[i]);
    if constexpr (std::is_same_v<Stored, std::int32_t>) {
      require(stored == values[i], "npy: element=", i, ", value=", values[i], " (does not fit in int32). Write int64.");
    }
    std::memcpy(bytes.data() + start + i * sizeof stored, &stored, sizeof stored);
  }
}

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

std::string shape_text(const std::vector<std::int64_t>& shape) { return "[" + joined(shape, ",") + "]"; }

std::string_view to_string(Dtype dtype) { return kind_of(dtype).name; }

std::int64_t NpyArray::size() const {
  return std::visit([](const auto& held) { return static_cast<std::int64_t>(held.size()); }, values);
}

const std::vector<double>& NpyArray::reals(std::string_view who) const {
  require(std::holds_alternative<std::vector<double>>(values), who, ": dtype=", to_string(dtype),
          " (floating-point numbers are needed). Save it as float64.");
  return std::get<std::vector<double>>(values);
}

const std::vector<std::int64_t>& NpyArray::integers(std::string_view who) const {
  require(std::holds_alternative<std::vector<std::int64_t>>(values), who, ": dtype=", to_string(dtype),
          " (integers are needed). Save it as int64.");
  return std::get<std::vector<std::int64_t>>(values);
}

NpyArray parse_npy(std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require<DataError>(text.starts_with(magic), "npy: file=", name,
                     " (does not start like a .npy file). Write it with numpy.save.");
  require<DataError>(text.size() >= 12, "npy: file=", name, ", bytes=", text.size(),
                     " (cut off in the header). Write it again.");
  const int version = static_cast<unsigned char>(text[6]);
  require<DataError>(version >= 1 && version <= 3 && text[7] == 0, "npy: file=", name, ", version=", version, ".",
                     static_cast<int>(text[7]), " (1.0, 2.0 and 3.0 are known). Write it again with numpy.save.");
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::uint32_t header_length = 0;
  std::memcpy(&header_length, text.data() + 8, length_bytes);
  const std::size_t header_start = 8 + length_bytes;
  require<DataError>(header_length <= text.size() - header_start, "npy: file=", name, ", header=", header_length,
                     " bytes (more than the file has). Write it again.");
  const Description description = HeaderParser(text.substr(header_start, header_length), name).parse();

  NpyArray array;
  array.shape = description.shape;
  const bool half = description.descr == "<f2";
  const auto kind = std::ranges::find(kinds, half ? "<f4" : description.descr, &Kind::descr);
  require(kind != kinds.end(), "npy: file=", name, ", descr=", description.descr,
          " (elements may be <f2, <f4, <f8, <i4 or <i8). Convert it, for example with astype('<f8').");
  array.dtype = static_cast<Dtype>(kind - kinds.begin());
  const std::span<const std::byte> data = bytes.subspan(header_start + header_length);
  const std::size_t element = half ? 2 : item_bytes(array.dtype);
  const auto count = elements(array.shape, data.size() / element);
  require<DataError>(count && *count * element == data.size(), "npy: file=", name, ", data=", data.size(),
                     " bytes (not what its shape and type say). The file was cut off or has something behind the "
                     "array; write it again.");
  if (half)
    array.values = load_half(data);
  else
    with_stored(array.dtype, [&](auto number) { array.values = load<decltype(number)>(data); });
  if (description.fortran_order)
    std::visit([&](auto& values) { values = in_c_order(values, array.shape); }, array.values);
  return array;
}

std::string format_npy(const NpyArray& array) {
  const bool real = array.dtype == Dtype::float32 || array.dtype == Dtype::float64;
  require(real == std::holds_alternative<std::vector<double>>(array.values), "npy: dtype=", to_string(array.dtype),
          " (not the kind of number the array holds). Set the dtype that fits.");
  for (const std::int64_t size : array.shape)
    require(size >= 0, "npy: size=", size, " (an axis cannot be shorter than 0). Correct the shape.");
  const std::string shape = "(" + joined(array.shape) + (array.shape.size() == 1 ? ",)" : ")");
  require(elements(array.shape, std::numeric_limits<std::int64_t>::max()) == static_cast<std::size_t>(array.size()),
          "npy: shape=", shape, ", values=", array.size(), " (do not agree). Correct the shape.");

  std::string header =
      message("{'descr': '", kind_of(array.dtype).descr, "', 'fortran_order': False, 'shape': ", shape, ", }");
  constexpr std::size_t prefix = 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');  // so that the data start at a multiple of 64
  header += '\n';

  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  bytes += header;
  with_stored(array.dtype,
              [&](auto number) { save<decltype(number)>(bytes, std::get<Held<decltype(number)>>(array.values)); });
  return bytes;
}

NpyArray read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  return parse_npy(std::as_bytes(std::span(bytes)), path == "-" ? "standard input" : path.string());
}

void write_npy(const std::filesystem::path& path, const NpyArray& array) { write_file(path, format_npy(array)); }

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
