// `opshap reference`: Shapley values with an error that two independent estimates vouch for, and which of two
// attributions is nearer to the truth.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/operator_game.hpp"
#include "cli/reference_options.hpp"

namespace opshap::cli {

void add_reference(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<ReferenceOptions>();
  CLI::App* command = app.add_subcommand(
      "reference",
      "Shapley values to a wanted error, checked by two independent methods; --out FILE gets them as JSON");
  add_reference_options(*command, *options);
  command->callback([command, options, &globals] {
    if (command->count("--operator") > 0) {
      run_reference(globals, *options, wanted_operator_game(*command, *options, globals).named);
    } else {
      run_reference(globals, *options, wanted_game(*command, *options));
    }
  });
}

}  // namespace opshap::cli
