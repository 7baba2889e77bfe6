// `opshap compare`: methods at equal budgets against the truth, on one game or on those of a suite.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/doctor.hpp"
#include "cli/operator_game.hpp"
#include "cli/suite_run.hpp"

namespace opshap::cli {

namespace {

void run(const CLI::App& command, const CompareOptions& options, const Globals& globals) {
  if (!options.suite.empty()) {
    const Suite suite = load_suite(options.suite, options.op);
    run_suite(command, globals, options, suite, suite.has_operators() ? network_environment(globals) : environment(),
              operator_entries(options.force, globals));
  } else if (command.count("--operator") > 0) {
    const OperatorGame found = wanted_operator_game(command, options, globals);
    run_compare(globals, options, found.named, network_environment(globals),
                explainer_kinds(*found.op, *found.named.scenario, found.rule, options.force, globals));
  } else {
    run_compare(globals, options, wanted_game(command, options), environment());
  }
}

}  // namespace

void add_compare(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare",
                                         "Errors, costs and ranks of methods at equal budgets, on one game or a suite; "
                                         "--out FOLDER gets rows and figures");
  add_compare_options(*command, *options);
  command->callback([command, options, &globals] { run(*command, *options, globals); });
}

}  // namespace opshap::cli
