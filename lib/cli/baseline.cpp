#include "cli/baseline.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "runs/row_files.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* rows_file = "results.jsonl";

/// The files of rows that a path stands for, in the order of their names.
std::vector<fs::path> files_of(const fs::path& path) {
  if (!is_folder(path)) return {path};
  if (runs::has_rows(path, rows_file)) return {runs::file_of_rows(path, rows_file)};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (runs::has_rows(entry.path(), rows_file)) files.push_back(runs::file_of_rows(entry.path(), rows_file));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The settings in the manifest beside the rows; empty where there are none.
Json settings_beside(const fs::path& rows) {
  const fs::path manifest = rows.parent_path() / "manifest.json";
  if (!is_there(manifest)) return {};
  const Json found = strict_json<Json>(read_file(manifest), message("compare: --against=", manifest.string()));
  if (found.is_object()) runs::require_rows(rows.parent_path(), found, "compare");
  return found.is_object() && found.contains("settings") ? found["settings"] : Json();
}

void require_same_game(const fs::path& rows, const std::vector<Json>& games) {
  const Json before = settings_beside(rows);
  if (!before.is_object() || !before.contains("fingerprint") || before.contains("scenario")) return;
  for (const Json& now : games) {
    if (now.contains("scenario") || now["game"] != before.value("game", Json()) ||
        now["players"] != before.value("players", Json()))
      continue;
    require<DataError>(now["fingerprint"] == before["fingerprint"], "compare: --against=", rows.string(), " (its ",
                       now["game"].get<std::string>(), " of ", now["players"].dump(),
                       " players has other values than the one of this comparison). Give rows of the same game.");
  }
}

}  // namespace

std::vector<runs::MethodRow> read_baseline(const fs::path& path, const std::vector<Json>& games) {
  std::vector<runs::MethodRow> rows;
  for (const fs::path& file : files_of(path)) {
    require<DataError>(is_there(file), "compare: --against=", path.string(),
                       " (does not exist). Give a results.jsonl or the folder of a comparison.");
    require_same_game(file, games);
    for (runs::MethodRow& row : runs::read_method_rows(file)) rows.push_back(std::move(row));
  }
  require<DataError>(!rows.empty(), "compare: --against=", path.string(),
                     " (has no rows). Give a results.jsonl or the folder of a comparison.");
  const bool meets = std::ranges::any_of(rows, [&](const runs::MethodRow& row) {
    return std::ranges::any_of(
        games, [&](const Json& game) { return game["game"] == row.game && game["players"] == row.players; });
  });
  require<DataError>(meets, "compare: --against=", path.string(),
                     " (no row of it is of a game of this comparison). Give rows of the same game.");
  return rows;
}

Json to_json(const statistics::Rank& rank) { return {{"rank", rank.rank}, {"low", rank.low}, {"high", rank.high}}; }

Json to_json(const reporting::MethodChanges& changes) {
  Json methods = Json::array();
  for (const reporting::MethodChange& found : changes.methods)
    methods.push_back({{"method", found.method},
                       {"change", reporting::to_string(found.change)},
                       {"ratio", found.ratio},
                       {"low", found.interval.low},
                       {"high", found.interval.high},
                       {"runs", found.pairs},
                       {"lost", found.lost},
                       {"gained", found.gained}});
  return {{"methods", methods}, {"only_now", changes.only_now}, {"only_before", changes.only_before}};
}

}  // namespace opshap::cli
