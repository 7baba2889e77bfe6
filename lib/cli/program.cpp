#include "cli/program.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace opshap::cli {

int program(int argc, char** argv, const std::string& version) {
  Globals globals;
  CLI::App app(
      "Shapley attributions for neural operators: verify the theory, reproduce the paper, compare estimators, explain "
      "your own operator",
      "opshap");
  app.set_version_flag("--version", version);
  add_globals(app, globals);
#define COMMAND(name) add_##name(app, globals);
#include "cli/commands.def"
#undef COMMAND
  return run(app, globals, argc, argv);
}

}  // namespace opshap::cli
