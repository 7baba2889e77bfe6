// `opshap compare`: methods at equal budgets against the truth, on one game or on those of a suite.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/doctor.hpp"
#include "cli/operator_game.hpp"
#include "cli/reference_options.hpp"
#include "cli/suite_run.hpp"

namespace opshap::cli {

namespace {

void run(const CompareOptions& options, const Globals& globals) {
  if (!options.suite.empty()) {
    const Suite suite = load_suite(options.suite, options.op);
    run_suite(globals, options, suite, suite.has_operators() ? network_environment(globals) : environment());
  } else if (options.command->count("--operator") > 0) {
    const OperatorGame found = wanted_operator_game(options, globals);
    run_compare(globals, options, found.named, network_environment(globals),
                explainer_kinds(*found.op, *found.named.scenario, found.rule, options.force, globals));
  } else {
    run_compare(globals, options, wanted_game(options), environment());
  }
}

}  // namespace

void add_compare(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<CompareOptions>(
      app, "compare",
      "Errors, costs and ranks of methods at equal budgets, on one game or a suite; --out FOLDER gets rows and figures",
      run, globals);
  add_game_options(*command, options);
  command->add_option("--suite", options.suite,
                      "Many games instead of one: a name of `opshap list suites` or a .toml file; --out FOLDER gets a "
                      "folder for each game and report.html over all. --operator replaces its operators");
  command
      ->add_option("--methods", options.methods,
                   "Names of `opshap list estimators`, peer:FOLDER, and all for every estimator, separated by commas; "
                   "with --operator also explainer:FILE; a suite has all without it")
      ->delimiter(',');
  command->add_option("--budgets", options.budgets,
                      "Distinct coalitions: 2^7..2^15 (doubling), 128,256, multiples of the players 2n,4n,8n");
  command->add_option("--repeats", options.repeats, "Runs of each method at each budget, with different seeds")
      ->capture_default_str();
  command->add_flag(
      "--minimum-norm", options.minimum_norm,
      "Where a sample does not determine a regression, score its minimum-norm solution instead of refusing it");
  command->add_option("--against", options.against,
                      "An earlier comparison (its results.jsonl or its folder): who got better or worse since then? "
                      "Exit code 1 when a method got worse");
  add_force(*command, options.force);
  add_reference_settings(*command, options.reference);
  add_shard(*command, options.shard);
}

}  // namespace opshap::cli
