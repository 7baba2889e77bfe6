// `opshap compare`: methods at equal budgets against the truth, on one game or on those of a suite.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/environment.hpp"
#include "cli/suite_run.hpp"

namespace opshap::cli {

void add_compare(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare",
                                         "Errors, costs and ranks of methods at equal budgets, on one game or a suite; "
                                         "--out FOLDER gets rows and figures");
  add_compare_options(*command, *options);
  command->callback([command, options, &globals] {
    if (!options->suite.empty()) {
      const Suite suite = load_suite(options->suite, options->op);
      if (suite.has_operators()) run_networks(globals);
      run_suite(*command, globals, *options, suite, environment());
      return;
    }
    if (command->count("--operator") > 0) run_networks(globals);
    run_compare(globals, *options, wanted_game(*command, *options), environment());
  });
}

}  // namespace opshap::cli
