// `opshap compare`: methods on one game at equal budgets, against the truth.

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/environment.hpp"

namespace opshap::cli {

void add_compare(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Errors, costs and ranks of methods on one game at equal budgets; --out FOLDER gets rows and figures");
  add_compare_options(*command, *options);
  command->callback([command, options, &globals] {
    if (command->count("--operator") > 0) run_networks(globals);
    run_compare(globals, *options, wanted_game(*command, *options), environment());
  });
}

}  // namespace opshap::cli
