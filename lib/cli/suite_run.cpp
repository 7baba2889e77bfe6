#include "cli/suite_run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/doctor.hpp"
#include "cli/game_options.hpp"
#include "cli/trained_explainer.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "core/threads.hpp"
#include "evaluation/comparison_run.hpp"
#include "games/cell_mask_game.hpp"
#include "networks/networks.hpp"
#include "pde/registry.hpp"
#include "peers/plugin.hpp"
#include "reporting/leaderboard.hpp"
#include "reporting/method_comparison.hpp"
#include "reporting/page_parts.hpp"
#include "runs/manifest.hpp"
#include "runs/part.hpp"
#include "runs/row_files.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The schema of the manifest of a suite's folder, and of its leaderboard.json.
constexpr std::string_view leaderboard_schema = "opshap.leaderboard/1";

/// A game of a suite that has been played.
struct BoardGame {
  std::string name;   ///< of its folder: "unanimity_sum_n16"
  std::string group;  ///< of games that have ranks of their own
  int players = 1;
  const evaluation::ComparisonRun* run;
};

BoardGame board_game(const SuiteGame& game, bool of_operator, const evaluation::ComparisonRun& run) {
  return {game.folder(), of_operator ? "operators" : "closed forms", game.players, &run};
}

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
  for (const runs::Stage& stage : runs::stages_of(manifest)) seconds += stage.seconds;
  std::string commits = commit_in_words(manifest);
  for (const Json& sitting : manifest.value("resumed", Json::array()))
    if (const std::string commit = commit_in_words(sitting); !commits.ends_with(commit)) commits += "; then " + commit;
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
  const EmbeddedSettings* const known = embedded(embedded_suites(), suite);
  return known == nullptr ? "" : suite_summary(*known);
}

Json manifest_in(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  Json manifest = strict_json<Json>(read_file(path), message("leaderboard: path=", path.string()));
  require<DataError>(manifest.is_object(), "leaderboard: path=", path.string(),
                     " (is no JSON object). Name the folder of a suite.");
  return manifest;
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
  std::vector<reporting::NamedFigure> curves;
  for (const reporting::LeaderboardGame& game : compared) {
    const runs::MethodRow& first = game.comparison->rows().front();
    reporting::Figure figure = game.comparison->budget_error();
    figure.title = fmt::format("{}, n = {}", first.game, first.players);
    for (reporting::Panel& panel : figure.panels) panel.id = game.name;
    curves.emplace_back(game.name, std::move(figure));
  }
  contents.curves = reporting::drawn(std::move(curves));
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

}  // namespace

bool is_leaderboard(const fs::path& folder) {
  return is_there(folder / "manifest.json") && manifest_in(folder).value("schema", Json()) == leaderboard_schema;
}

WrittenBoard rebuild_leaderboard(const fs::path& folder, const fs::path& page) {
  const Json manifest = manifest_in(folder);
  try {
    const auto seed = manifest.at("seed").get<std::uint64_t>();
    std::deque<evaluation::ComparisonRun> stored;  // the games point to them, and so they stay where they are
    std::vector<BoardGame> games;
    for (const Json& entry : manifest.at("settings").at("games")) {
      const SuiteGame game{.name = entry.at("name").get<std::string>(), .players = entry.at("players").get<int>()};
      require<DataError>(is_plain_name(game.folder()), "leaderboard: game=", game.name,
                         " (is no name of a folder). Take the manifest of the suite.");
      const fs::path place = folder / game.folder();
      runs::require_rows(place, manifest_in(place), "leaderboard");
      stored.push_back(evaluation::read_comparison(place, seed));
      games.push_back(board_game(game, entry.contains("operator"), stored.back()));
    }
    return written(folder, page, manifest, games, std::nullopt);
  } catch (const Json::exception& error) {
    throw DataError(message("leaderboard: path=", (folder / "manifest.json").string(), " (", error.what(),
                            "). Name the folder of a suite of this version."));
  }
}

WrittenBoard keep_leaderboard(const fs::path& folder, const fs::path& keep, const fs::path& page) {
  runs::keep_comparison(folder, keep);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_there(entry.path() / "truth.json")) runs::keep_comparison(entry.path(), keep / entry.path().filename());
  }
  return rebuild_leaderboard(keep, page);
}

namespace {

constexpr std::string_view explainer_prefix = "explainer:";

/// The suite with what the command line says otherwise.
Suite settled(const CompareOptions& options, Suite suite) {
  const CLI::App& command = *options.command;
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
Json programs_json(const std::vector<std::string>& methods) {
  Json list = Json::array();
  for (const std::string& method : methods) {
    if (!method.starts_with(peer_prefix)) continue;
    const peers::Plugin plugin = peers::read_plugin(method.substr(peer_prefix.size()));
    list.push_back({{"name", plugin.name},
                    {"version", plugin.version},
                    {"checksum", plugin.checksum},
                    {"citation", plugin.citation}});
  }
  return list;
}

/// What decides the rows of all games.
Json suite_settings(const Suite& suite, const CompareOptions& options) {
  const Json programs = programs_json(options.methods);
  Json settings = suite.settings();
  for (std::size_t i = 0; i < suite.games.size(); ++i)
    if (const auto& op = suite.games[i].op)
      settings["games"][i]["crc32c"] = fmt::format("{:08x}", crc32c(read_file(op->file)));
  settings["methods"] = options.methods;
  if (!programs.empty()) settings["peers"] = programs;
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

/// A game of a suite that has been made. The game refers to the operator, and so may the methods.
struct SuiteEntry {
  std::shared_ptr<const Operator> op = nullptr;  ///< none for a member of a family
  NamedGame named;
  methods::Kinds kinds = {};  ///< makers of the methods that are no estimators
};

/// The grid of a problem with so many points.
std::vector<int> grid_of(const SuiteGame& game, int dimension) {
  if (dimension == 1) return {game.players};
  const int side = static_cast<int>(std::lround(std::sqrt(game.players)));
  require(side * side == game.players, "suite: ", game.name, ", players=", game.players,
          " (the points of a square grid play). Give a square number.");
  return {side, side};
}

/// The game of an operator's prediction.
SuiteEntry entry_of(const SuiteGame& game, bool force, const Globals& globals) {
  SuiteEntry entry;
  entry.op =
      networks::library().load_operator(game.op->file, globals.device, networks::Precision::float32, globals.engine);
  const pde::Problem& problem = pde::find(game.op->problem);
  const int dimension = problem.input().domain.dimension();
  require(entry.op->dimension() == dimension && entry.op->input_channels() == problem.input().channel_count(),
          "suite: ", game.name, ", operator=", game.op->file.string(), " (", entry.op->describe(),
          ", does not take the inputs of ", game.op->problem, "). Give an operator that was trained for them.");
  const std::vector<int> shape = grid_of(game, dimension);
  FieldBatch field = problem.draw(Rng(0, message("suite/", game.op->problem)), game.op->sample).input;
  field = strided(field, shape);
  field.domain = entry.op->domain(shape);
  const ScenarioRule rule = problem.default_rule();
  Scenario scenario = make_scenario(rule, field);
  entry.named = {.name = game.name,
                 .game = games::cell_mask_game(*entry.op, scenario),
                 .rule = rule.describe(),
                 .scenario = std::make_unique<Scenario>(std::move(scenario))};
  entry.kinds = explainer_kinds(*entry.op, *entry.named.scenario, rule, force, globals);
  return entry;
}

SuiteEntry made(const SuiteGame& game, bool force, const Globals& globals) {
  SuiteEntry entry = game.op ? entry_of(game, force, globals)
                             : SuiteEntry{.named = family_game("suite", game.family, game.players, game.seed)};
  entry.named.name = game.name;
  return entry;
}

/// One game of the suite, with its folder below --out.
PlayedGame play_one(const Globals& globals, const CompareOptions& options, const Suite& suite, const SuiteGame& game,
                    const Json& environment) {
  const SuiteEntry entry = made(game, options.force, globals);
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
    games.push_back(
        comparison_settings(globals, options_for(game, suite, options), made(game, options.force, globals).named, {}));
  }
  return read_baseline(options.against, games);
}

}  // namespace

void run_suite(const Globals& globals, const CompareOptions& given, const Suite& raw, const Json& environment) {
  require(!globals.out.empty() && globals.out != "-",
          "compare: --out (with --suite: a folder for each game and the page go there). Name a folder.");
  const Suite suite = settled(given, raw);
  CompareOptions options = given;
  if (options.methods.empty()) options.methods = {"all"};
  const Json settings = suite_settings(suite, options);
  std::vector<runs::MethodRow> baseline;  // read first: a broken file stops here, not after an hour
  if (!options.against.empty()) baseline = baseline_of(globals, options, suite);

  const runs::Part part = runs::Part::parse("compare", options.shard);
  if (!part.whole()) {
    for (const SuiteGame& game : suite.games) {
      const SuiteEntry entry = made(game, options.force, globals);
      play_part(globals, options_for(game, suite, options), entry.named, environment, entry.kinds,
                globals.out / game.folder(), part);
    }
    std::cout << globals.out.string() << '\n';
    return;
  }
  for (const SuiteGame& game : suite.games) runs::require_unpacked_rows(globals.out / game.folder(), "compare");
  runs::Manifest manifest(globals.out, beginning("compare", leaderboard_schema, globals, environment,
                                                 {{"summary", suite.summary}, {"settings", settings}}));
  std::vector<PlayedGame> played;
  for (const SuiteGame& game : suite.games) {
    if (verbosity() != Verbosity::quiet)
      std::cerr << "compare: " << game.folder() << ", game " << played.size() + 1 << " of " << suite.games.size()
                << '\n';
    played.push_back(
        manifest.stage(game.folder(), [&] { return play_one(globals, options, suite, game, environment); }));
  }

  std::vector<BoardGame> games;
  std::vector<const PlayedGame*> sound;
  std::vector<runs::MethodRow> rows;
  for (std::size_t i = 0; i < played.size(); ++i) {
    const SuiteGame& game = suite.games[i];
    games.push_back(board_game(game, game.op.has_value(), played[i].run));
    sound.push_back(&played[i]);
    const std::vector<runs::MethodRow>& more = played[i].run.comparison.rows();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::optional<reporting::MethodChanges> changes;
  if (!options.against.empty()) changes = reporting::method_changes(rows, baseline, globals.seed);
  const WrittenBoard board = written(globals.out, {}, manifest_in(globals.out), games, changes);
  if (globals.json) {
    print_json(board.object);
  } else {
    std::cout << board.ranks << board.page.string() << '\n';
    for (const std::string& line : changes ? changes->lines() : std::vector<std::string>{}) std::cout << line << '\n';
  }
  require_sound(sound, changes);
}

methods::Kinds explainer_kinds(const Operator& op, const Scenario& scenario, const ScenarioRule& rule, bool force,
                               const Globals& globals) {
  return {{"explainer", [&, rule, force](const std::string& file) {
             auto explainer = trained_explainer(file, op, globals.device, std::filesystem::path(file).stem());
             require_trained_for("compare", *explainer, file, op, rule, force);
             require_explains("compare", *explainer, file, scenario.input.domain, rule, {scenario.readout});
             return explainer;
           }}};
}

}  // namespace opshap::cli
