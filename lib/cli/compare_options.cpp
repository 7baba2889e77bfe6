#include "cli/compare_options.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/baseline.hpp"
#include "cli/played_game.hpp"
#include "cli/reference_options.hpp"
#include "cli/shard_option.hpp"
#include "core/error.hpp"
#include "runs/part.hpp"

namespace opshap::cli {

void add_compare_options(CLI::App& command, CompareOptions& options) {
  add_game_options(command, options);
  command.add_option("--suite", options.suite,
                     "Many games instead of one: a name of `opshap list suites` or a .toml file; --out FOLDER gets a "
                     "folder for each game and report.html over all. --operator replaces its operators");
  command
      .add_option("--methods", options.methods,
                  "Names of `opshap list estimators`, peer:FOLDER, and all for every estimator, separated by commas; "
                  "with --operator also explainer:FILE; a suite has all without it")
      ->delimiter(',');
  command.add_option("--budgets", options.budgets,
                     "Distinct coalitions: 2^7..2^15 (doubling), 128,256, multiples of the players 2n,4n,8n");
  command.add_option("--repeats", options.repeats, "Runs of each method at each budget, with different seeds")
      ->capture_default_str();
  command.add_flag(
      "--minimum-norm", options.minimum_norm,
      "Where a sample does not determine a regression, score its minimum-norm solution instead of refusing it");
  command.add_option("--against", options.against,
                     "An earlier comparison (its results.jsonl or its folder): who got better or worse since then? "
                     "Exit code 1 when a method got worse");
  add_force(command, options.force);
  add_reference_settings(command, options.reference);
  add_shard(command, options.shard);
}

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
  } else if (!globals.out.empty()) {
    std::cout << (globals.out / "summary.md").string() << '\n';
  } else {
    std::cout << played.summary();
  }
  if (changes && !globals.json) {
    for (const std::string& line : changes->lines()) std::cout << line << '\n';
  }
  require_sound({&played}, changes);
}

}  // namespace opshap::cli
