// `opshap serve --networks`: stay, and run one command line about operators after the other. An operator is loaded
// once.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/kept_program.hpp"

namespace opshap::cli {

void add_network_serve(CLI::App& app, const Globals&) {
  CLI::App* command = app.add_subcommand("serve", "Run one command line after the other, for the Python package");
  command->group("");
  const auto networks = std::make_shared<bool>(false);  // it is handed over with all arguments
  command->add_flag("--networks", *networks, "Commands that need a network");
  command->callback([networks] {
    serve([](CLI::App& of_request, Globals& its_globals, const std::string& name) {
#define COMMAND(known)
#define NETWORK_COMMAND(known, summary) \
  if (name == #known) add_network_##known(of_request, its_globals);
#include "cli/commands.def"
#undef COMMAND
#undef NETWORK_COMMAND
    });
  });
}

}  // namespace opshap::cli
