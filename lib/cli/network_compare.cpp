// `opshap compare --operator`: methods on an operator's prediction.

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/environment.hpp"
#include "cli/operator_game.hpp"

namespace opshap::cli {

void add_network_compare(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Errors, costs and ranks of methods on an operator's prediction");
  add_compare_options(*command, *options);
  command->callback([command, options, &globals] {
    const OperatorGame found = wanted_operator_game(*command, *options, globals);
    run_compare(globals, *options, found.named, network_environment(globals));
  });
}

}  // namespace opshap::cli
