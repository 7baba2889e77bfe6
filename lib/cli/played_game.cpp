#include "cli/played_game.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/asked_game.hpp"
#include "cli/baseline.hpp"
#include "cli/environment.hpp"
#include "core/error.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "evaluation/contest.hpp"
#include "peers/frame.hpp"
#include "runs/manifest.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

/// The estimator of that name, where it solves a least-squares problem.
const estimators::LeastSquares* least_squares(const std::string& name) {
  const std::vector<std::string> known = estimators::names();
  if (std::find(known.begin(), known.end(), name) == known.end()) return nullptr;
  return dynamic_cast<const estimators::LeastSquares*>(&estimators::find(name));
}

/// The names that were given, with every registered estimator in the place of "all".
std::vector<std::string> wanted_names(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& name : given) {
    if (name == "all") {
      for (const std::string& known : estimators::names()) names.push_back(known);
    } else {
      names.push_back(name);
    }
  }
  return names;
}

/// The methods that were named. An unknown name stops here.
evaluation::Contestants wanted_methods(const CompareOptions& options, const methods::Kinds& kinds) {
  evaluation::Contestants wanted;
  std::vector<std::string> seen;
  bool solves_any = false;
  for (const std::string& name : wanted_names(options.methods)) {
    require(std::find(seen.begin(), seen.end(), name) == seen.end(), "compare: --methods=", name,
            " (given twice). Keep one.");
    seen.push_back(name);
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

Json budget_json(std::optional<std::int64_t> budget) { return budget ? Json(*budget) : Json(nullptr); }

}  // namespace

Json PlayedGame::json() const {
  const auto& [truth, comparison] = run;
  Json object = settings;
  object["truth"] = {{"method", noisy ? "noisy" : truth.method}, {"error", truth.error}};
  object.update(noise);
  object["exact"] = object["undefined"] = object["failures"] = object["ranks"] = object["rows"] = Json::array();
  for (const reporting::MethodCell& cell : comparison.cells()) {
    if (!cell.exact.empty())
      object["exact"].push_back({{"method", cell.method}, {"budget", budget_json(cell.budget)}, {"why", cell.exact}});
    if (!cell.undefined.empty())
      object["undefined"].push_back(
          {{"method", cell.method}, {"budget", budget_json(cell.budget)}, {"why", cell.undefined}});
    if (!cell.failure.empty())
      object["failures"].push_back(
          {{"method", cell.method}, {"budget", budget_json(cell.budget)}, {"failure", cell.failure}});
  }
  for (const reporting::MethodRank& method : comparison.ranks()) {
    Json entry = {{"method", method.method}};
    if (method.overall) {
      entry.update(to_json(*method.overall));
    } else {
      entry.update(Json{{"rank", nullptr}, {"low", nullptr}, {"high", nullptr}});
    }
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
    manifest.emplace(folder, start, runs::equal_to(settings));
  }
  const std::string note = options.minimum_norm
                               ? "\nLeast-squares methods were asked for the minimum-norm solution where a sample does "
                                 "not determine the values.\n"
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
                          beginning("compare", "opshap.compare/1", globals, environment, {{"settings", settings}}),
                          runs::equal_to(settings));
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
        throw peers::Failure(
            peers::Ending::skipped,
            message("compare: ", row.method,
                    "=skipped (it failed three times in a row, so its other runs did not finish either). "
                    "`opshap peer check FOLDER` says more."));
    }
  }
}

}  // namespace opshap::cli
