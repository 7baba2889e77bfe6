#include "cli/leaderboard_folder.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/baseline.hpp"
#include "cli/suite.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "reporting/leaderboard.hpp"
#include "reporting/page_parts.hpp"
#include "runs/row_files.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

Json class_json(const reporting::AccessClass& of) {
  Json ranks = Json::array();
  for (const reporting::Standing& standing : of.standings) {
    Json entry = {{"method", standing.method}};
    entry.update(to_json(standing.overall));
    entry["groups"] = Json::object();
    for (const auto& [group, rank] : standing.in_group) entry["groups"][group] = to_json(rank);
    entry.update(Json{{"exact", standing.exact}, {"refused", standing.refused}, {"unfinished", standing.unfinished}});
    ranks.push_back(std::move(entry));
  }
  return {{"access", of.access}, {"conditions", of.conditions}, {"ranks", ranks}, {"not_ranked", of.not_ranked}};
}

/// Keys and values of an object as words: what is no text stands as JSON.
std::vector<std::pair<std::string, std::string>> pairs_in_words(const Json& object) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const auto& [key, value] : object.items())
    words.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  return words;
}

std::string commit_in_words(const Json& sitting) {
  return sitting.value("commit", "unknown") + (sitting.value("dirty", false) ? ", with uncommitted changes" : "");
}

/// What the manifest knows of the run, for the page.
void describe(const Json& manifest, reporting::LeaderboardContents& contents) {
  const Json& environment = manifest.at("environment");
  double seconds = 0;
  for (const Json& time : manifest.at("seconds")) seconds += time.get<double>();
  std::string commits = commit_in_words(manifest);
  const Json resumed = manifest.value("resumed", Json::array());
  for (const Json& sitting : resumed) {
    if (const std::string commit = commit_in_words(sitting); !commits.ends_with(commit)) commits += "; then " + commit;
  }
  contents.facts = {{"Games", std::to_string(contents.board.games().size())},
                    {"Repeats", manifest.at("settings").at("repeats").dump()},
                    {"Seed", manifest.at("seed").dump()},
                    {"Wall time", reporting::show_seconds(seconds)},
                    {"Started", manifest.value("started", "")},
                    {"Commit", commits},
                    {"Processor", environment.value("processor", "")}};
  std::string command;
  for (const Json& word : manifest.at("command")) command += (command.empty() ? "" : " ") + word.get<std::string>();
  contents.origin = {{"command", command}, {"commit", commits}};
  for (auto& pair : pairs_in_words(environment)) contents.origin.push_back(std::move(pair));
  for (auto& pair : pairs_in_words(manifest.at("settings"))) contents.origin.push_back(std::move(pair));
}

/// The programs that took part, as the manifest's settings have them.
Json programs_of(const Json& manifest) { return manifest.at("settings").value("peers", Json::array()); }

reporting::Table programs_table(const Json& programs) {
  reporting::Table table{.name = "peers",
                         .caption =
                             "Programs that took part. The checksum is that of the names and contents of the "
                             "files in the program's folder.",
                         .columns = {{"program"}, {"version"}, {"checksum"}, {"citation"}}};
  const auto given = [](const Json& program, const char* key) {
    const auto value = program.at(key).get<std::string>();
    return value.empty() ? "not given" : value;
  };
  for (const Json& program : programs)
    table.add({"peer:" + program.at("name").get<std::string>(), given(program, "version"), given(program, "checksum"),
               given(program, "citation")});
  return table;
}

/// The line about the suite that the manifest has. Manifests of before do not have it, and then it is that of the suite
/// of this program.
std::string summary_of(const Json& manifest, const std::string& suite) {
  if (manifest.contains("summary")) return manifest.at("summary").get<std::string>();
  for (const EmbeddedSettings& known : embedded_suites()) {
    if (known.name == suite) return suite_summary(known);
  }
  return "";
}

Json manifest_in(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  Json manifest = strict_json<Json>(read_file(path), message("leaderboard: path=", path.string()));
  require<DataError>(manifest.is_object(), "leaderboard: path=", path.string(),
                     " (is no JSON object). Name the folder of a suite.");
  return manifest;
}

/// A game as the manifest of its suite names it, and what its folder has.
struct StoredGame {
  BoardGame game;
  evaluation::ComparisonRun run;
};

/// They point to themselves, and so stay where they are.
std::deque<StoredGame> stored_games(const fs::path& folder, const Json& manifest) {
  std::deque<StoredGame> games;
  const auto seed = manifest.at("seed").get<std::uint64_t>();
  for (const Json& entry : manifest.at("settings").at("games")) {
    const SuiteGame named{.name = entry.at("name").get<std::string>(), .players = entry.at("players").get<int>()};
    require<DataError>(is_plain_name(named.folder()), "leaderboard: game=", named.name,
                       " (is no name of a folder). Take the manifest of the suite.");
    const fs::path place = folder / named.folder();
    runs::require_rows(place, manifest_in(place), "leaderboard");
    StoredGame& stored = games.emplace_back(
        StoredGame{.game = {.name = named.folder(),
                            .group = entry.contains("operator") ? group_of_operators : group_of_closed_forms,
                            .players = named.players,
                            .run = nullptr},
                   .run = evaluation::read_comparison(place, seed)});
    stored.game.run = &stored.run;
  }
  return games;
}

WrittenBoard written(const fs::path& folder, const fs::path& page, const Json& manifest,
                     const std::vector<BoardGame>& games, const std::optional<reporting::MethodChanges>& changes) {
  const auto seed = manifest.at("seed").get<std::uint64_t>();
  const auto suite = manifest.at("settings").at("suite").get<std::string>();
  std::vector<reporting::LeaderboardGame> compared;
  for (const BoardGame& game : games) compared.push_back({game.name, game.group, &game.run->comparison});
  const reporting::Leaderboard board(compared, seed);
  reporting::LeaderboardContents contents{.suite = suite,
                                          .summary = summary_of(manifest, suite),
                                          .board = board,
                                          .peers = programs_table(programs_of(manifest)),
                                          .changes = changes};
  for (const reporting::LeaderboardGame& game : compared) {
    const runs::MethodRow& first = game.comparison->rows().front();
    reporting::Figure figure = game.comparison->budget_error();
    figure.title = fmt::format("{}, n = {}", first.game, first.players);
    for (reporting::Panel& panel : figure.panels) panel.id = game.name;
    contents.curves.push_back(reporting::drawn(game.name, std::move(figure)));
  }
  describe(manifest, contents);

  Json object = {{"schema", leaderboard_schema}, {"suite", suite}, {"commit", contents.origin[1].second}};
  object["games"] = object["classes"] = object["less_exact_than_declared"] = Json::array();
  for (const BoardGame& game : games) {
    const auto& [truth, comparison] = *game.run;
    object["games"].push_back({{"name", game.name},
                               {"group", game.group},
                               {"players", game.players},
                               {"truth", {{"method", truth.method}, {"error", truth.error}}}});
    for (const std::string& broken : comparison.less_exact_than_declared())
      object["less_exact_than_declared"].push_back(game.name + ": " + broken);
  }
  WrittenBoard result{.page = page.empty() ? folder / "report.html" : page};
  const fs::path tables = folder / "tables";
  for (const reporting::AccessClass& of : board.classes()) {
    object["classes"].push_back(class_json(of));
    write_table(tables, board.ranking(of));
    write_table(tables, board.ranking_by_game(of));
    result.ranks += message("## ", heading(of), "\n\n", board.ranking(of).markdown(), '\n');
  }
  object["peers"] = programs_of(manifest);
  if (changes) object["against"] = to_json(*changes);
  for (const reporting::Table& table : {board.cost(), board.unfinished(), board.refused()}) write_table(tables, table);
  write_file(folder / "leaderboard.json", object.dump(2) + '\n');
  write_file(result.page, leaderboard_page(contents));
  result.object = std::move(object);
  return result;
}

/// Of the games whose rows are in `rows`, into `folder`.
WrittenBoard rebuilt(const fs::path& rows, const fs::path& folder, const fs::path& page) {
  const Json manifest = manifest_in(rows);
  try {
    const std::deque<StoredGame> stored = stored_games(rows, manifest);
    std::vector<BoardGame> games;
    for (const StoredGame& game : stored) games.push_back(game.game);
    return written(folder, page, manifest, games, std::nullopt);
  } catch (const Json::exception& error) {
    throw DataError(message("leaderboard: path=", (rows / "manifest.json").string(), " (", error.what(),
                            "). Name the folder of a suite of this version."));
  }
}

}  // namespace

bool is_leaderboard(const fs::path& folder) {
  return is_there(folder / "manifest.json") && manifest_in(folder).value("schema", Json()) == leaderboard_schema;
}

WrittenBoard write_leaderboard(const fs::path& folder, const std::vector<BoardGame>& games,
                               const std::optional<reporting::MethodChanges>& changes) {
  return written(folder, {}, manifest_in(folder), games, changes);
}

WrittenBoard rebuild_leaderboard(const fs::path& folder, const fs::path& page) { return rebuilt(folder, folder, page); }

WrittenBoard keep_leaderboard(const fs::path& folder, const fs::path& keep, const fs::path& page) {
  runs::keep_comparison(folder, keep);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_there(entry.path() / "truth.json")) runs::keep_comparison(entry.path(), keep / entry.path().filename());
  }
  return rebuilt(keep, keep, page);
}

}  // namespace opshap::cli
