// `opshap reference`: Shapley values with an error that two independent estimates vouch for, and which of two
// attributions is nearer to the truth.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/operator_game.hpp"
#include "cli/reference_options.hpp"

namespace opshap::cli {

namespace {

void run(const ReferenceOptions& options, const Globals& globals) {
  if (options.command->count("--operator") > 0)
    return run_reference(globals, options, wanted_operator_game(options, globals).named);
  run_reference(globals, options, wanted_game(options));
}

}  // namespace

void add_reference(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<ReferenceOptions>(
      app, "reference",
      "Shapley values to a wanted error, checked by two independent methods; --out FILE gets them as JSON", run,
      globals);
  add_game_options(*command, options);
  add_reference_settings(*command, options.settings);
  command->add_option("--certify", options.attribution,
                      "An attribution of this game (`opshap attribute --json`): is it nearer to the truth than the "
                      "reference? - is standard input");
}

}  // namespace opshap::cli
