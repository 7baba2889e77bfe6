#include "runs/row_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <system_error>

#include "core/checksum.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"

#define ZLIB_CONST
#include <zlib.h>

namespace opshap::runs {

namespace {

/// The largest window, and 16 to say that the format is gzip and not zlib's own.
constexpr int window_of_gzip = 15 + 16;

/// The bytes that zlib counts by an unsigned int: the rest of them follows in a later piece.
uInt piece_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

/// Ends a stream on scope exit.
using EndOfStream = std::unique_ptr<z_stream, int (*)(z_streamp)>;

}  // namespace

std::string gzip(std::string_view text) {
  constexpr int memory_level = 8;  // zlib's default
  z_stream stream{};
  const EndOfStream end(&stream, deflateEnd);
  bool good =
      deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_of_gzip, memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
  gz_header header{};
  header.os = 255;  // unknown: the bytes do not tell where they were made
  good = good && deflateSetHeader(&stream, &header) == Z_OK;
  require<EnvironmentError>(good, "gzip: bytes=", text.size(), " (zlib has no memory for them). Free some.");
  std::string packed;
  std::array<Bytef, 1 << 16> block;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !text.empty()) {
      stream.next_in = bytes_of(text);
      stream.avail_in = piece_of(text.size());
      text.remove_prefix(stream.avail_in);
    }
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(reinterpret_cast<const char*>(block.data()), block.size() - stream.avail_out);
  }
  return packed;
}

std::string gunzip(std::string_view bytes, const std::string& who, std::size_t most) {
  constexpr std::string_view advice = "Take a whole copy of it.";
  z_stream stream{};
  const EndOfStream end(&stream, inflateEnd);
  require<EnvironmentError>(inflateInit2(&stream, window_of_gzip) == Z_OK, who,
                            " (zlib has no memory to unpack it). Free some.");
  std::string text;
  std::array<Bytef, 1 << 16> block;
  int state = Z_OK;
  for (;;) {
    if (stream.avail_in == 0) {
      stream.next_in = bytes_of(bytes);
      stream.avail_in = piece_of(bytes.size());
      bytes.remove_prefix(stream.avail_in);
    }
    if (state == Z_STREAM_END) {
      if (stream.avail_in == 0) return text;
      inflateReset(&stream);  // what follows is another file
    }
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    state = inflate(&stream, Z_NO_FLUSH);
    require<DataError>(state != Z_BUF_ERROR, who, " (is a gzip file that was cut short). ", advice);
    require<DataError>(state == Z_OK || state == Z_STREAM_END, who, " (is no gzip file, or is damaged: ",
                       stream.msg == nullptr ? "it asks for a dictionary" : stream.msg, "). ", advice);
    text.append(reinterpret_cast<const char*>(block.data()), block.size() - stream.avail_out);
    require<DataError>(text.size() <= most, who, " (unpacks to more than ", most,
                       " bytes, which no file of rows has). Unpack it by hand and look at it.");
  }
}

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view rows_ending = ".jsonl";

/// What commands write row by row, and make anew when it is gone.
constexpr std::array<std::string_view, 2> rows_of_commands = {"results.jsonl", "rows.jsonl"};

constexpr std::size_t digits_of_checksum = 8;

std::string digits(std::uint32_t checksum) {
  char text[digits_of_checksum + 1];
  std::snprintf(text, sizeof text, "%08x", checksum);
  return text;
}

Json sum_of(const fs::path& file) {
  const std::string text = read_rows_file(file);
  return {{"rows", std::ranges::count(text, '\n')}, {"crc32c", digits(crc32c(text))}};
}

/// The name that rows have when they are not packed: results.jsonl for results.jsonl.gz.
std::string_view unpacked(std::string_view name) {
  if (name.ends_with(packed_ending)) name.remove_suffix(packed_ending.size());
  return name;
}

/// The names of the files of rows in a folder, in an order that no file system decides.
std::set<std::string> files_of_rows(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    const std::string_view rows = unpacked(name);
    if (rows.ends_with(rows_ending) && rows != "log.jsonl" && is_file(entry.path())) names.insert(name);
  }
  return names;
}

}  // namespace

fs::path file_of_rows(const fs::path& folder, std::string_view name) {
  const fs::path plain = folder / name;
  fs::path packed = plain;
  packed += packed_ending;
  if (!is_there(packed)) return plain;
  require<DataError>(!is_there(plain), "rows: path=", packed.string(), " (", name,
                     " is there too, and the two may differ). Remove one of them.");
  return packed;
}

bool has_rows(const fs::path& folder, std::string_view name) { return is_there(file_of_rows(folder, name)); }

std::string read_rows_file(const fs::path& file) {
  std::string bytes = read_file(file);
  if (!file.native().ends_with(packed_ending)) return bytes;
  return gunzip(bytes, message("rows: path=", file.string()));
}

void require_unpacked_rows(const fs::path& folder, const std::string& who) {
  for (const std::string_view name : rows_of_commands) {
    const fs::path file = file_of_rows(folder, name);
    require<DataError>(file.filename() == name, who, ": path=", file.string(),
                       " (is packed, since the folder is kept for reports). Unpack it with gunzip, or choose another "
                       "folder.");
  }
}

Json sums_of_rows(const fs::path& folder) {
  Json sums = Json::object();
  for (const std::string& name : files_of_rows(folder))
    sums[std::string(unpacked(name))] = sum_of(file_of_rows(folder, unpacked(name)));
  return sums;
}

void require_rows(const fs::path& folder, const Json& manifest, const std::string& who) {
  if (!manifest.contains("rows")) return;
  const auto advice = ". Remove results.jsonl and run the command of the run again, or take a whole copy.";
  require<DataError>(manifest["rows"].is_object(), who, ": folder=", folder.string(),
                     ", rows (of manifest.json are not an object)", advice);
  for (const auto& [name, sum] : manifest["rows"].items()) {
    require<DataError>(is_plain_name(name), who, ": folder=", folder.string(), ", rows (of manifest.json name no file)",
                       advice);
    const fs::path file = file_of_rows(folder, name);
    require<DataError>(is_file(file), who, ": path=", file.string(), " (is missing, though the run has written it)",
                       advice);
    const Json found = sum_of(file);
    if (found == sum) continue;
    std::int64_t rows = 0;
    try {
      const json_row::Reader reader(sum);
      if (sum.is_object()) reader("rows", rows);
    } catch (const DataError&) {  // then its number of rows is no number either
    }
    throw DataError(message(who, ": path=", file.string(), " (has ", found["rows"].get<std::int64_t>(),
                            " rows with checksum ", found["crc32c"].get<std::string>(), ", the run has written ", rows,
                            " with another)", advice));
  }
}

void require_rows_to_go_on(const fs::path& folder, const Json& manifest, const std::string& who) {
  const Json sums = manifest.value("rows", Json::object());
  for (const std::string_view name : rows_of_commands) {
    if (sums.is_object() && sums.contains(name) && !is_there(folder / name)) return;
  }
  require_rows(folder, manifest, who);
}

namespace json_row {

namespace {

constexpr std::string_view before_checksum = ",\"crc32c\":\"", after_checksum = "\"}";

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

Json Writer::json_of(const char* key, const Measured& measured) {
  if (measured.value) return finite(key, *measured.value);
  return {{"value", nullptr}, {"why", measured.why}};
}

void Reader::read(const char* key, const Json& json, int& value) {
  std::int64_t wide = 0;
  read(key, json, wide);
  require<DataError>(wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max(), key, "=", wide,
                     " (is too large)");
  value = static_cast<int>(wide);
}

void Reader::read(const char* key, const Json& json, std::int64_t& value) {
  require<DataError>(json.is_number_integer(), key, " (is not an integer)");
  require<DataError>(
      !json.is_number_unsigned() ||
          json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
      key, " (is too large)");
  value = json.get<std::int64_t>();
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

}  // namespace json_row

}  // namespace opshap::runs
