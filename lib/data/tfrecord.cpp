#include "data/tfrecord.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace opshap::data {

static_assert(std::endian::native == std::endian::little, "lengths and checksums are copied as they are");

namespace {

constexpr std::size_t bytes_of_length = 8, bytes_of_crc = 4, bytes_of_head = bytes_of_length + bytes_of_crc;

template <typename Number>
std::string bytes_of_number(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::uint32_t stored_crc(const char* bytes) {
  std::uint32_t crc;
  std::memcpy(&crc, bytes, sizeof crc);
  return crc;
}

// The wire types of Protocol Buffers. Groups (3 and 4) are left out of the language and occur nowhere.
constexpr std::uint64_t varint_type = 0, eight_byte_type = 1, length_type = 2, four_byte_type = 5;

/// The fields of one message of Protocol Buffers, one after the other.
class WireReader {
 public:
  WireReader(std::string_view message, const std::string& place) : rest_(message), place_(place) {}

  /// The next field whose bytes have a length; others are passed over. Its number is that of field(). Nothing at the
  /// end.
  std::optional<std::string_view> next() {
    while (!rest_.empty()) {
      const std::uint64_t key = varint();
      field_ = key >> 3;
      if (field_ == 0) refuse("a field has the number 0");
      switch (key & 7) {
        case varint_type:
          varint();
          break;
        case eight_byte_type:
          take(8);
          break;
        case four_byte_type:
          take(4);
          break;
        case length_type:
          return take(varint());
        default:
          refuse("a field has a wire type that the format does not have");
      }
    }
    return std::nullopt;
  }
  std::uint64_t field() const { return field_; }

 private:
  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return number;
    }
    refuse("a number has more than 64 bits");
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) refuse("a field ends behind its message");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  [[noreturn]] void refuse(std::string_view why) const {
    throw DataError(message("tfrecord: file=", place_, " (is no tf.train.Example: ", why, "). Get the file again."));
  }

  std::string_view rest_;
  const std::string& place_;
  std::uint64_t field_ = 0;
};

/// Of a Feature: BytesList 1, FloatList 2, Int64List 3. Its list of bytes may come in several parts.
ExampleFeature feature_of(std::string_view bytes, const std::string& place) {
  ExampleFeature feature;
  WireReader kinds(bytes, place);
  while (const auto list = kinds.next()) {
    if (kinds.field() > 3) continue;
    const auto kind = static_cast<ExampleFeature::Kind>(kinds.field());
    if (kind != feature.kind) feature = {.kind = kind};
    if (kind != ExampleFeature::Kind::bytes) continue;
    WireReader values(*list, place);
    while (const auto value = values.next()) {
      if (values.field() == 1) feature.values.push_back(*value);
    }
  }
  return feature;
}

void append_varint(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7F) | 0x80);
  bytes += static_cast<char>(number);
}

/// A field of a message whose bytes have a length.
std::string wire_field(unsigned number, std::string_view contents) {
  std::string field;
  field.reserve(contents.size() + 11);
  append_varint(field, number << 3 | length_type);
  append_varint(field, contents.size());
  return field.append(contents);
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8; }

TfRecordReader::TfRecordReader(const std::filesystem::path& path)
    : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
  const int code = errno;
  if (file_.number() < 0) throw_if_shortage(message("tfrecord: file=", name_), code);
  require<DataError>(file_.number() >= 0, "tfrecord: file=", name_, " (cannot be read: ", std::strerror(code),
                     "). Check the name.");
  struct stat status {};
  require<DataError>(::fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode), "tfrecord: file=", name_,
                     " (is not a file). Name the file to read.");
  left_ = static_cast<std::uint64_t>(status.st_size);
}

std::string TfRecordReader::place() const { return message(name_, ", record=", record_); }

void TfRecordReader::refuse(const std::string& why) const {
  throw DataError(message("tfrecord: file=", place(), " (", why, "). Get the file again."));
}

void TfRecordReader::fill(char* bytes, std::size_t count) {
  left_ -= count;
  while (count > 0) {
    const ::ssize_t got = ::read(file_.number(), bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse(got < 0 ? message("reading failed: ", std::strerror(errno)) : "the file became shorter");
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::uint64_t TfRecordReader::begin_record() {
  ++record_;
  if (left_ < bytes_of_head) refuse("the file ends in a record");
  char head[bytes_of_head];
  fill(head, bytes_of_head);
  std::uint64_t length;
  std::memcpy(&length, head, bytes_of_length);
  if (masked_crc32c({head, bytes_of_length}) != stored_crc(head + bytes_of_length))
    refuse("its length does not match its checksum: the file is damaged, or no TFRecord");
  if (left_ < bytes_of_crc || length > left_ - bytes_of_crc)
    refuse(message("its ", length, " bytes are more than the file has left: the file ends in a record"));
  return length;
}

bool TfRecordReader::next(std::string& record) {
  if (left_ == 0) return false;
  record.resize(begin_record());
  fill(record.data(), record.size());
  char crc[bytes_of_crc];
  fill(crc, bytes_of_crc);
  if (masked_crc32c(record) != stored_crc(crc)) refuse("its bytes do not match their checksum");
  return true;
}

bool TfRecordReader::skip() {
  if (left_ == 0) return false;
  const std::uint64_t bytes = begin_record() + bytes_of_crc;
  left_ -= bytes;
  if (::lseek(file_.number(), static_cast<::off_t>(bytes), SEEK_CUR) < 0)
    refuse(message("cannot be passed over: ", std::strerror(errno)));
  return true;
}

std::string record_head(std::string_view record) {
  const std::string length = bytes_of_number(static_cast<std::uint64_t>(record.size()));
  return length + bytes_of_number(masked_crc32c(length));
}

std::string record_tail(std::string_view record) { return bytes_of_number(masked_crc32c(record)); }

std::string ExampleFeature::joined() const {
  std::string all;
  for (const std::string_view value : values) all += value;
  return all;
}

std::map<std::string_view, ExampleFeature> parse_example(std::string_view record, const std::string& place) {
  std::map<std::string_view, ExampleFeature> found;
  WireReader example(record, place);
  while (const auto features = example.next()) {
    if (example.field() != 1) continue;
    WireReader entries(*features, place);
    while (const auto entry = entries.next()) {
      if (entries.field() != 1) continue;
      std::string_view name, feature;
      WireReader parts(*entry, place);
      while (const auto part = parts.next()) {
        if (parts.field() == 1) name = *part;
        if (parts.field() == 2) feature = *part;
      }
      found[name] = feature_of(feature, place);
    }
  }
  return found;
}

std::string format_example(const std::vector<std::pair<std::string, std::string>>& features) {
  std::string entries;
  for (const auto& [name, value] : features) {
    const std::string feature = wire_field(1, wire_field(1, value));
    entries += wire_field(1, wire_field(1, name) + wire_field(2, feature));
  }
  return wire_field(1, entries);
}

}  // namespace opshap::data
