#include "runs/json_row.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "runs/row_files.hpp"

namespace opshap::runs::json_row {

namespace {

void require_type(bool right, const char* key, const char* type) {
  require<DataError>(right, key, " (is not ", type, ")");
}

constexpr std::string_view before_checksum = ",\"crc32c\":\"", after_checksum = "\"}";
constexpr std::size_t digits_of_checksum = 8;

std::string digits(std::uint32_t checksum) {
  char text[digits_of_checksum + 1];
  std::snprintf(text, sizeof text, "%08x", checksum);
  return text;
}

/// The digits at the end of a line; empty where there are none.
std::string_view checksum_of(std::string_view line) {
  constexpr std::size_t length = before_checksum.size() + digits_of_checksum + after_checksum.size();
  if (line.size() <= length) return {};
  const std::string_view end = line.substr(line.size() - length);
  if (!end.starts_with(before_checksum) || !end.ends_with(after_checksum)) return {};
  return end.substr(before_checksum.size(), digits_of_checksum);
}

}  // namespace

std::string Writer::line() const {
  std::string text = json_.dump();
  const std::string checksum = digits(crc32c(text));
  text.pop_back();
  return text.append(before_checksum).append(checksum).append(after_checksum);
}

Json row_of_line(std::string_view line) {
  if (const std::string_view claimed = checksum_of(line); !claimed.empty()) {
    const std::size_t length = line.size() - before_checksum.size() - digits_of_checksum - after_checksum.size();
    const std::string found = digits(crc32c(std::string(line.substr(0, length)) + '}'));
    require<DataError>(found == claimed, "row: crc32c=", claimed, " (the row has changed since it was written: it is ",
                       found, " now)");
  }
  Json json = strict_json<Json>(line, "row");
  require<DataError>(json.is_object(), "row (is not a JSON object)");
  return json;
}

double finite(const char* key, double value) {
  require<NumericalError>(std::isfinite(value), "results: ", key, "=", value,
                          " (is not finite). Store why there is no number instead.");
  return value;
}

Json Writer::json_of(const char* key, const std::vector<double>& values) {
  for (const double value : values) finite(key, value);
  return values;
}

Json Writer::json_of(const char* key, const std::vector<Measured>& values) {
  Json list = Json::array();
  for (const Measured& value : values) list.push_back(json_of(key, value));
  return list;
}

Json Writer::json_of(const char* key, const Measured& measured) {
  if (measured.value) return finite(key, *measured.value);
  return {{"value", nullptr}, {"why", measured.why}};
}

void Reader::read(const char* key, const Json& json, std::string& value) {
  require_type(json.is_string(), key, "a string");
  value = json.get<std::string>();
}

void Reader::read(const char* key, const Json& json, bool& value) {
  require_type(json.is_boolean(), key, "true or false");
  value = json.get<bool>();
}

void Reader::read(const char* key, const Json& json, int& value) {
  std::int64_t wide = 0;
  read(key, json, wide);
  require<DataError>(wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max(), key, "=", wide,
                     " (is too large)");
  value = static_cast<int>(wide);
}

void Reader::read(const char* key, const Json& json, std::int64_t& value) {
  require_type(json.is_number_integer(), key, "an integer");
  require<DataError>(
      !json.is_number_unsigned() ||
          json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
      key, " (is too large)");
  value = json.get<std::int64_t>();
}

void Reader::read(const char* key, const Json& json, std::uint64_t& value) {
  require_type(json.is_number_unsigned(), key, "a non-negative integer");
  value = json.get<std::uint64_t>();
}

void Reader::read(const char* key, const Json& json, double& value) {
  require_type(json.is_number(), key, "a number");
  value = json.get<double>();
}

void Reader::read(const char* key, const Json& json, Measured& measured) {
  if (json.is_number()) {
    measured = Measured::of(json.get<double>());
    return;
  }
  require<DataError>(
      json.is_object() && json.contains("why") && json["why"].is_string() && !json["why"].get<std::string>().empty(),
      key, " (is neither a number nor {\"value\":null,\"why\":\"...\"})");
  measured = Measured::undefined(json["why"].get<std::string>());
}

void for_each_row(const std::filesystem::path& file, LastLine last, std::string_view advice,
                  const std::function<void(const std::string& schema, const Json& row)>& take) {
  if (!is_there(file)) return;
  const std::string text = read_rows_file(file);
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++number;
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos && last == LastLine::is_dropped) return;
    end = std::min(end, text.size());
    try {
      const Json row = row_of_line(std::string_view(text).substr(begin, end - begin));
      std::string schema;
      const Reader reader(row);
      reader("schema", schema);
      take(schema, row);
    } catch (const DataError& error) {
      throw DataError(message(file.string(), ":", number, ": ", error.what(), ". ", advice));
    }
    begin = end + 1;
  }
}

}  // namespace opshap::runs::json_row
