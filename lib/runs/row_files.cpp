#include "runs/row_files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "runs/gzip.hpp"
#include "runs/json_row.hpp"

namespace opshap::runs {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view rows_ending = ".jsonl";

/// What commands write row by row, and make anew when it is gone.
constexpr std::array<std::string_view, 2> rows_of_commands = {"results.jsonl", "rows.jsonl"};

Json sum_of(const fs::path& file) {
  const std::string text = read_rows_file(file);
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", crc32c(text));
  return {{"rows", std::ranges::count(text, '\n')}, {"crc32c", digits}};
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

}  // namespace opshap::runs
