// `opshap serve`: stay, and run one command line after the other. The Python package keeps one for games, and one of
// opshap-networks for each operator.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/kept_program.hpp"

namespace opshap::cli {

void add_serve(CLI::App& app, const Globals& globals) {
  CLI::App* command = app.add_subcommand("serve", "Run one command line after the other, for the Python package");
  command->group("");  // nothing that people call
  const auto networks = std::make_shared<bool>(false);
  command->add_flag("--networks", *networks, "Commands that need a network");
  command->callback([networks, &globals] {
    if (*networks) run_networks(globals);
    serve([](CLI::App& of_request, Globals& its_globals, const std::string& name) {
#define COMMAND(known) \
  if (name == #known) add_##known(of_request, its_globals);
#define NETWORK_COMMAND(known, summary)
#include "cli/commands.def"
#undef COMMAND
#undef NETWORK_COMMAND
    });
  });
}

}  // namespace opshap::cli
