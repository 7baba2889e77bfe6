#include "cli/suite_run.hpp"

#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/baseline.hpp"
#include "cli/environment.hpp"
#include "cli/family_game.hpp"
#include "cli/played_game.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/progress.hpp"
#include "peers/plugin.hpp"
#include "reporting/leaderboard.hpp"
#include "reporting/page_leaderboard.hpp"
#include "reporting/report_files.hpp"
#include "runs/manifest.hpp"
#include "runs/part.hpp"

namespace opshap::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view peer_prefix = "peer:", explainer_prefix = "explainer:";

/// The suite with what the command line says otherwise.
Suite settled(const CLI::App& command, const CompareOptions& options, Suite suite) {
  for (const char* option : {"--game", "--game-seed", "--input", "--mesh", "--query", "--query-at", "--target",
                             "--query-channel", "--masked-channels", "--baseline", "--players", "--partition"})
    require(command.count(option) == 0, "compare: ", option,
            " (with --suite: the suite names its games). Leave it out.");
  if (command.count("--repeats") > 0) suite.repeats = options.repeats;
  if (command.count("--relative-error") > 0) suite.reference.relative_error = options.reference.relative_error;
  if (command.count("--max-evaluations") > 0) suite.reference.max_evaluations = options.reference.max_evaluations;
  if (command.count("--exact-players") > 0) suite.reference.exact_players = options.reference.exact_players;
  if (command.count("--budgets") > 0) {
    for (SuiteGame& game : suite.games) game.budgets = options.budgets;
  }
  return suite;
}

/// The programs among the methods, as their plugin.toml describes them.
std::vector<peers::Plugin> plugins(const std::vector<std::string>& methods) {
  std::vector<peers::Plugin> found;
  for (const std::string& method : methods) {
    if (method.starts_with(peer_prefix)) found.push_back(peers::read_plugin(method.substr(peer_prefix.size())));
  }
  return found;
}

Json json_of(const std::vector<peers::Plugin>& programs) {
  Json list = Json::array();
  for (const peers::Plugin& plugin : programs)
    list.push_back({{"name", plugin.name},
                    {"version", plugin.version},
                    {"checksum", plugin.checksum},
                    {"citation", plugin.citation}});
  return list;
}

/// What decides the rows of all games.
Json settings_of(const Suite& suite, const CompareOptions& options, const std::vector<peers::Plugin>& programs) {
  Json settings = suite.settings();
  for (std::size_t i = 0; i < suite.games.size(); ++i) {
    if (!suite.games[i].op) continue;
    const std::string weights = read_file(suite.games[i].op->file);
    settings["games"][i]["crc32c"] = fmt::format("{:08x}", crc32c(std::as_bytes(std::span(weights))));
  }
  settings["methods"] = options.methods;
  if (!programs.empty()) settings["peers"] = json_of(programs);
  if (options.minimum_norm) settings["minimum_norm"] = true;
  return settings;
}

CompareOptions options_for(const SuiteGame& game, const Suite& suite, CompareOptions options) {
  options.budgets = game.budgets;
  options.repeats = suite.repeats;
  options.reference = suite.reference;
  // A trained explainer explains fields, and a member of a family has none.
  if (!game.op) std::erase_if(options.methods, [](const auto& name) { return name.starts_with(explainer_prefix); });
  return options;
}

SuiteEntry made(const SuiteGame& game, const OperatorEntries& operators) {
  SuiteEntry entry =
      game.op ? operators(game) : SuiteEntry{.named = family_game("suite", game.family, game.players, game.seed)};
  entry.named.name = game.name;
  return entry;
}

Json rank_json(const statistics::Rank& rank) { return {{"rank", rank.rank}, {"low", rank.low}, {"high", rank.high}}; }

Json json_of(const reporting::AccessClass& of) {
  Json ranks = Json::array();
  for (const reporting::Standing& standing : of.standings) {
    Json entry = {{"method", standing.method}};
    entry.update(rank_json(standing.overall));
    entry["groups"] = Json::object();
    for (const auto& [group, rank] : standing.in_group) entry["groups"][group] = rank_json(rank);
    entry.update(Json{{"exact", standing.exact}, {"refused", standing.refused}, {"unfinished", standing.unfinished}});
    ranks.push_back(std::move(entry));
  }
  return {{"access", of.access}, {"conditions", of.conditions}, {"ranks", ranks}, {"not_ranked", of.not_ranked}};
}

/// Keys and values of an object as words: what is no text stands as JSON.
std::vector<std::pair<std::string, std::string>> in_words(const Json& object) {
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
  for (auto& pair : in_words(environment)) contents.origin.push_back(std::move(pair));
  for (auto& pair : in_words(manifest.at("settings"))) contents.origin.push_back(std::move(pair));
}

reporting::Table table_of(const std::vector<peers::Plugin>& programs) {
  reporting::Table table{.name = "peers",
                         .caption =
                             "Programs that took part. The checksum is that of the names and contents of the "
                             "files in the program's folder.",
                         .columns = {{"program"}, {"version"}, {"checksum"}, {"citation"}}};
  for (const peers::Plugin& plugin : programs)
    table.add({"peer:" + plugin.name, plugin.version.empty() ? "not given" : plugin.version, plugin.checksum,
               plugin.citation.empty() ? "not given" : plugin.citation});
  return table;
}

/// One game of the suite, with its folder below --out.
PlayedGame play_one(const Globals& globals, const CompareOptions& options, const Suite& suite, const SuiteGame& game,
                    const Json& environment, const OperatorEntries& operators) {
  const SuiteEntry entry = made(game, operators);
  return play(globals, options_for(game, suite, options), entry.named, environment, entry.kinds,
              globals.out / game.folder());
}

/// The rows that today's ones are compared with. Of a game of an operator it is enough to know its name.
std::vector<runs::MethodRow> baseline_of(const Globals& globals, const CompareOptions& options, const Suite& suite) {
  std::vector<Json> games;
  for (const SuiteGame& game : suite.games) {
    if (game.op) {
      games.push_back({{"game", game.name}, {"players", game.players}, {"scenario", "of an operator"}});
      continue;
    }
    games.push_back(comparison_settings(globals, options_for(game, suite, options), made(game, {}).named, {}));
  }
  return read_baseline(options.against, games);
}

}  // namespace

void run_suite(const CLI::App& command, const Globals& globals, const CompareOptions& given, const Suite& raw,
               const Json& environment, const OperatorEntries& operators) {
  require(!globals.out.empty() && globals.out != "-",
          "compare: --out (with --suite: a folder for each game and the page go there). Name a folder.");
  const Suite suite = settled(command, given, raw);
  CompareOptions options = given;
  if (options.methods.empty()) options.methods = {"all"};
  const std::vector<peers::Plugin> programs = plugins(options.methods);
  const Json settings = settings_of(suite, options, programs);
  std::vector<runs::MethodRow> baseline;  // read first: a broken file stops here, not after an hour
  if (!options.against.empty()) baseline = baseline_of(globals, options, suite);

  const runs::Part part = runs::Part::parse("compare", options.shard);
  if (!part.whole()) {
    for (const SuiteGame& game : suite.games) {
      const SuiteEntry entry = made(game, operators);
      play_part(globals, options_for(game, suite, options), entry.named, environment, entry.kinds,
                globals.out / game.folder(), part);
    }
    std::cout << globals.out.string() << '\n';
    return;
  }
  runs::Manifest manifest(globals.out,
                          beginning("compare", "opshap.leaderboard/1", globals, environment, {{"settings", settings}}),
                          runs::equal_to(settings));
  std::vector<PlayedGame> played;
  for (const SuiteGame& game : suite.games) {
    if (verbosity() != Verbosity::quiet)
      std::cerr << "compare: " << game.folder() << ", game " << played.size() + 1 << " of " << suite.games.size()
                << '\n';
    played.push_back(
        manifest.stage(game.folder(), [&] { return play_one(globals, options, suite, game, environment, operators); }));
  }

  std::vector<reporting::LeaderboardGame> games;
  std::vector<const PlayedGame*> sound;
  std::vector<runs::MethodRow> rows;
  for (std::size_t i = 0; i < played.size(); ++i) {
    const reporting::MethodComparison& comparison = played[i].run.comparison;
    games.push_back({suite.games[i].folder(), suite.games[i].op ? "operators" : "closed forms", &comparison});
    sound.push_back(&played[i]);
    rows.insert(rows.end(), comparison.rows().begin(), comparison.rows().end());
  }
  const reporting::Leaderboard board(games, globals.seed);
  reporting::LeaderboardContents contents{
      .suite = suite.name, .summary = suite.summary, .board = board, .peers = table_of(programs)};
  if (!options.against.empty()) contents.changes = reporting::method_changes(rows, baseline, globals.seed);
  for (const reporting::LeaderboardGame& game : games) {
    reporting::Figure figure = game.comparison->budget_error();
    figure.title =
        fmt::format("{}, n = {}", game.comparison->rows().front().game, game.comparison->rows().front().players);
    for (reporting::Panel& panel : figure.panels) panel.id = game.name;
    contents.curves.push_back(reporting::drawn(game.name, std::move(figure)));
  }
  describe(Json::parse(read_file(globals.out / "manifest.json")), contents);

  const fs::path tables = globals.out / "tables";
  Json object = {{"schema", "opshap.leaderboard/1"}, {"suite", suite.name}, {"commit", contents.origin[1].second}};
  object["games"] = object["classes"] = object["broken_promises"] = Json::array();
  for (std::size_t i = 0; i < games.size(); ++i) {
    const evaluation::Truth& truth = played[i].run.truth;
    object["games"].push_back({{"name", games[i].name},
                               {"group", games[i].group},
                               {"players", suite.games[i].players},
                               {"truth", {{"method", truth.method}, {"error", truth.error}}}});
    for (const std::string& broken : games[i].comparison->broken_promises())
      object["broken_promises"].push_back(games[i].name + ": " + broken);
  }
  for (const reporting::AccessClass& of : board.classes()) {
    object["classes"].push_back(json_of(of));
    write_table(tables, board.ranking(of));
    write_table(tables, board.ranking_by_game(of));
  }
  object["peers"] = json_of(programs);
  if (contents.changes) object["against"] = to_json(*contents.changes);
  for (const reporting::Table& table : {board.cost(), board.unfinished(), board.refused()}) write_table(tables, table);
  write_file(globals.out / "leaderboard.json", object.dump(2) + '\n');
  write_file(globals.out / "report.html", leaderboard_page(contents));

  if (globals.json) {
    print_json(object);
  } else {
    for (const reporting::AccessClass& of : board.classes())
      std::cout << "## " << heading(of) << "\n\n" << board.ranking(of).markdown() << '\n';
    std::cout << (globals.out / "report.html").string() << '\n';
    if (contents.changes) {
      for (const std::string& line : contents.changes->lines()) std::cout << line << '\n';
    }
  }
  require_sound(sound, contents.changes);
}

}  // namespace opshap::cli
