#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace opshap::runs {

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

}  // namespace opshap::runs
