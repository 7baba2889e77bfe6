#include "data/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/hdf5.hpp"

namespace opshap::data {

using SortedJson = nlohmann::json;

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie in the file");

constexpr std::size_t length_bytes = 8;
constexpr std::size_t longest_header = 100'000'000;  // the format's own limit
constexpr const char* checksum_key = "crc32c";
// Says that there has to be a checksum: without it a bit flipped in the checksum's own name would take the checksum
// away.
constexpr const char* writer_key = "written_by";
constexpr const char* writer = "opshap";
constexpr std::size_t checksum_digits = 16;

struct Format {
  std::string_view name;
  std::size_t bytes;
};

constexpr Format formats[] = {{"F32", 4}, {"F64", 8}, {"C64", 8}, {"I64", 8}, {"F16", 2}, {"BF16", 2}};

/// The upper half of a float32.
float from_brain(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// A tensor of half precision in float32; others stay.
void widen(StoredTensor& tensor) {
  if (tensor.dtype != "F16" && tensor.dtype != "BF16") return;
  const auto widened = tensor.dtype == "F16" ? from_half : from_brain;
  std::vector<std::byte> bytes(2 * tensor.bytes.size());
  for (std::size_t i = 0; 2 * i < tensor.bytes.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, tensor.bytes.data() + 2 * i, sizeof half);
    const float single = widened(half);
    std::memcpy(bytes.data() + 4 * i, &single, sizeof single);
  }
  tensor.dtype = "F32";
  tensor.bytes = std::move(bytes);
}

std::string checksum_entry(std::string_view value) { return message('"', checksum_key, "\":\"", value, '"'); }

/// Of the header without the checksum's own entry, and of the data. Empty when the header has no such entry as we write
/// it.
std::string checksum(std::string header, const std::string& claimed, std::span<const std::byte> data) {
  const std::string entry = checksum_entry(claimed);
  const std::size_t place = header.find(entry);
  if (place == std::string::npos) return "";
  header.erase(place, entry.size());
  return hexadecimal(crc32c(header), 8) + hexadecimal(crc32c(data), 8);
}

/// A header entry, with everything checked that concerns it alone.
struct Entry {
  std::string name;
  StoredTensor tensor;  // bytes still empty
  std::size_t begin = 0, end = 0;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& who) : bytes_(bytes), who_(who) {}

  Safetensors read() {
    check(bytes_.size() >= length_bytes + 2, "the file is too short");
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, bytes_.data(), length_bytes);
    check(header_size >= 2 && header_size <= longest_header && header_size <= bytes_.size() - length_bytes,
          "the header does not fit into the file");
    const std::string header(reinterpret_cast<const char*>(bytes_.data()) + length_bytes, header_size);
    const auto data = bytes_.subspan(length_bytes + header_size);

    const SortedJson object = parse(header);
    Safetensors content;
    std::vector<Entry> entries;
    for (const auto& [name, value] : object.items()) {
      if (name == "__metadata__") {
        content.metadata = metadata(value);
      } else {
        entries.push_back(entry(name, value, data.size()));
      }
    }
    const auto writer_entry = content.metadata.extract(writer_key), claimed = content.metadata.extract(checksum_key);
    content.own = !writer_entry.empty() && writer_entry.mapped() == writer;
    if (!claimed.empty() || content.own) check_checksum(header, claimed.empty() ? "" : claimed.mapped(), data);

    std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    std::size_t reached = 0;
    for (Entry& entry : entries) {
      check(entry.begin == reached,
            message("the data before tensor ", shortened(entry.name), " overlap or have a gap"));
      reached = entry.end;
      const auto part = data.subspan(entry.begin, entry.end - entry.begin);
      entry.tensor.bytes.assign(part.begin(), part.end());
      widen(entry.tensor);
      content.tensors.emplace(std::move(entry.name), std::move(entry.tensor));
    }
    check(reached == data.size(), "there are data that belong to no tensor");
    return content;
  }

 private:
  void check(bool condition, const std::string& why) const {
    require<DataError>(condition, "safetensors: file=", who_, " (", why, "). Get a complete copy of the file.");
  }

  static std::string shortened(const std::string& name) {
    return name.size() <= 60 ? name : name.substr(0, 60) + "...";
  }

  /// Flat JSON without repeated names; never throws anything but DataError.
  SortedJson parse(const std::string& header) const {
    constexpr int deepest = 3;  // header, tensor, shape
    bool too_deep = false, repeated = false;
    std::set<std::string> names, inner_names;
    const auto inspect = [&](int depth, SortedJson::parse_event_t event, SortedJson& parsed) {
      too_deep = too_deep || depth > deepest;
      if (event == SortedJson::parse_event_t::key) {
        if (depth == 1) inner_names.clear();
        repeated = repeated || !(depth == 1 ? names : inner_names).insert(parsed.get<std::string>()).second;
      }
      return !too_deep;
    };
    SortedJson object = SortedJson::parse(header, inspect, false);
    check(!too_deep && !object.is_discarded() && object.is_object(), "the header is not flat JSON");
    check(!repeated, "a name occurs twice in the header");
    return object;
  }

  std::map<std::string, std::string> metadata(const SortedJson& value) const {
    check(value.is_object(), "the metadata are not an object");
    std::map<std::string, std::string> texts;
    for (const auto& [key, text] : value.items()) {
      check(text.is_string(), message("metadata ", shortened(key), " are not a string"));
      texts[key] = text.get<std::string>();
    }
    return texts;
  }

  Entry entry(const std::string& name, const SortedJson& value, std::size_t data_size) const {
    const std::string tensor = "tensor " + shortened(name);
    check(value.is_object() && value.size() == 3 && value.contains("dtype") && value.contains("shape") &&
              value.contains("data_offsets"),
          tensor + " needs dtype, shape and data_offsets");
    Entry entry{.name = name, .tensor = {}};
    const SortedJson& dtype = value["dtype"];
    const auto known = std::ranges::find(formats, dtype, &Format::name);
    require<DataError>(known != std::end(formats), "safetensors: file=", who_, " (", tensor, " has the type ",
                       dtype.dump(-1, ' ', true, SortedJson::error_handler_t::replace).substr(0, 20),
                       "; F16, BF16, F32, F64, C64 and I64 can be read). Convert it to float32.");
    entry.tensor.dtype = known->name;

    const SortedJson& shape = value["shape"];
    check(shape.is_array() && shape.size() <= 16, tensor + " has no proper shape");
    std::uint64_t bytes = known->bytes;
    for (const SortedJson& extent : shape) {
      check(extent.is_number_unsigned() && extent.get<std::uint64_t>() <= std::uint64_t{1} << 40,
            tensor + " has no proper shape");
      const auto size = extent.get<std::uint64_t>();
      check(size == 0 || bytes <= data_size / size, tensor + " is larger than the file");
      bytes *= size;
      entry.tensor.shape.push_back(static_cast<std::int64_t>(size));
    }
    const SortedJson& offsets = value["data_offsets"];
    check(
        offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned(),
        tensor + " has no proper offsets");
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    check(begin <= end && end <= data_size, tensor + " lies outside the file");
    check(end - begin == bytes, message(tensor, " has ", end - begin, " bytes where its shape needs ", bytes));
    entry.begin = begin;
    entry.end = end;
    return entry;
  }

  void check_checksum(const std::string& header, const std::string& claimed, std::span<const std::byte> data) const {
    require<DataError>(
        !claimed.empty() && checksum(header, claimed, data) == claimed, "safetensors: file=", who_,
        " (the checksum is missing or wrong: some bits have changed since it was written). Get another copy; after "
        "an intended change delete the metadata entries ",
        checksum_key, " and ", writer_key, ".");
  }

  std::span<const std::byte> bytes_;
  const std::string& who_;
};

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& who) {
  return Reader(bytes, who).read();
}

std::string serialise_safetensors(const Safetensors& content) {
  std::map<std::string, std::string> metadata = content.metadata;
  const std::string placeholder(checksum_digits, '0');
  metadata[writer_key] = writer;
  metadata[checksum_key] = placeholder;
  SortedJson header = {{"__metadata__", metadata}};
  std::size_t offset = 0;
  for (const auto& [name, tensor] : content.tensors) {
    header[name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');  // the data begin at a multiple of 8
  std::string data;
  data.reserve(offset);
  for (const auto& [name, tensor] : content.tensors)
    data.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());

  const std::string sum = checksum(text, placeholder, std::as_bytes(std::span(data)));
  const std::string entry = checksum_entry(placeholder);
  text.replace(text.find(entry), entry.size(), checksum_entry(sum));
  const std::uint64_t header_size = text.size();
  std::string bytes(reinterpret_cast<const char*>(&header_size), length_bytes);
  bytes.reserve(length_bytes + text.size() + data.size());
  return bytes + text + data;
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  return parse_safetensors(std::as_bytes(std::span(bytes)), path.string());
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& content) {
  write_file(path, serialise_safetensors(content));
}

}  // namespace opshap::data
