#include "cli/compare_options.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "cli/environment.hpp"
#include "cli/reference_options.hpp"
#include "cli/shard_option.hpp"
#include "core/error.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "evaluation/budget_list.hpp"
#include "evaluation/comparison_run.hpp"
#include "peers/ending.hpp"
#include "runs/manifest.hpp"

namespace opshap::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The estimator of that name, where it solves a least-squares problem.
const estimators::LeastSquares* least_squares(const std::string& name) {
  const std::vector<std::string> known = estimators::names();
  if (std::find(known.begin(), known.end(), name) == known.end()) return nullptr;
  return dynamic_cast<const estimators::LeastSquares*>(&estimators::find(name));
}

/// What was asked for: every registered estimator for "all", else the methods that were named. An unknown name stops
/// here.
std::vector<std::shared_ptr<const methods::Method>> wanted_methods(const CompareOptions& options,
                                                                   const methods::Kinds& kinds) {
  const bool all = options.methods == std::vector<std::string>{"all"};
  std::vector<std::shared_ptr<const methods::Method>> wanted;
  std::vector<std::string> seen;
  bool solves_any = false;
  for (const std::string& name : all ? estimators::names() : options.methods) {
    require(std::find(seen.begin(), seen.end(), name) == seen.end(), "compare: --methods=", name,
            " (given twice). Keep one.");
    seen.push_back(name);
    std::unique_ptr<methods::Method> method = methods::resolve(name, kinds);
    if (const auto* solves = least_squares(name); solves != nullptr && options.minimum_norm) {
      solves_any = true;
      method = methods::of_estimator(solves->with_minimum_norm());
    }
    for (const auto& other : wanted)
      require(!method->explainer() || other->explainer() != method->explainer(), "compare: --methods=", name,
              " (another one has the same file name, so rows could not tell them apart). Rename one of the files.");
    for (const auto& other : wanted)
      require(method->explainer() || other->name() != method->name(), "compare: --methods=", name,
              " (another one has the name ", method->name(),
              ", so rows could not tell them apart). Rename one of them.");
    wanted.push_back(std::move(method));
  }
  require(!options.minimum_norm || solves_any,
          "compare: --minimum-norm (none of the methods solves a least-squares problem). Leave it out.");
  return wanted;
}

/// As --methods has it.
std::string name_of(const methods::Method& method) {
  return method.explainer() ? message("explainer:", *method.explainer()) : std::string(method.name());
}

Json settings_of(const CompareOptions& options, const evaluation::ComparisonPlan& plan, const std::string& rule) {
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

Json rank_json(const statistics::Rank& rank) { return {{"rank", rank.rank}, {"low", rank.low}, {"high", rank.high}}; }

Json budget_json(std::optional<std::int64_t> budget) { return budget ? Json(*budget) : Json(nullptr); }

Json json_of(const Json& settings, const evaluation::Truth& truth, const reporting::MethodComparison& comparison) {
  Json object = settings;
  object["truth"] = {{"method", truth.method}, {"error", truth.error}};
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
      entry.update(rank_json(*method.overall));
    } else {
      entry.update(Json{{"rank", nullptr}, {"low", nullptr}, {"high", nullptr}});
    }
    entry["at"] = Json::array();
    for (const auto& [budget, rank] : method.at) {
      Json at = {{"budget", budget}};
      at.update(rank_json(rank));
      entry["at"].push_back(at);
    }
    object["ranks"].push_back(entry);
  }
  object["broken_promises"] = comparison.broken_promises();
  for (const runs::MethodRow& row : comparison.rows()) object["rows"].push_back(Json::parse(runs::to_json_line(row)));
  return object;
}

}  // namespace

void add_compare_options(CLI::App& command, CompareOptions& options) {
  add_game_options(command, options);
  command
      .add_option(
          "--methods", options.methods,
          "Names of `opshap list estimators` and peer:FOLDER, separated by commas, or all; with --operator also "
          "explainer:FILE")
      ->delimiter(',')
      ->required();
  command.add_option("--budgets", options.budgets,
                     "Distinct coalitions: 2^7..2^15 (doubling), 128,256, multiples of the players 2n,4n,8n");
  command.add_option("--repeats", options.repeats, "Runs of each method at each budget, with different seeds")
      ->capture_default_str();
  command.add_flag(
      "--minimum-norm", options.minimum_norm,
      "Where a sample does not determine a regression, score its minimum-norm solution instead of refusing it");
  add_reference_settings(command, options.reference);
  add_shard(command, options.shard);
}

void run_compare(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                 const nlohmann::ordered_json& environment, const methods::Kinds& kinds) {
  const Game& game = *named.game;
  require(globals.out != "-", "compare: --out=- (a folder is written). Name a folder, or leave it out.");
  require(options.repeats >= 1, "compare: --repeats=", options.repeats, " (no run). Give at least one.");
  evaluation::ComparisonPlan plan{.game = game,
                                  .name = named.name,
                                  .interaction_order = named.interaction_order,
                                  .methods = wanted_methods(options, kinds),
                                  .budgets = {},
                                  .repeats = options.repeats,
                                  .seed = globals.seed,
                                  .scenario = named.scenario.get()};
  const runs::Part part = runs::Part::parse("compare", options.shard);
  require(part.whole() || !globals.out.empty(),
          "compare: --shard (a part is kept for `opshap merge`). Give --out FOLDER.");
  const bool needs_budgets =
      std::ranges::any_of(plan.methods, [](const auto& method) { return method->uses_budget(); });
  require(!needs_budgets || !options.budgets.empty(),
          "compare: --budgets (missing: methods that sample coalitions need limits). Give for example 2^7..2^12.");
  if (!options.budgets.empty()) plan.budgets = evaluation::parse_budgets(options.budgets, game.players());
  const Json settings = settings_of(options, plan, named.rule);
  std::optional<runs::Manifest> manifest;
  if (!globals.out.empty())
    manifest.emplace(globals.out, part,
                     beginning("compare", "opshap.compare/1", globals, environment, {{"settings", settings}}),
                     runs::equal_to(settings));
  const std::string note = options.minimum_norm
                               ? "\nLeast-squares methods were asked for the minimum-norm solution where a sample does "
                                 "not determine the values.\n"
                               : "";
  if (!part.whole()) {
    const std::filesystem::path folder = part.folder(globals.out);
    evaluation::run_part_of_comparison(plan, part, options.reference, folder);
    manifest->finish();
    std::cout << folder.string() << '\n';
    return;
  }
  const auto [truth, comparison] = evaluation::run_comparison(plan, options.reference, globals.out, note);
  if (globals.json) {
    print_json(json_of(settings, truth, comparison));
  } else if (!globals.out.empty()) {
    std::cout << (globals.out / "summary.md").string() << '\n';
  } else {
    std::cout << comparison.markdown() + note;
  }
  const std::vector<std::string> broken = comparison.broken_promises();
  for (const std::string& method : broken)
    std::cerr << "compare: " << method << " (the method promises to be exact on this game). This is a bug in it.\n";
  if (!broken.empty()) throw CheckFailed{};
  for (const runs::MethodRow& row : comparison.rows()) {
    if (row.failure == to_string(peers::Ending::skipped))
      throw peers::Failure(
          peers::Ending::skipped,
          message("compare: ", row.method,
                  "=skipped (it failed three times in a row, so its other runs did not finish either). "
                  "`opshap peer check FOLDER` says more."));
  }
}

}  // namespace opshap::cli
