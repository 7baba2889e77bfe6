#include "runs/row_files.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <system_error>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "runs/json_row.hpp"

namespace opshap::runs {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json sum_of(const fs::path& file) {
  const std::string text = read_file(file);
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", crc32c(text));
  return {{"rows", std::ranges::count(text, '\n')}, {"crc32c", digits}};
}

}  // namespace

Json sums_of_rows(const fs::path& folder) {
  std::set<std::string> names;  // in an order that no file system decides
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".jsonl") && name != "log.jsonl" && is_file(entry.path())) names.insert(name);
  }
  Json sums = Json::object();
  for (const std::string& name : names) sums[name] = sum_of(folder / name);
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
    require<DataError>(is_file(folder / name), who, ": path=", (folder / name).string(),
                       " (is missing, though the run has written it)", advice);
    const Json found = sum_of(folder / name);
    if (found == sum) continue;
    std::int64_t rows = 0;
    try {
      const json_row::Reader reader(sum);
      if (sum.is_object()) reader("rows", rows);
    } catch (const DataError&) {  // then its number of rows is no number either
    }
    throw DataError(message(who, ": path=", (folder / name).string(), " (has ", found["rows"].get<std::int64_t>(),
                            " rows with checksum ", found["crc32c"].get<std::string>(), ", the run has written ", rows,
                            " with another)", advice));
  }
}

void require_rows_to_go_on(const fs::path& folder, const Json& manifest, const std::string& who) {
  const Json sums = manifest.value("rows", Json::object());
  for (const char* name : {"results.jsonl", "rows.jsonl"}) {
    if (sums.is_object() && sums.contains(name) && !is_there(folder / name)) return;
  }
  require_rows(folder, manifest, who);
}

}  // namespace opshap::runs
