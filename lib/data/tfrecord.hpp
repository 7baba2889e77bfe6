#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/file.hpp"

namespace opshap::data {

/// The checksum of a TFRecord file: CRC-32C, rotated by 15 bits to the right, plus a282ead8. Of no bytes: a282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);

/// A TFRecord file, read record by record.
///
/// A record is its length as a little-endian number of eight bytes, their masked CRC-32C, its bytes, and the masked
/// CRC-32C of these. All functions throw DataError("tfrecord: file=.., record=.. (why). ..") for a file that ends in a
/// record, a record that is larger than what is left of the file (before memory is taken for it), and bytes that do not
/// match their checksum. Memory: one record.
/// Source: TensorFlow, "TFRecords format details".
class TfRecordReader {
 public:
  /// Throws DataError also for what is no file.
  explicit TfRecordReader(const std::filesystem::path& path);

  /// Reads the next record into `record`. False at the end of the file.
  bool next(std::string& record);
  /// Passes over the next record without a look at its bytes. False at the end of the file.
  bool skip();

  /// "FILE, record=3": the record that was read last, counted from 0.
  std::string place() const;

 private:
  std::uint64_t begin_record();
  void fill(char* bytes, std::size_t count);
  [[noreturn]] void refuse(const std::string& why) const;

  std::string name_;
  Descriptor file_;
  std::uint64_t left_ = 0;  ///< bytes of the file that are not read yet
  std::int64_t record_ = -1;
};

/// The bytes of a record around its contents.
std::string record_head(std::string_view record);
std::string record_tail(std::string_view record);

/// A feature of a tf.train.Example, as views of its bytes.
struct ExampleFeature {
  enum class Kind { none, bytes, floats, integers };

  Kind kind = Kind::none;
  std::vector<std::string_view> values;  ///< of a list of bytes; the other kinds are not read

  /// All values, one after the other.
  std::string joined() const;
};

/// The features of a tf.train.Example by their names. Fields of Protocol Buffers that the format does not have are
/// passed over. Of a name that comes twice, the last feature counts. The bytes must outlive the views.
///
/// `place` is the record's, for messages. Throws DataError for bytes that are no such message.
/// Source: tensorflow/core/example/{example,feature}.proto; Protocol Buffers, "Encoding".
std::map<std::string_view, ExampleFeature> parse_example(std::string_view record, const std::string& place);

/// A tf.train.Example whose features are one value of bytes each, in the order given.
std::string format_example(const std::vector<std::pair<std::string, std::string>>& features);

}  // namespace opshap::data
