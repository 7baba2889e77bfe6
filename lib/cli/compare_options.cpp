#include "cli/compare_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <optional>

#include "cli/environment.hpp"
#include "cli/reference_options.hpp"
#include "cli/version.hpp"
#include "core/checksum.hpp"
#include "core/counted_game.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "evaluation/budget_list.hpp"
#include "evaluation/compare_methods.hpp"
#include "reporting/method_comparison.hpp"

namespace opshap::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

enum Purpose : std::uint32_t { truth_stream, runs_stream, bootstrap_stream, fingerprint_stream };

std::uint64_t stream(const Globals& globals, Purpose purpose) { return Rng(globals.seed, "compare", purpose).bits64(); }

/// Every registered method for "all", else those that were named; an unknown name stops here.
std::vector<std::string> wanted_methods(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"all"}) return estimators::names();
  std::vector<std::string> methods;
  for (const std::string& name : names) {
    require(std::find(methods.begin(), methods.end(), name) == methods.end(), "compare: --methods=", name,
            " (given twice). Keep one.");
    methods.emplace_back(estimators::find(name).name());
  }
  return methods;
}

bool solves_least_squares(const std::string& method) {
  return dynamic_cast<const estimators::LeastSquares*>(&estimators::find(method)) != nullptr;
}

/// Two games with the same one are the same game for all that a comparison is concerned with: v(∅), v(N) and some others.
std::string fingerprint(const Game& game) {
  constexpr int coalitions = 32;
  Rng rng(0, "compare", fingerprint_stream);
  Coalitions some(game.players());
  some.append_empty();
  some.append_grand();
  for (int k = 0; k < coalitions; ++k) {
    some.append_empty();
    for (int player = 0; player < game.players(); ++player) {
      if ((rng.bits32() & 1) != 0) some.insert(some.size() - 1, player);
    }
  }
  const std::vector<double> values = game.values(some);
  return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(values))));
}

Json settings_of(const Globals& globals, const evaluation::ComparisonPlan& plan,
                 const evaluation::ReferenceSettings& reference) {
  Json settings = {{"game", plan.name},
                   {"players", plan.game.players()},
                   {"fingerprint", fingerprint(plan.game)},
                   {"seed", globals.seed},
                   {"methods", plan.methods},
                   {"budgets", plan.budgets},
                   {"repeats", plan.repeats},
                   {"reference",
                    {{"relative_error", reference.relative_error},
                     {"max_evaluations", reference.max_evaluations},
                     {"exact_players", reference.exact_players}}}};
  if (plan.minimum_norm) settings["minimum_norm"] = true;
  return settings;
}

/// manifest.json of the folder: made, or found to be that of the same comparison.
void open_folder(const Globals& globals, const Json& environment, const Json& settings) {
  make_folder(globals.out);
  const fs::path path = globals.out / "manifest.json";
  if (fs::exists(path)) {
    const Json found = Json::parse(read_file(path), nullptr, false);
    require<DataError>(found.is_object() && found.value("schema", "") == "opshap.compare/1",
                       "compare: path=", path.string(),
                       " (is not the manifest of a comparison). Choose another --out.");
    require(found.contains("settings") && found["settings"] == settings, "compare: --out=", globals.out.string(),
            " (holds a comparison with other settings, another game or another seed). Choose another folder, or remove "
            "this one.");
    return;
  }
  Json manifest = {{"schema", "opshap.compare/1"}, {"command", globals.arguments}, {"seed", globals.seed},
                   {"commit", version::commit},    {"dirty", version::dirty},      {"started", now_utc()},
                   {"environment", environment},   {"settings", settings}};
  // The program's own path would name a folder of this machine.
  if (!globals.arguments.empty()) manifest["command"][0] = "opshap";
  write_file(path, manifest.dump(2) + '\n');
}

/// The truth of this folder, or a new one that is put there.
evaluation::Truth truth_in(const fs::path& folder, const Game& game, const evaluation::ReferenceSettings& settings,
                           std::uint64_t seed) {
  const fs::path path = folder / "truth.json";
  if (!folder.empty() && fs::exists(path)) {
    const Json found = Json::parse(read_file(path), nullptr, false);
    try {
      return {.method = found.at("method").get<std::string>(),
              .values = found.at("values").get<std::vector<double>>(),
              .error = found.at("error").get<double>(),
              .rounding = found.at("rounding").get<double>()};
    } catch (const Json::exception& error) {
      throw DataError(message("compare: path=", path.string(), " (", error.what(), "). Remove the folder."));
    }
  }
  const evaluation::Truth truth = evaluation::truth_of(game, settings, seed);
  if (!folder.empty()) {
    const Json object = {
        {"method", truth.method}, {"error", truth.error}, {"rounding", truth.rounding}, {"values", truth.values}};
    write_file(path, object.dump() + '\n');
  }
  return truth;
}

std::vector<reporting::MethodRow> run_rows(const evaluation::ComparisonPlan& plan, const evaluation::Truth& truth,
                                           const fs::path& folder) {
  std::vector<reporting::MethodRow> rows;
  if (folder.empty()) {
    evaluation::compare_methods(plan, truth, {}, [&rows](const reporting::MethodRow& row) { rows.push_back(row); });
    return rows;
  }
  rows = reporting::read_method_rows(folder / "results.jsonl");
  LineLog log(folder / "results.jsonl");
  evaluation::compare_methods(plan, truth, std::vector<reporting::MethodRow>(rows),
                              [&](const reporting::MethodRow& row) {
                                log.append(reporting::to_json_line(row));
                                rows.push_back(row);
                              });
  return rows;
}

void write_table(const fs::path& folder, const reporting::Table& table) {
  write_file(folder / (table.name + ".csv"), table.csv());
  write_file(folder / (table.name + ".md"), table.markdown());
}

/// The comparison for people, with what its methods were told.
std::string markdown(const evaluation::ComparisonPlan& plan, const reporting::MethodComparison& comparison) {
  return comparison.markdown() +
         (plan.minimum_norm
              ? "\nLeast-squares methods were asked for the minimum-norm solution where a sample does not "
                "determine the values.\n"
              : "");
}

void write_folder(const fs::path& folder, const evaluation::ComparisonPlan& plan,
                  const reporting::MethodComparison& comparison) {
  std::string summary = markdown(plan, comparison);
  const reporting::Figure figure = comparison.budget_error();
  if (figure.missing.empty()) {
    std::vector<std::string> panels;
    for (const reporting::Panel& panel : figure.panels) panels.push_back(reporting::draw(panel));
    write_file(folder / "figures" / "budget_error.svg",
               reporting::compose(figure.title, figure.finding, panels, figure.legend));
    write_file(folder / "figures" / "budget_error.csv", figure.numbers.csv());
    summary +=
        "\n## Error against budget\n\n![" + figure.title + "](figures/budget_error.svg)\n\n" + figure.finding + "\n";
  } else {
    summary += "\nNo figure: " + figure.missing + ".\n";
  }
  write_table(folder / "tables", comparison.errors());
  write_table(folder / "tables", comparison.runtime());
  if (!comparison.ranks().empty()) write_table(folder / "tables", comparison.ranking());
  write_file(folder / "summary.md", summary);
}

Json rank_json(const statistics::Rank& rank) { return {{"rank", rank.rank}, {"low", rank.low}, {"high", rank.high}}; }

Json budget_json(std::optional<std::int64_t> budget) { return budget ? Json(*budget) : Json(nullptr); }

Json json_of(const Json& settings, const evaluation::Truth& truth, const reporting::MethodComparison& comparison) {
  Json object = settings;
  object["truth"] = {{"method", truth.method}, {"error", truth.error}};
  object["exact"] = object["undefined"] = object["ranks"] = object["rows"] = Json::array();
  for (const reporting::MethodCell& cell : comparison.cells()) {
    if (!cell.exact.empty())
      object["exact"].push_back({{"method", cell.method}, {"budget", budget_json(cell.budget)}, {"why", cell.exact}});
    if (!cell.undefined.empty())
      object["undefined"].push_back(
          {{"method", cell.method}, {"budget", budget_json(cell.budget)}, {"why", cell.undefined}});
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
  for (const reporting::MethodRow& row : comparison.rows())
    object["rows"].push_back(Json::parse(reporting::to_json_line(row)));
  return object;
}

}  // namespace

void add_compare_options(CLI::App& command, CompareOptions& options) {
  add_game_options(command, options);
  command.add_option("--methods", options.methods, "Names of `opshap list estimators`, separated by commas, or all")
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
}

void run_compare(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                 const nlohmann::ordered_json& environment) {
  const Game& game = *named.game;
  require(globals.out != "-", "compare: --out=- (a folder is written). Name a folder, or leave it out.");
  require(options.repeats >= 1, "compare: --repeats=", options.repeats, " (no run). Give at least one.");
  evaluation::ComparisonPlan plan{.game = game,
                                  .name = named.name,
                                  .interaction_order = named.interaction_order,
                                  .methods = wanted_methods(options.methods),
                                  .budgets = {},
                                  .repeats = options.repeats,
                                  .seed = stream(globals, runs_stream),
                                  .minimum_norm = options.minimum_norm};
  require(!options.minimum_norm || std::ranges::any_of(plan.methods, solves_least_squares),
          "compare: --minimum-norm (none of the methods solves a least-squares problem). Leave it out.");
  const bool needs_budgets = std::any_of(plan.methods.begin(), plan.methods.end(), [](const std::string& method) {
    return estimators::find(method).guarantees().uses_budget();
  });
  require(!needs_budgets || !options.budgets.empty(),
          "compare: --budgets (missing: methods that sample coalitions need limits). Give for example 2^7..2^12.");
  if (!options.budgets.empty()) plan.budgets = evaluation::parse_budgets(options.budgets, game.players());
  const Json settings = settings_of(globals, plan, options.reference);
  if (!globals.out.empty()) open_folder(globals, environment, settings);
  const evaluation::Truth truth = truth_in(globals.out, game, options.reference, stream(globals, truth_stream));
  const reporting::MethodComparison comparison(run_rows(plan, truth, globals.out), stream(globals, bootstrap_stream));
  if (!globals.out.empty()) write_folder(globals.out, plan, comparison);
  if (globals.json) {
    print_json(json_of(settings, truth, comparison));
  } else if (!globals.out.empty()) {
    std::cout << (globals.out / "summary.md").string() << '\n';
  } else {
    std::cout << markdown(plan, comparison);
  }
  const std::vector<std::string> broken = comparison.broken_promises();
  for (const std::string& method : broken)
    std::cerr << "compare: " << method << " (the method promises to be exact on this game). This is a bug in it.\n";
  if (!broken.empty()) throw CheckFailed{};
}

}  // namespace opshap::cli
