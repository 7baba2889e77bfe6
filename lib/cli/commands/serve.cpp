// `opshap serve`: stay, and run one command line after the other. The Python package keeps one for games, and one for
// each operator, which is loaded once.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/kept_program.hpp"

namespace opshap::cli {

void add_serve(CLI::App& app, const Globals&) {
  CLI::App* command = app.add_subcommand("serve", "Run one command line after the other, for the Python package");
  command->group("");  // nothing that people call
  command->callback([] {
    serve([](CLI::App& of_request, Globals& its_globals, const std::string& name) {
#define COMMAND(known) \
  if (name == #known) add_##known(of_request, its_globals);
#include "cli/commands.def"
#undef COMMAND
    });
  });
}

}  // namespace opshap::cli
