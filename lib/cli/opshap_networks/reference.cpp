// `opshap reference --operator`: a certified reference of an operator's prediction.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/opshap_networks/operator_game.hpp"
#include "cli/reference_options.hpp"

namespace opshap::cli {

void add_network_reference(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<ReferenceOptions>();
  CLI::App* command = app.add_subcommand("reference", "Certified Shapley values of an operator's prediction");
  add_reference_options(*command, *options);
  command->callback([command, options, &globals] {
    run_reference(globals, *options, wanted_operator_game(*command, *options, globals).named);
  });
}

}  // namespace opshap::cli
