#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/measured.hpp"
#include "metrics/registry.hpp"

/// Rows of .jsonl files. Each row type has one list of its fields, which both writes and reads it:
///
///   template <typename Visitor, RowOf<TrainingRow> Training>
///   void fields(Visitor& visit, Training& row) {
///     visit("epochs", row.epochs);             // a row without it is refused
///     visit.optional("device", row.device);    // a row without it keeps the default
///   }

namespace opshap::runs {

/// What a packed file of rows may unpack to at most, in bytes: as much as is read from a pipe (core/file.hpp).
inline constexpr std::size_t most_unpacked_bytes = std::size_t{1} << 30;

/// The text as a gzip file (RFC 1952). The file holds neither a name nor a time, so that equal texts give equal bytes.
/// Throws EnvironmentError when there is no memory for it.
std::string gzip(std::string_view text);

/// The text of a gzip file, also of one that was put together from several. `who` starts the messages. Throws DataError
/// for bytes that are no gzip file, are cut short or are damaged, and for a text of more than `most` bytes.
std::string gunzip(std::string_view bytes, const std::string& who, std::size_t most = most_unpacked_bytes);

/// What the name of a packed file of rows ends with: results.jsonl.gz holds the text of results.jsonl (RFC 1952).
inline constexpr std::string_view packed_ending = ".gz";

/// The file of a folder that holds the rows with this name ("results.jsonl"): in a folder that is kept, the packed
/// file; else the file with the name itself, whether it is there or not. Throws DataError when both are there, since
/// they may say different things.
std::filesystem::path file_of_rows(const std::filesystem::path& folder, std::string_view name);

/// Whether file_of_rows() is there.
bool has_rows(const std::filesystem::path& folder, std::string_view name);

/// The text of a file of rows, unpacked where its name says that it is packed. Throws as read_file(), and DataError
/// naming the file when it cannot be unpacked or unpacks to more than most_unpacked_bytes (gzip.hpp).
std::string read_rows_file(const std::filesystem::path& file);

/// Throws DataError when the rows that a command goes on with are packed, those of results.jsonl or rows.jsonl: the
/// folder is kept for reports. `who` starts the message.
void require_unpacked_rows(const std::filesystem::path& folder, const std::string& who);

/// How many rows the files of a run's folder have, and their checksums: {"results.jsonl": {"rows": 12, "crc32c":
/// "e3069283"}, …}. Those are all files of lines in the folder itself but log.jsonl. A packed file stands with the name
/// and the sums of its text. The manifest holds it while no stage is at work.
nlohmann::ordered_json sums_of_rows(const std::filesystem::path& folder);

/// Throws DataError naming the file whose rows are not those that the manifest counted: a row was changed, removed or
/// added, or the whole file is missing. A manifest of before, which has no sums, and one of a stage that was stopped
/// say nothing. `who` starts the message.
void require_rows(const std::filesystem::path& folder, const nlohmann::ordered_json& manifest, const std::string& who);

/// As require_rows(), for a command that goes on. Where the file of results was removed on purpose, they are made anew.
void require_rows_to_go_on(const std::filesystem::path& folder, const nlohmann::ordered_json& manifest,
                           const std::string& who);

namespace json_row {

using Json = nlohmann::ordered_json;

/// The row type itself, or const: a list of fields serves a reader and a writer.
template <typename T, typename Row>
concept RowOf = std::is_same_v<std::remove_const_t<T>, Row>;

/// The number itself. Throws NumericalError naming the key when it is not finite: JSON has none.
double finite(const char* key, double value);

/// A row being written, field by field in the order of its list. Throws NumericalError for a number that is not finite.
class Writer {
 public:
  explicit Writer(std::string_view schema) : json_{{"schema", schema}} {}

  template <typename T>
  void operator()(const char* key, const T& value) {
    json_[key] = json_of(key, value);
  }
  /// A field that has nothing to say (an empty list or optional, a channel 0) is left out.
  template <typename T>
  void optional(const char* key, const T& value) {
    if (value != T{}) (*this)(key, value);
  }
  /// Each under the name of its metric, in the order of their registry.
  void scores(const metrics::Scores& scores) {
    for (const metrics::Metric& metric : metrics::all())
      if (scores.contains(metric.name)) (*this)(std::string(metric.name).c_str(), scores[metric.name]);
  }
  /// An object under a key; `fields` visits its fields.
  template <typename Fields>
  void nested(const char* key, const Fields& fields) {
    Writer inner;
    fields(inner);
    json_[key] = std::move(inner.json_);
  }
  /// One line of JSON without the newline. Its last field, crc32c, is the checksum of the line without this field.
  std::string line() const;

 private:
  Writer() : json_(Json::object()) {}

  template <typename T>
  static Json json_of(const char*, const T& value) {
    return value;
  }
  template <typename T>
  static Json json_of(const char* key, const std::optional<T>& value) {
    return value ? json_of(key, *value) : Json(nullptr);
  }
  template <typename T>
  static Json json_of(const char* key, const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(json_of(key, value));
    return list;
  }
  static Json json_of(const char* key, double value) { return finite(key, value); }
  /// A number, or {"value":null,"why":"..."}.
  static Json json_of(const char* key, const Measured& measured);

  Json json_;
};

/// The object of a line. Throws DataError for what is no JSON object and for a row that is not as it was written: its
/// crc32c is that of another one. Rows of before, which have none, are not checked.
Json row_of_line(std::string_view line);

/// A row being read: every access throws DataError naming the key that is missing or mistyped. Keeps a reference.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename T>
  void operator()(const char* key, T& value) const {
    require<DataError>(json_.contains(key), key, " (is missing)");
    read(key, json_[key], value);
  }
  /// A field that rows of before do not have: without the key the value stays as it is.
  template <typename T>
  void optional(const char* key, T& value) const {
    if (json_.contains(key)) read(key, json_[key], value);
  }
  /// The scores that the row has; those of metrics that are newer than the row are not there. The NRMSE has to be.
  void scores(metrics::Scores& scores) const {
    for (const metrics::Metric& metric : metrics::all()) {
      const std::string key(metric.name);
      if (key == "nrmse" || json_.contains(key)) (*this)(key.c_str(), scores[key]);
    }
  }
  /// The object under a key; `fields` visits its fields.
  template <typename Fields>
  void nested(const char* key, const Fields& fields) const {
    require<DataError>(json_.contains(key), key, " (is missing)");
    require<DataError>(json_[key].is_object(), key, " (is not an object)");
    const Reader inner(json_[key]);
    fields(inner);
  }

 private:
  /// A value that is of the right type.
  template <typename T>
  static void take(const char* key, const Json& json, bool right, const char* type, T& value) {
    require<DataError>(right, key, " (is not ", type, ")");
    json.get_to(value);
  }
  static void read(const char* key, const Json& json, std::string& value) {
    take(key, json, json.is_string(), "a string", value);
  }
  static void read(const char* key, const Json& json, bool& value) {
    take(key, json, json.is_boolean(), "true or false", value);
  }
  /// Any value.
  static void read(const char*, const Json& json, Json& value) { value = json; }
  static void read(const char* key, const Json& json, int& value);
  static void read(const char* key, const Json& json, std::int64_t& value);
  static void read(const char* key, const Json& json, std::uint64_t& value) {
    take(key, json, json.is_number_unsigned(), "a non-negative integer", value);
  }
  static void read(const char* key, const Json& json, double& value) {
    take(key, json, json.is_number(), "a number", value);
  }
  static void read(const char* key, const Json& json, Measured& measured);
  template <typename T>
  static void read(const char* key, const Json& json, std::optional<T>& value) {
    if (json.is_null()) return;
    read(key, json, value.emplace());
  }
  template <typename T>
  static void read(const char* key, const Json& json, std::vector<T>& values) {
    require<DataError>(json.is_array(), key, " (is not a list)");
    for (const Json& entry : json) read(key, entry, values.emplace_back());
  }

  const Json& json_;
};

/// What the last line of a file is when it does not end.
enum class LastLine {
  is_a_row,   ///< the file is written at once
  is_dropped  ///< rows are appended as they are made, and a kill may cut one
};

/// Gives each row of a file to `take`, with its schema; nothing when there is no such file. A file whose name ends with
/// .gz is unpacked (row_files.hpp). Throws DataError naming file and line for a line that is no row, and for what
/// `take` throws as DataError; `advice` ends these messages. Throws as read_rows_file().
void for_each_row(const std::filesystem::path& file, LastLine last, std::string_view advice,
                  const std::function<void(const std::string& schema, const Json& row)>& take);

}  // namespace json_row

}  // namespace opshap::runs
