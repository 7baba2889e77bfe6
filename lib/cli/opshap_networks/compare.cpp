// `opshap compare --operator`, and `--suite` with games of operators.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/environment.hpp"
#include "cli/opshap_networks/operator_game.hpp"
#include "cli/opshap_networks/suite_entries.hpp"
#include "cli/suite_run.hpp"

namespace opshap::cli {

void add_network_compare(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Errors, costs and ranks of methods on an operator's prediction");
  add_compare_options(*command, *options);
  command->callback([command, options, &globals] {
    if (!options->suite.empty()) {
      const Suite suite = load_suite(options->suite, options->op);
      run_suite(*command, globals, *options, suite, network_environment(globals),
                operator_entries(options->force, globals));
      return;
    }
    const OperatorGame found = wanted_operator_game(*command, *options, globals);
    run_compare(globals, *options, found.named, network_environment(globals),
                explainer_kinds(*found.op, *found.named.scenario, found.rule, options->force, globals));
  });
}

}  // namespace opshap::cli
