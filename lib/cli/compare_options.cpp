#include "cli/compare_options.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "cli/doctor.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "evaluation/contest.hpp"
#include "peers/frame.hpp"
#include "runs/manifest.hpp"
#include "runs/row_files.hpp"

namespace opshap::cli {

void run_compare(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                 const nlohmann::ordered_json& environment, const methods::Kinds& kinds) {
  require(globals.out != "-", "compare: --out=- (a folder is written). Name a folder, or leave it out.");
  const runs::Part part = runs::Part::parse("compare", options.shard);
  if (!part.whole()) {
    require(!globals.out.empty(), "compare: --shard (a part is kept for `opshap merge`). Give --out FOLDER.");
    play_part(globals, options, named, environment, kinds, globals.out, part);
    std::cout << part.folder(globals.out).string() << '\n';
    return;
  }
  std::vector<runs::MethodRow> baseline;  // read first: a broken file stops here, not after an hour
  if (!options.against.empty())
    baseline = read_baseline(options.against, {comparison_settings(globals, options, named, kinds)});
  const PlayedGame played = play(globals, options, named, environment, kinds, globals.out);
  const reporting::MethodComparison& comparison = played.run.comparison;
  std::optional<reporting::MethodChanges> changes;
  if (!options.against.empty()) changes = reporting::method_changes(comparison.rows(), baseline, globals.seed);
  if (globals.json) {
    nlohmann::ordered_json object = played.json();
    if (changes) object["against"] = to_json(*changes);
    print_json(object);
  } else {
    std::cout << (globals.out.empty() ? played.summary() : (globals.out / "summary.md").string() + '\n');
    for (const std::string& line : changes ? changes->lines() : std::vector<std::string>{}) std::cout << line << '\n';
  }
  require_sound({&played}, changes);
}

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

namespace {

/// The estimator of that name, where it solves a least-squares problem.
const estimators::LeastSquares* least_squares(const std::string& name) {
  if (std::ranges::count(estimators::names(), name) == 0) return nullptr;
  return dynamic_cast<const estimators::LeastSquares*>(&estimators::find(name));
}

/// The names that were given, with every registered estimator in the place of "all".
std::vector<std::string> wanted_names(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& name : given)
    std::ranges::copy(name == "all" ? estimators::names() : std::vector{name}, std::back_inserter(names));
  return names;
}

/// The methods that were named. An unknown name stops here.
evaluation::Contestants wanted_methods(const CompareOptions& options, const methods::Kinds& kinds) {
  evaluation::Contestants wanted;
  std::set<std::string> seen;
  bool solves_any = false;
  for (const std::string& name : wanted_names(options.methods)) {
    require(seen.insert(name).second, "compare: --methods=", name, " (given twice). Keep one.");
    std::shared_ptr<const methods::Method> method = methods::resolve(name, kinds);
    if (const auto* solves = least_squares(name); solves != nullptr && options.minimum_norm) {
      solves_any = true;
      method = methods::of_estimator(solves->with_minimum_norm());
    }
    evaluation::add_contestant("compare: --methods", wanted, std::move(method), name);
  }
  require(!options.minimum_norm || solves_any,
          "compare: --minimum-norm (none of the methods solves a least-squares problem). Leave it out.");
  return wanted;
}

evaluation::ComparisonPlan plan_of(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                                   const Game& game, const methods::Kinds& kinds) {
  require(options.repeats >= 1, "compare: --repeats=", options.repeats, " (no run). Give at least one.");
  require(!options.methods.empty(),
          "compare: --methods (missing). Give names of `opshap list estimators`, peer:FOLDER or all.");
  evaluation::ComparisonPlan plan{.game = game,
                                  .name = named.name,
                                  .interaction_order = named.interaction_order,
                                  .methods = wanted_methods(options, kinds),
                                  .budgets = {},
                                  .repeats = options.repeats,
                                  .seed = globals.seed,
                                  .scenario = named.scenario.get()};
  const bool needs_budgets =
      std::ranges::any_of(plan.methods, [](const auto& method) { return method->uses_budget(); });
  require(!needs_budgets || !options.budgets.empty(),
          "compare: --budgets (missing: methods that sample coalitions need limits). Give for example 2^7..2^12.");
  if (!options.budgets.empty()) plan.budgets = evaluation::parse_budgets(options.budgets, plan.game.players());
  return plan;
}

/// As --methods has it.
std::string name_of(const methods::Method& method) {
  return method.explainer() ? message("explainer:", *method.explainer()) : std::string(method.name());
}

Json game_settings(const CompareOptions& options, const evaluation::ComparisonPlan& plan, const std::string& rule) {
  const evaluation::ReferenceSettings& reference = options.reference;
  Json settings = {{"game", plan.name},
                   {"players", plan.game.players()},
                   {"fingerprint", evaluation::fingerprint(plan.game)},
                   {"seed", plan.seed},
                   {"methods", Json::array()},
                   {"budgets", plan.budgets},
                   {"repeats", plan.repeats},
                   {"reference",
                    {{"relative_error", reference.relative_error},
                     {"max_evaluations", reference.max_evaluations},
                     {"exact_players", reference.exact_players}}}};
  if (!rule.empty()) settings["scenario"] = rule;
  for (const auto& method : plan.methods) {
    settings["methods"].push_back(name_of(*method));
    if (method->explainer()) {
      settings["explainers"][*method->explainer()] = method->checksum();
    } else if (!method->checksum().empty()) {
      settings["peers"][std::string(method->name())] = method->checksum();
    }
  }
  if (options.minimum_norm) settings["minimum_norm"] = true;
  return settings;
}

}  // namespace

Json PlayedGame::json() const {
  const auto& [truth, comparison] = run;
  Json object = settings;
  object["truth"] = {{"method", noisy ? "noisy" : truth.method}, {"error", truth.error}};
  object.update(noise);
  object["exact"] = object["undefined"] = object["failures"] = object["ranks"] = object["rows"] = Json::array();
  for (const reporting::MethodCell& cell : comparison.cells()) {
    const Json budget = cell.budget ? Json(*cell.budget) : Json(nullptr);
    for (const auto& [list, key, said] : {std::tuple("exact", "why", &cell.exact),
                                          {"undefined", "why", &cell.undefined},
                                          {"failures", "failure", &cell.failure}})
      if (!said->empty()) object[list].push_back({{"method", cell.method}, {"budget", budget}, {key, *said}});
  }
  for (const reporting::MethodRank& method : comparison.ranks()) {
    Json entry = {{"method", method.method}};
    entry.update(method.overall ? to_json(*method.overall)
                                : Json{{"rank", nullptr}, {"low", nullptr}, {"high", nullptr}});
    entry["at"] = Json::array();
    for (const auto& [budget, rank] : method.at) {
      Json at = {{"budget", budget}};
      at.update(to_json(rank));
      entry["at"].push_back(at);
    }
    object["ranks"].push_back(entry);
  }
  object["not_ranked"] = Json::array();
  for (const auto& [method, why] : comparison.not_ranked())
    object["not_ranked"].push_back({{"method", method}, {"why", why}});
  object["less_exact_than_declared"] = comparison.less_exact_than_declared();
  for (const runs::MethodRow& row : comparison.rows()) {
    object["rows"].push_back(Json::parse(runs::to_json_line(row)));
    object["rows"].back().erase("crc32c");  // it is of a line in a file
  }
  return object;
}

Json comparison_settings(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                         const methods::Kinds& kinds) {
  return game_settings(options, plan_of(globals, options, named, *named.game, kinds), named.rule);
}

PlayedGame play(const Globals& globals, const CompareOptions& options, const NamedGame& named, const Json& environment,
                const methods::Kinds& kinds, const std::filesystem::path& folder) {
  AskedGame asked(*named.game, named.foreign);
  const evaluation::ComparisonPlan plan = plan_of(globals, options, named, asked.game(), kinds);
  Json settings = game_settings(options, plan, named.rule);
  std::optional<runs::Manifest> manifest;
  if (!folder.empty()) {
    runs::Beginning start = beginning("compare", "opshap.compare/1", globals, environment, {{"settings", settings}});
    start.makes_lost_rows = true;
    manifest.emplace(folder, start);
  }
  const std::string note = options.minimum_norm ? "\nLeast-squares methods were asked for the minimum-norm solution "
                                                  "where a sample does not determine the values.\n"
                                                : "";
  const auto compare = [&] { return evaluation::run_comparison(plan, options.reference, folder, note); };
  PlayedGame played{.settings = std::move(settings),
                    .run = manifest ? manifest->stage("comparison", compare) : compare(),
                    .note = note};
  asked.ask_again("compare");
  asked.describe(played.noise);
  played.noisy = asked.noisy();
  return played;
}

void play_part(const Globals& globals, const CompareOptions& options, const NamedGame& named, const Json& environment,
               const methods::Kinds& kinds, const std::filesystem::path& folder, const runs::Part& part) {
  const evaluation::ComparisonPlan plan = plan_of(globals, options, named, *named.game, kinds);
  const Json settings = game_settings(options, plan, named.rule);
  runs::Manifest manifest(folder, part,
                          beginning("compare", "opshap.compare/1", globals, environment, {{"settings", settings}}));
  manifest.stage("comparison",
                 [&] { evaluation::run_part_of_comparison(plan, part, options.reference, part.folder(folder)); });
  manifest.finish();
}

void require_sound(const std::vector<const PlayedGame*>& played,
                   const std::optional<reporting::MethodChanges>& changes) {
  bool broken = changes && changes->any_worse();
  for (const PlayedGame* game : played) {
    if (game->noisy) continue;  // on which no method can keep its promise
    for (const std::string& method : game->run.comparison.less_exact_than_declared()) {
      broken = true;
      std::cerr << "compare: " << method << " (the method is declared to be exact on "
                << game->settings["game"].get<std::string>() << "). This is a bug in it or in its declaration.\n";
    }
  }
  if (broken) throw CheckFailed{};
  for (const PlayedGame* game : played) {
    for (const runs::MethodRow& row : game->run.comparison.rows()) {
      if (row.failure == to_string(peers::Ending::skipped))
        throw peers::Failure(peers::Ending::skipped,
                             message("compare: ", row.method,
                                     "=skipped (it failed three times in a row, so its other runs did not finish "
                                     "either). `opshap peer check FOLDER` says more."));
    }
  }
}

}  // namespace opshap::cli
