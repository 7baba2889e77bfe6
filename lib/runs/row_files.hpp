#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace opshap::runs {

/// How many rows the files of a run's folder have, and their checksums: {"results.jsonl": {"rows": 12, "crc32c":
/// "e3069283"}, …}. Those are all files of lines in the folder itself but log.jsonl. The manifest holds it while no
/// stage is at work.
nlohmann::ordered_json sums_of_rows(const std::filesystem::path& folder);

/// Throws DataError naming the file whose rows are not those that the manifest counted: a row was changed, removed or
/// added, or the whole file is missing. A manifest of before, which has no sums, and one of a stage that was stopped
/// say nothing. `who` starts the message.
void require_rows(const std::filesystem::path& folder, const nlohmann::ordered_json& manifest, const std::string& who);

/// As require_rows(), for a command that goes on. Where the file of results was removed on purpose, they are made anew.
void require_rows_to_go_on(const std::filesystem::path& folder, const nlohmann::ordered_json& manifest,
                           const std::string& who);

}  // namespace opshap::runs
