// `opshap`: the light program. It knows every subcommand, runs those that need no network, and starts opshap-networks
// for the rest.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "cli/commands.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/process_start.hpp"

int main(int argc, char** argv) try {
  using namespace opshap::cli;
  opshap::start_process();
  Globals globals;
  CLI::App app(
      "Shapley attributions for neural operators: verify the theory, reproduce the paper, compare estimators, explain "
      "your own operator",
      "opshap");
  app.set_version_flag("--version", opshap::message(OPSHAP_VERSION, " (commit ", version::commit,
                                                    version::dirty ? ", with uncommitted changes)" : ")"));
  add_globals(app, globals);
#define COMMAND(name) add_##name(app, globals);
#define NETWORK_COMMAND(name, summary)
#include "cli/commands.def"
#undef COMMAND
#undef NETWORK_COMMAND

  const auto hand_over = [&](const char* name, const char* summary) {
    // A light command of that name decides by its options and hands over itself.
    if (!app.get_subcommands([name](const CLI::App* known) { return known->get_name() == name; }).empty()) return;
    CLI::App* command = app.add_subcommand(name, summary);
    command->allow_extras();
    command->fallthrough(false);
    command->set_help_flag();
    command->callback([&globals] { run_networks(globals); });
  };
#define COMMAND(name)
#define NETWORK_COMMAND(name, summary) hand_over(#name, summary);
#include "cli/commands.def"
#undef COMMAND
#undef NETWORK_COMMAND
  return run(app, globals, argc, argv);
} catch (const std::bad_alloc&) {
  std::fputs("opshap: memory (the system has no more). Raise `ulimit -v`, or close other programs.\n", stderr);
  return 4;
}
