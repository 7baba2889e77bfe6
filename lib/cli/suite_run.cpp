#include "cli/suite_run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/baseline.hpp"
#include "cli/environment.hpp"
#include "cli/family_game.hpp"
#include "cli/game_options.hpp"
#include "cli/leaderboard_folder.hpp"
#include "cli/played_game.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "peers/plugin.hpp"
#include "runs/manifest.hpp"
#include "runs/part.hpp"
#include "runs/row_files.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view explainer_prefix = "explainer:";

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

Json programs_json(const std::vector<peers::Plugin>& programs) {
  Json list = Json::array();
  for (const peers::Plugin& plugin : programs)
    list.push_back({{"name", plugin.name},
                    {"version", plugin.version},
                    {"checksum", plugin.checksum},
                    {"citation", plugin.citation}});
  return list;
}

/// What decides the rows of all games.
Json suite_settings(const Suite& suite, const CompareOptions& options, const std::vector<peers::Plugin>& programs) {
  Json settings = suite.settings();
  for (std::size_t i = 0; i < suite.games.size(); ++i) {
    if (!suite.games[i].op) continue;
    const std::string weights = read_file(suite.games[i].op->file);
    settings["games"][i]["crc32c"] = fmt::format("{:08x}", crc32c(std::as_bytes(std::span(weights))));
  }
  settings["methods"] = options.methods;
  if (!programs.empty()) settings["peers"] = programs_json(programs);
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
  const Json settings = suite_settings(suite, options, programs);
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
  for (const SuiteGame& game : suite.games) runs::require_unpacked_rows(globals.out / game.folder(), "compare");
  runs::Manifest manifest(globals.out,
                          beginning("compare", leaderboard_schema, globals, environment,
                                    {{"summary", suite.summary}, {"settings", settings}}),
                          runs::equal_to(settings));
  std::vector<PlayedGame> played;
  for (const SuiteGame& game : suite.games) {
    if (verbosity() != Verbosity::quiet)
      std::cerr << "compare: " << game.folder() << ", game " << played.size() + 1 << " of " << suite.games.size()
                << '\n';
    played.push_back(
        manifest.stage(game.folder(), [&] { return play_one(globals, options, suite, game, environment, operators); }));
  }

  std::vector<BoardGame> games;
  std::vector<const PlayedGame*> sound;
  std::vector<runs::MethodRow> rows;
  for (std::size_t i = 0; i < played.size(); ++i) {
    const SuiteGame& game = suite.games[i];
    games.push_back({.name = game.folder(),
                     .group = game.op ? group_of_operators : group_of_closed_forms,
                     .players = game.players,
                     .run = &played[i].run});
    sound.push_back(&played[i]);
    const std::vector<runs::MethodRow>& more = played[i].run.comparison.rows();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::optional<reporting::MethodChanges> changes;
  if (!options.against.empty()) changes = reporting::method_changes(rows, baseline, globals.seed);
  const WrittenBoard written = write_leaderboard(globals.out, games, changes);
  if (globals.json) {
    print_json(written.object);
  } else {
    std::cout << written.ranks << written.page.string() << '\n';
    if (changes) {
      for (const std::string& line : changes->lines()) std::cout << line << '\n';
    }
  }
  require_sound(sound, changes);
}

}  // namespace opshap::cli
